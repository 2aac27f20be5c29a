// Users from another system (decision 0010): imported with their hashes, signed in with their old passwords, and then given an
// argon2id hash.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { after, test } from 'node:test';
import { hash as argon2, argon2i } from 'argon2';
import { hashSync as bcrypt } from 'bcryptjs';
import { accounts as accountRecords, audit } from '../../src/store/collections.ts';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { dataOf, errorOf, itemsOf, type Members, membersOf } from './answers.ts';
import { type World, withEachServer, withServer } from './support.ts';

const NDJSON = 'application/x-ndjson';
const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const salt = Buffer.from('0123456789abcdef');
const pbkdf2 = (password: string, iterations = 1000): string =>
  `$pbkdf2-sha256$i=${iterations}$${b64(salt)}$${b64(pbkdf2Sync(password, salt, iterations, 32, 'sha256'))}`;

const send = ({ call }: Pick<World, 'call'>, raw: string, type = NDJSON) =>
  call('POST', '/admin/api/users/import', undefined, { raw, headers: { 'content-type': type } });

const linesOf = (text: string): Members[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => membersOf(JSON.parse(line)));

async function take(world: Pick<World, 'call'>, rows: readonly (object | string)[]): Promise<Members[]> {
  const raw = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  const answer = await send(world, raw);
  equal(answer.status, 200, answer.text);
  equal(answer.headers.get('content-type'), NDJSON);
  return linesOf(answer.text);
}

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

withEachServer('import: a leap second is a time, a time zone in brackets is not', async (world) => {
  const { api } = world;
  const [made, refused] = await take(world, [
    { username: 'alice', created_at: '2016-12-31T23:59:60.5Z' },
    { username: 'bob', created_at: '2016-12-31T23:59:59Z[Europe/Zurich]' },
  ]);
  deepEqual([made?.status, refused?.status], ['created', 'failed']);
  const list = '/users?created_at_to=2016-12-31t23:59:60z';
  const [shown, ...others] = itemsOf(await api('GET', list));
  deepEqual([shown?.username, shown?.created_at, others], ['alice', '2017-01-01T00:00:00.000Z', []]);
  equal((await api('GET', `${list}%5BEurope/Zurich%5D`)).status, 400);
});

withEachServer('import: each line is created or its error reported, independently', async (world) => {
  const { api, store } = world;
  await api('POST', '/groups', { name: 'staff' });
  const hash = pbkdf2('open sesame');
  const results = await take(world, [
    {
      username: 'alice',
      email: 'alice@example.com',
      is_email_verified: true,
      given_name: 'Alice',
      role: 'auditor',
      groups: ['staff'],
      password_hash: hash,
      created_at: '2020-01-02T03:04:05Z',
    },
    { username: 'Alice' },
    '',
    'not json',
    '{"username":"bob","__proto__":{"role":"admin"}}',
    { username: 'bob', email: 'ALICE@example.com' },
    {
      username: 'bob',
      password_hash: '$pbkdf2-sha256$i=1000000000$AAAAAAAA$AAAA',
      groups: ['none'],
      email: 'x',
    },
    {
      username: 'bob',
      password: 'plain',
      id: 'mine',
      passwordHash: hash,
      totp: {},
      failed_login_attempts: 0,
    },
    { username: { $ne: 1 } },
    { username: 'bob', created_at: '2999-01-01T00:00:00Z' },
    '[]',
    'null',
    { username: 'carol' },
  ]);
  const told = results.map(({ line, status, error }) => [
    line,
    status,
    error === undefined ? null : membersOf(error).reason,
    error === undefined ? null : Object.keys(membersOf(membersOf(error).fields ?? {})).sort(),
  ]);
  deepEqual(told, [
    [1, 'created', null, null],
    [2, 'failed', 'account.username_taken', ['username']],
    [4, 'failed', 'request.malformed', []],
    [5, 'failed', 'request.malformed', ['__proto__']],
    [6, 'failed', 'account.email_taken', ['email']],
    [7, 'failed', 'request.invalid', ['email', 'groups', 'password_hash']],
    [8, 'failed', 'request.invalid', ['failed_login_attempts', 'id', 'password', 'passwordHash', 'totp']],
    [9, 'failed', 'request.invalid', ['username']],
    [10, 'failed', 'request.invalid', ['created_at']],
    [11, 'failed', 'request.invalid', ['body']],
    [12, 'failed', 'request.invalid', ['body']],
    [13, 'created', null, null],
  ]);
  const alice = dataOf(await api('GET', `/users/${results[0]?.id}`));
  deepEqual(
    [alice.username, alice.role, alice.groups, alice.is_email_verified, alice.created_at, alice.given_name],
    ['alice', 'auditor', ['staff'], true, '2020-01-02T03:04:05.000Z', 'Alice'],
  );
  equal(dataOf(await api('GET', '/users')).total, 2);
  const events = await store.collection(audit).query({ sort: 'id', order: 'asc', limit: 100 });
  const names = events.items.map(({ value }) => value.event);
  deepEqual(names.toSorted(), ['group.created', 'user.created', 'user.created', 'users.imported']);
  ok(!JSON.stringify(events).includes(hash.slice(20)), 'no hash in the log');
  deepEqual(events.items.at(-1)?.value.details, { created: 2, failed: 10, stopped: 0 });
  const again = await take(world, [{ username: 'alice' }, { username: 'carol' }]);
  ok(
    again.every(({ status }) => status === 'failed'),
    'sent again, nothing happens twice',
  );
});

