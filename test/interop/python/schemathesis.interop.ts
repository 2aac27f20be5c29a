// schemathesis sends what the OpenAPI document of the admin API allows, and what it does not, to the running product; all of its
// checks are on. Configuration and every tolerated finding: schemathesis/schemathesis.toml.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startApiWorld } from '../../support/api-world.ts';
import { ADMIN_TOKEN } from '../../support/app.ts';
import { handedOn } from '../../support/environment.ts';
import { startMongoServer } from '../../support/mongodb-server.ts';
import { redisToShare } from '../../support/redis-server.ts';
import { packages } from './packages.ts';

const here = fileURLToPath(new URL('schemathesis/', import.meta.url));
const TIME_LIMIT_MS = 1_500_000;

const installed = await packages('schemathesis');

/** @param folder where it keeps what it notes for itself */
async function run(folder: string, address: string, operations: readonly string[]): Promise<void> {
  const args = ['--config-file', join(here, 'schemathesis.toml'), 'run', `${address}/admin/api/openapi.json`];
  const child = spawn(join(installed.folder, 'bin/schemathesis'), [...args, ...operations], {
    cwd: folder,
    env: { ...handedOn(), ADMIN_TOKEN, PYTHONPATH: here, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
  const [code] = await once(child, 'close');
  const output = said.join('');
  if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${output.slice(-20_000)}`);
}

const SETTINGS = '^/settings';

/** @returns what stops the servers that the store needs */
async function startServers(store: 'sqlite' | 'split'): Promise<() => Promise<unknown>> {
  if (store === 'sqlite') return async () => undefined;
  const [mongo, redis] = await Promise.all([startMongoServer(), redisToShare()]);
  process.env.MONGODB_TEST_URI = mongo.freshUri();
  process.env.REDIS_TEST_URL = redis.url;
  return () => Promise.all([mongo.stop(), redis.stop()]);
}

for (const store of ['sqlite', 'split'] as const) {
  test(`schemathesis: the admin API does what its document says, on ${store}`, installed, async () => {
    const stopServers = await startServers(store);
    try {
      const world = await startApiWorld({ store });
      try {
        await run(world.app.dataDir, world.app.url, ['--exclude-path-regex', SETTINGS]);
        // Last: among the settings are the rate limits of everything else.
        await run(world.app.dataDir, world.app.url, ['--include-path-regex', SETTINGS]);
      } finally {
        // Also fails for a response that is not as declared.
        await world.app.stop();
      }
    } finally {
      await stopServers();
    }
  });
}
