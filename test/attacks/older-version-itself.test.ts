// Version 0.1.0 itself (905c62a) beside this one on one store, back and forward again: what older-version-beside.test.ts does by hand.
// With LONG=1, where the history is there; its packages are this version's.
import { equal, ok } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startServer } from '../processes/server-process.ts';
import { run } from '../scripts/run.ts';
import { ADMIN_TOKEN, type AdminBody, type Operator, PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { handedOn } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { startMongoServer } from '../support/mongodb-server.ts';

const OLD = '905c62a';
const SECRET_KEY = 'beside-secret-key-0123456789-0123456789';
const root = fileURLToPath(new URL('../..', import.meta.url));
const name = `attack: ${OLD} and this version on one store, side by side and back`;

function hasHistory(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${OLD}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const canRun = process.env.LONG === '1' && hasHistory();
if (process.env.LONG === '1' && !canRun && process.env.NOT_RUN_LIST)
  appendFileSync(process.env.NOT_RUN_LIST, `${name}\n`);

const folder = await mkdtemp(join(tmpdir(), 'latchkey-itself-'));
after(() => rm(folder, { recursive: true, force: true }));

type Asked = Pick<Operator, 'admin'>;

interface Old extends Asked {
  stop(): Promise<void>;
}

/** What the older version answers is not what the present documents of the API say. */
const asked = (url: string): Asked => ({
  async admin(method, path, body) {
    const response = await fetch(`${url}/admin/api${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: AdminBody = JSON.parse(await response.text());
    return { status: response.status, body: answer };
  },
});

/** Ended when a test fails before it ends them. */
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

function unpack(): string {
  const code = join(folder, 'code');
  mkdirSync(code);
  const packed = execFileSync('git', ['archive', OLD], { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['x', '-C', code], { input: packed });
  symlinkSync(join(root, 'node_modules'), join(code, 'node_modules'));
  return code;
}

async function startOld(code: string, env: Readonly<Record<string, string>>): Promise<Old> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['--preserve-symlinks', 'src/main.ts'], {
    cwd: code,
    env: {
      ...handedOn(),
      ...env,
      PORT: String(port),
      BASE_URL: url,
      ADMIN_TOKEN,
      SECRET_KEY,
      HOST: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('"listening"') && resolve());
    child.once('exit', () => reject(new Error(`${OLD} ended`)));
  });
  return {
    ...asked(url),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      running.delete(child);
    },
  };
}

const setting = async (of: Asked, key: string): Promise<unknown> =>
  (await of.admin('GET', '/settings')).body.data.items?.find((one) => one.key === key)?.value;

async function done(of: Asked, method: string, path: string, body: unknown): Promise<void> {
  const answer = await of.admin(method, path, body);
  equal(answer.status, 200, JSON.stringify(answer.body));
}

async function sideBySide(code: string, env: Readonly<Record<string, string>>): Promise<void> {
  const dataDir = env.DATA_DIR ?? '';
  let old = await startOld(code, env);
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await old.admin('POST', path, body);
    equal(answer.status, 201, JSON.stringify(answer.body));
    return String(answer.body.data.client_id ?? answer.body.data.id);
  };
  const client = { id: await made('/clients', { redirect_uris: [REDIRECT_URI] }) };
  const user = { id: await made('/users', { username: 'ada', password: PASSWORD }) };
  await old.stop();
  const release = await run('scripts/release.ts', [], { env: { ...env, SECRET_KEY } });
  equal(release.code, 0, release.stderr);

  const startNew = (): Promise<ServerProcess> => startServer({ dataDir, env: { ...env, SECRET_KEY } });
  let now = await startNew();
  equal(await setting(now, 'require_pkce'), true, 'as the installation had it');
  await done(now, 'PATCH', `/clients/${client.id}`, { minimal_id_tokens: true, allowed_groups: [] });
  await done(now, 'PATCH', '/settings', { signup_email: 'required' });

  // Side by side: the older one writes everything that it can.
  old = await startOld(code, env);
  await done(old, 'PATCH', '/settings', { product_name: 'Old' });
  await done(old, 'PATCH', `/clients/${client.id}`, { client_name: 'Old' });
  await done(old, 'PATCH', `/users/${user.id}`, { given_name: 'Old' });
  await done(now, 'PATCH', '/settings', { lockout_threshold: 6 });
  const shown = (await now.admin('GET', `/clients/${client.id}`)).body.data;
  equal(shown.minimal_id_tokens, true);
  equal(shown.client_name, 'Old');
  await now.stop();

  // Back to the older one alone, and forward again.
  await done(old, 'PATCH', '/settings', { product_name: 'Older' });
  await old.stop();
  now = await startNew();
  equal(await setting(now, 'require_pkce'), true);
  equal(await setting(now, 'signup_email'), 'required');
  equal(await setting(now, 'product_name'), 'Older');
  equal((await now.admin('GET', `/users/${user.id}`)).body.data.given_name, 'Old');
  await done(now, 'PATCH', '/settings', { require_pkce: false });
  await now.stop();
  old = await startOld(code, env);
  await done(old, 'PATCH', '/settings', { product_name: 'Oldest' });
  await old.stop();
  now = await startNew();
  equal(await setting(now, 'require_pkce'), false, 'what was turned off stays off');
  ok(await setting(now, 'product_name'));
  await now.stop();
}

if (canRun)
  test(`${name}: both stores`, async () => {
    const code = unpack();
    await sideBySide(code, { DATA_DIR: join(folder, 'sqlite') });
    const server = await startMongoServer();
    await sideBySide(code, { DATA_DIR: join(folder, 'mongodb'), MONGODB_URI: server.freshUri() });
    await server.stop();
  });
