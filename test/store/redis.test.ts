// Owns the proof that the Redis store keeps the storage contract, on one server.
import { after, before } from 'node:test';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { createRedisBackend } from './redis-support.ts';

let server: RedisServer;
before(async () => {
  server = await startRedis();
});
after(() => server.stop());

storeContract('redis', () => createRedisBackend(server.url), { hasQuery: false });