withServer('import: input that is not JSON lines is refused as a whole', async (world) => {
  const { call, accounts } = world;
  for (const type of ['application/json', 'text/plain', 'multipart/form-data', `${NDJSON}; charset=utf-16`]) {
    equal((await send(world, '{"username":"alice"}', type)).status, 415, type);
  }
  const compressed = await call('POST', '/admin/api/users/import', undefined, {
    raw: 'x',
    headers: { 'content-type': NDJSON, 'content-encoding': 'gzip' },
  });
  equal(compressed.status, 415);
  const query = await call('POST', '/admin/api/users/import?dry_run=true', undefined, {
    raw: '',
    headers: { 'content-type': NDJSON },
  });
  deepEqual([query.status, membersOf(errorOf(query).fields).dry_run], [400, 'Unknown parameter.']);
  const empty = await send(world, '\n\n');
  deepEqual([empty.status, empty.text], [200, '']);
  equal(await accounts.findByLogin('alice'), undefined);
});

withServer('import: a line that is too long or not UTF-8 fails alone', async ({ url, accounts }) => {
  const long = JSON.stringify({ username: 'long', nickname: 'x'.repeat(70_000) });
  const body = Buffer.concat([
    Buffer.from(`${JSON.stringify({ username: 'alice' })}\r\n${long}\n`),
    Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
    Buffer.from(JSON.stringify({ username: 'bob' })),
  ]);
  const response = await fetch(`${url}/admin/api/users/import`, {
    method: 'POST',
    headers: {
      'content-type': NDJSON,
      authorization: 'Bearer the-token-of-an-administrator-in-tests',
    },
    body,
  });
  deepEqual(
    linesOf(await response.text()).map(({ status }) => status),
    ['created', 'failed', 'failed', 'created'],
  );
  ok(await accounts.findByLogin('bob'));
});

withServer('import: too many lines: reports what was done and where to continue', async (world) => {
  const rows = Array.from({ length: 5_003 }, (_, index) => JSON.stringify({ username: `user${index}` }));
  const answer = await send(world, rows.join('\n'));
  const results = linesOf(answer.text);
  equal(results.length, 5_001);
  const last = results.at(-1);
  deepEqual(
    [last?.line, last?.status, membersOf(last?.error).reason],
    [5_001, 'stopped', 'request.too_large'],
  );
  equal(dataOf(await world.api('GET', '/users?limit=1')).total, 5_000);
});

withServer('import: the OpenAPI document describes a line', async ({ api }) => {
  const paths = membersOf(membersOf((await api('GET', '/openapi.json')).body).paths);
  const operation = membersOf(membersOf(paths['/users/import']).post);
  const content = membersOf(membersOf(membersOf(operation.requestBody).content)[NDJSON]);
  ok('password_hash' in membersOf(membersOf(content.schema).properties));
  const answered = membersOf(membersOf(membersOf(operation.responses)['200']).content);
  ok('line' in membersOf(membersOf(membersOf(answered[NDJSON]).schema).properties));
});

test('import: users sign in with their old password and get an argon2id hash', async () => {
  const client = await app.register();
  const password = 'open sesame';
  const scrypt = b64(scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 }));
  const hashes: Readonly<Record<string, string>> = {
    'from-bcrypt': bcrypt(password, 4),
    'from-argon2i': await argon2(password, { type: argon2i, memoryCost: 64, timeCost: 2, parallelism: 1 }),
    'from-argon2id': await argon2(password, { memoryCost: 256, timeCost: 3, parallelism: 1 }),
    'from-scrypt': `$scrypt$ln=10,r=8,p=1$${b64(salt)}$${scrypt}`,
    'from-pbkdf2': pbkdf2(password),
  };
  const { admin } = app;
  const raw = Object.entries(hashes)
    .map(([username, password_hash]) => JSON.stringify({ username, password_hash }))
    .join('\n');
  const response = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-admin-token-0123456789-0123456789', 'content-type': NDJSON },
    body: raw,
  });
  const results = linesOf(await response.text());
  ok(
    results.every(({ status }) => status === 'created'),
    JSON.stringify(results),
  );
  const collection = app.store.collection(accountRecords);
  for (const { id, username } of results) {
    const name = String(username);
    const agent = new Agent(app);
    const page = await agent.authorize({
      client_id: client.id,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'https://rp.example/callback',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const wrong = await agent.submit(page, { username: name, password: 'open barley' });
    equal(wrong.status, 401, name);
    equal(
      (await collection.find(String(id)))?.value.passwordHash,
      hashes[name],
      `${name}: a guess changes nothing`,
    );
    for (let time = 0; time < 2; time += 1) {
      const { response: done } = await new Agent(app).signIn(client.id, { username: name, password });
      ok(done.get('code'), `${name}, time ${time}`);
      match((await collection.find(String(id)))?.value.passwordHash ?? '', /^\$argon2id\$v=19\$/);
    }
  }
  const { body } = await admin('GET', '/users?search=from-');
  ok(!JSON.stringify(body).includes('$'), 'no answer shows a hash');
  deepEqual(itemsOf({ status: 200, headers: new Headers(), body, text: '' }).length, 5);
});

test('import: without a hash a password must be set first; the role follows the import', async () => {
  const response = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-admin-token-0123456789-0123456789', 'content-type': NDJSON },
    body: JSON.stringify({ username: 'bare', is_active: false }),
  });
  const [result] = linesOf(await response.text());
  const stored = await app.store.collection(accountRecords).find(String(result?.id));
  deepEqual(
    [stored?.value.passwordHash, stored?.value.isActive, stored?.value.role],
    [undefined, false, 'user'],
  );
});
