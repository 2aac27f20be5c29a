// schemathesis sends what the OpenAPI document of the admin API allows, and what it does not, to the running product; all of its
// checks are on. Configuration and every tolerated finding: schemathesis/schemathesis.toml.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ApiWorld, startApiWorld } from '../../support/api-world.ts';
import { ADMIN_TOKEN } from '../../support/app.ts';
import { handedOn } from '../../support/environment.ts';
import { startMongoServer } from '../../support/mongodb-server.ts';
import { redisToShare } from '../../support/redis-server.ts';
import { packages } from './packages.ts';

const here = fileURLToPath(new URL('schemathesis/', import.meta.url));
const TIME_LIMIT_MS = 1_500_000;

const installed = await packages('schemathesis');

/** @returns the figures that it ends with */
async function run({ app, ids }: ApiWorld, operations: readonly string[]): Promise<string> {
  const args = ['--config-file', join(here, 'schemathesis.toml'), 'run', `${app.url}/admin/api/openapi.json`];
  const child = spawn(join(installed.folder, 'bin/schemathesis'), [...args, ...operations], {
    // It keeps notes.
    cwd: app.dataDir,
    env: {
      ...handedOn(),
      ADMIN_TOKEN,
      KNOWN_IDS: JSON.stringify(ids),
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
  const [code] = await once(child, 'close');
  const output = said.join('');
  if (code !== 0) throw new Error(`schemathesis ended with ${code}:\n${output.slice(-20_000)}`);
  return /Test cases:\s+(.*)/.exec(output)?.[1] ?? 'no figures';
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
  test(`schemathesis: the admin API does what its document says, on ${store}`, installed, async (t) => {
    const stopServers = await startServers(store);
    try {
      const world = await startApiWorld({ store });
      try {
        t.diagnostic(await run(world, ['--exclude-path-regex', SETTINGS]));
        // Last: among the settings are the rate limits of everything else.
        t.diagnostic(await run(world, ['--include-path-regex', SETTINGS]));
      } finally {
        // Also fails for a response that is not as declared.
        await world.app.stop();
      }
    } finally {
      await stopServers();
    }
  });
}
