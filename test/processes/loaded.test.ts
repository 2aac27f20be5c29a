// What a process loads before it is needed: nothing of the admin area, of drivers that are not configured, of mail, QR codes
// or passkeys. It is what start time and memory are made of (docs/sizing.md, "Start and memory").
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSignIn } from '../attacks/sign-in-form.ts';
import { ADMIN_TOKEN } from '../support/app.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const HOOK = new URL('../support/loaded-modules.ts', import.meta.url);
const ROOT = new URL('../..', import.meta.url);

let folder: string;
let list: string;
let server: ServerProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-loaded-'));
  list = join(folder, 'loaded');
});
afterEach(async () => {
  await server?.stop('SIGKILL');
  server = undefined;
  await rm(folder, { recursive: true });
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  server = await startServer({
    dataDir: join(folder, 'data'),
    env: { NODE_OPTIONS: `--import=${fileURLToPath(HOOK)}`, LOADED_LIST: list, ...env },
  });
  return server;
}

/** By process: of our files the paths, of packages the names. */
function loadedBy(): Map<number, Set<string>> {
  const byProcess = new Map<number, Set<string>>();
  for (const line of readFileSync(list, 'utf8').trim().split('\n')) {
    const [pid = '', url = ''] = line.split(' ');
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
    const names = byProcess.get(Number(pid)) ?? new Set();
    byProcess.set(Number(pid), names.add(name ?? url.replace(ROOT.href, '')));
  }
  return byProcess;
}

const loaded = (): Set<string> => loadedBy().get(server?.pid ?? 0) ?? assert.fail('nothing was loaded');

const inAdmin = (names: ReadonlySet<string>): string[] =>
  [...names].filter((name) => name === 'typebox' || name.startsWith('src/admin/')).sort();

/** The door, the gate in front of the protocol, and what a new SECRET_KEY reseals. */
const DOOR = [
  'src/admin/api/idempotency.ts',
  'src/admin/api/reseal-replies.ts',
  'src/admin/index.ts',
  'src/admin/pages/field-values.ts',
  'src/admin/resources/users/import-job.ts',
  'src/admin/resources/users/import-records.ts',
  'src/admin/test-sign-in/create.ts',
];

/** Packages that a process loads when something needs them. */
const HEAVY = [
  '@simplewebauthn/server',
  '@zxcvbn-ts/language-common',
  'bcryptjs',
  'ioredis',
  'koa-body',
  'mongodb',
  'nodemailer',
  'qrcode',
  'typebox',
];

test('start: packages that only some requests need are not loaded before them', async () => {
  const running = await start();
  const client = await running.register();
  await openSignIn(running, client.id);
  const names = loaded();
  // The registration needed two.
  assert.deepEqual(
    HEAVY.filter((name) => names.has(name)),
    ['koa-body', 'typebox'],
  );
  assert.ok(names.has('oidc-provider') && names.has('nunjucks'), [...names].join());
});

test('start: nothing of the admin area is loaded before the first request for it', async () => {
  const running = await start();
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200);
  assert.equal((await fetch(`${running.url}/.well-known/openid-configuration`)).status, 200);
  assert.equal((await fetch(`${running.url}/account`, { redirect: 'manual' })).status, 303);
  assert.deepEqual(inAdmin(loaded()), DOOR);
  const requests = Array.from({ length: 5 }, () => running.admin('GET', '/users'));
  assert.deepEqual(new Set((await Promise.all(requests)).map(({ status }) => status)), new Set([200]));
  const names = loaded();
  assert.ok(names.has('typebox') && names.has('src/admin/area.ts'), [...names].join());
});

test('cluster: the primary, which serves nothing, loads nothing of what serves', async () => {
  const running = await start({ WEB_CONCURRENCY: '2' });
  assert.equal((await running.admin('GET', '/users')).status, 200);
  const byProcess = loadedBy();
  assert.equal(byProcess.size, 3);
  const primary = byProcess.get(running.pid) ?? assert.fail();
  assert.ok(primary.has('src/process/workers.ts') && primary.has('pino'), [...primary].join());
  assert.deepEqual(
    [...primary].filter((name) =>
      /^src\/(?!process|config|store|model)\w+\/|^adapters\/|^(?:koa|oidc-provider)$/.test(name),
    ),
    [],
  );
});

test('start: a failed load of the admin area is an error of that request alone', async () => {
  const running = await start({ FAIL_ONCE: '/src/admin/area.ts' });
  const ask = (accept: string) =>
    fetch(`${running.url}/admin/api/users`, {
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, Accept: accept },
    });
  const failed = await ask('application/json');
  assert.equal(failed.status, 500);
  const told = await failed.text();
  assert.match(told, /"code":500/);
  assert.doesNotMatch(told, /area|loaded|node/);
  const line = await running.waitForLine(({ level }) => level === 'error');
  assert.match(JSON.stringify(line), /this module was not loaded/);
  assert.equal((await fetch(`${running.url}/oauth2/userinfo`)).status, 401);
  assert.equal((await ask('application/json')).status, 200);
  const client = await running.register();
  await openSignIn(running, client.id);
});
