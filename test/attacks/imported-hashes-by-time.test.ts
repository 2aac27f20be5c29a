// Attack: user enumeration by response time where accounts were imported with slower hashes; and importing hashes of
// excessive cost.
// A process of its own: its times are compared.
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import test, { after, before } from 'node:test';
import { hash as bcrypt } from 'bcryptjs';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';
import { isAccepted, openSignIn, type SignInForm } from './sign-in-form.ts';

const OLD_PASSWORD = 'seven tall lanterns';
const SALT = Buffer.from('0123456789abcdef');
const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

let app: TestApp;
let form: SignInForm;

before(async () => {
  app = await startApp();
  const client = await app.register();
  form = await openSignIn(app, client.id);
  await app.createUser('ours');
});
after(() => app.stop());

async function importUsers(rows: readonly Record<string, unknown>[]) {
  const answer = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  const text = await answer.text();
  return text
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
}

async function msOf(name: string, password = 'not the password'): Promise<number> {
  const startedAt = performance.now();
  const page = await form.attempt(name, password);
  assert.equal(page.status, 401, name);
  return performance.now() - startedAt;
}

const medianOf = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

const MAX_RATIO = 1.35;

/** @returns the medians of interleaved refusals of each kind of account, and how far they are apart */
async function spreadOf(password: string, rounds: number) {
  const times: Record<string, number[]> = { slow: [], quick: [], ours: [], nobody: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, all] of Object.entries(times)) all.push(await msOf(name, password));
  }
  const medians = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, medianOf(all)]));
  return { medians, ratio: Math.max(...Object.values(medians)) / Math.min(...Object.values(medians)) };
}

test('attack: user enumeration by time with imported hashes', async () => {
  const slow = await bcrypt(OLD_PASSWORD, 10);
  const quick = `$pbkdf2-sha256$i=20000$${b64(SALT)}$${b64(pbkdf2Sync(OLD_PASSWORD, SALT, 20_000, 32, 'sha256'))}`;
  await importUsers([
    { username: 'slow', password_hash: slow },
    { username: 'quick', password_hash: quick },
  ]);
  await app.admin('PATCH', '/settings', { lockout_threshold: 100 });
  // Measured in the background; until then estimated.
  while ((await msOf('nobody')) < 40) await msOf('slow');
  // A password that is not normalized is tried twice against such hashes.
  for (const password of ['not the password', 'ｎot the password']) {
    // What strays is measured again, longer: a real difference is there again, a busy machine's is not.
    const first = await spreadOf(password, 5);
    const { ratio, medians } = first.ratio < MAX_RATIO ? first : await spreadOf(password, 15);
    assert.ok(ratio < MAX_RATIO, JSON.stringify(medians));
  }
  // A success does not wait, and the hash is argon2id from then on.
  assert.equal(isAccepted(await form.attempt('slow', OLD_PASSWORD)), true);
  assert.equal(isAccepted(await form.attempt('quick', OLD_PASSWORD)), true);
});

test('attack: imported hashes with excessive cost are refused and their row is named', async () => {
  const long = b64(Buffer.alloc(128, 1));
  const results = await importUsers([
    { username: 'long-key', password_hash: `$pbkdf2-sha1$i=1900000$${b64(SALT)}$${long}` },
    { username: 'fine', password_hash: `$pbkdf2-sha256$i=600000$${b64(SALT)}$${b64(Buffer.alloc(32, 1))}` },
    {
      username: 'digest',
      password_hash: `$pbkdf2-sha512$i=1999999$${b64(SALT)}$${b64(Buffer.alloc(65, 1))}`,
    },
    { username: 'memory', password_hash: `$argon2id$v=19$m=1048576,t=1,p=1$${b64(SALT)}$${long}` },
    { username: 'rounds', password_hash: `$2b$16$${'C'.repeat(53)}` },
    { username: 'lanes', password_hash: `$scrypt$ln=17,r=8,p=8$${b64(SALT)}$${long}` },
  ]);
  const text = JSON.stringify(results);
  for (const [line, status] of [
    [1, 'failed'],
    [2, 'created'],
    [3, 'failed'],
    [4, 'failed'],
    [5, 'failed'],
    [6, 'failed'],
  ] as const)
    assert.match(text, new RegExp(`"line":${line},"status":"${status}"`), text);
  assert.match(text, /"password_hash":"Costs too much/);
});
