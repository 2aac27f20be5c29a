// The Redis store keeps the storage contract, on one server.
import { after, before } from 'node:test';
import { type RedisServer, redisToShare } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { createRedisBackend } from './redis-support.ts';

let server: Pick<RedisServer, 'url' | 'stop'>;
before(async () => {
  server = await redisToShare();
});
after(() => server.stop());

storeContract('redis', () => createRedisBackend(server.url), { hasQuery: false });
