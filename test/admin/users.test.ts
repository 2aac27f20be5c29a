// Users over HTTP (decision 0010).
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { goodPassword, withEachServer, withServer } from './support.ts';

const alice = { username: 'alice', password: goodPassword, email: 'alice@example.com' };

withEachServer('user: created, read, changed and deleted', async ({ api }) => {
  const created = await api('POST', '/users', { ...alice, role: 'user', given_name: 'Alice' });
  equal(created.status, 201);
  const { id, ...user } = dataOf(created);
  match(String(id), /^[0-9a-f-]{36}$/);
  equal(created.headers.get('location'), `https://id.example.com/admin/api/users/${id}`);
  equal(created.headers.get('etag'), '"1"');
  equal(created.headers.get('cache-control'), 'no-store');
  deepEqual(
    [user.username, user.email, user.role, user.is_email_verified, user.totp_verified, user.given_name],
    ['alice', 'alice@example.com', 'user', false, false, 'Alice'],
  );

  deepEqual(dataOf(await api('GET', `/users/${id}`)), dataOf(created));

  const changed = await api('PUT', `/users/${id}`, { is_email_verified: true, address: { country: 'CH' } });
  equal(changed.status, 200);
  equal(dataOf(changed).is_email_verified, true);
  equal(dataOf(changed).given_name, 'Alice');
  deepEqual(dataOf(changed).address, {
    formatted: null,
    street_address: null,
    locality: null,
    region: null,
    postal_code: null,
    country: 'CH',
  });
  const cleared = await api('PATCH', `/users/${id}`, { given_name: null, address: null });
  deepEqual([dataOf(cleared).given_name, dataOf(cleared).address], [null, null]);

  const gone = await api('DELETE', `/users/${id}`);
  deepEqual([gone.status, gone.text], [204, '']);
  equal((await api('GET', `/users/${id}`)).status, 404);
  equal(errorOf(await api('DELETE', `/users/${id}`)).reason, 'account.not_found');
});

withEachServer('user: a username or e-mail address in use is 409 and names the field', async ({ api }) => {
  await api('POST', '/users', alice);
  const sameName = await api('POST', '/users', { username: 'ALICE', password: goodPassword });
  deepEqual(
    [sameName.status, errorOf(sameName).code, errorOf(sameName).reason, wrongFields(sameName)],
    [409, 409, 'account.username_taken', ['username']],
  );
  const sameMail = await api('POST', '/users', { ...alice, username: 'bob', email: 'Alice@EXAMPLE.com' });
  deepEqual([sameMail.status, errorOf(sameMail).reason], [409, 'account.email_taken']);
});

withServer('user: all validation errors of a new user are reported at once', async ({ api }) => {
  const answer = await api('POST', '/users', { email: 7, role: 'root', is_active: 'yes', colour: 1 });
  equal(answer.status, 400);
  deepEqual(wrongFields(answer), ['colour', 'email', 'is_active', 'password', 'role', 'username']);
  ok(String(errorOf(answer).request_id).length > 10);
  const weak = await api('POST', '/users', { username: 'x', password: '12345678' });
  deepEqual([weak.status, wrongFields(weak)], [400, ['password', 'username']]);
  const nested = await api('POST', '/users', { ...alice, address: { country: 1, planet: 'Mars' } });
  deepEqual(wrongFields(nested), ['address.country', 'address.planet']);
});

withEachServer(
  'user: a lock is shown, and lifted by both unlock routes',
  async ({ api, accounts, store, now }) => {
    const { accounts: definition } = await import('../../src/store/collections.ts');
    const account = await accounts.create({ username: 'alice', password: goodPassword });
    const collection = store.collection(definition);
    const lock = async (): Promise<void> => {
      const stored = await collection.find(account.id);
      ok(stored);
      const locked = { ...stored.value, failedLoginAttempts: 5, lockedUntil: now() + 60_000 };
      await collection.replace(account.id, stored.version, locked);
    };
    await lock();
    const shown = dataOf(await api('GET', `/users/${account.id}`));
    deepEqual([shown.locked_until, shown.failed_login_attempts], ['2026-01-31T12:01:00.000Z', 5]);
    const lifted = dataOf(await api('POST', '/users/unlock', { user_id: account.id }));
    deepEqual([lifted.locked_until, lifted.failed_login_attempts], [null, 0]);
    await lock();
    equal(dataOf(await api('POST', `/users/${account.id}/unlock`)).locked_until, null);
    equal((await api('POST', '/users/unlock', { user_id: 'nobody' })).status, 404);
    deepEqual(wrongFields(await api('POST', '/users/unlock', { user_id: 5 })), ['user_id']);
  },
);

withServer(
  'texts of any length: what is said of a long one is the limit of its own member',
  async ({ api }) => {
    const user = { name: 'x', address: { country: 'x' }, ...alice };
    for (const [path, members] of [
      ['/users', { ...user, given_name: '', zoneinfo: '', website: '', phone_number: '' }],
      ['/groups', { name: '', description: '' }],
      ['/clients', { client_name: '', redirect_uris: [''] }],
      ['/resources', { name: '', identifier: '' }],
    ] as const) {
      const problems = async (length: number) => {
        const long = 'x'.repeat(length);
        const value = (of: unknown): unknown => {
          if (Array.isArray(of)) return [long];
          return typeof of === 'string' ? long : { country: long };
        };
        const body = Object.fromEntries(Object.entries(members).map(([name, of]) => [name, value(of)]));
        const { fields } = errorOf(await api('POST', path, body));
        return fields;
      };
      const [over, far] = [await problems(1999), await problems(3000)];
      doesNotMatch(JSON.stringify(far), /from 0 to|20(?:00|48) characters or null/, path);
      deepEqual(Object.keys(Object(far)), Object.keys(Object(over)), path);
    }
  },
);

withServer('user: deactivate, reactivate, reset-mfa', async ({ api }) => {
  const { id } = dataOf(await api('POST', '/users', { ...alice, totp_verified: true }));
  equal(dataOf(await api('POST', `/users/${id}/deactivate`)).is_active, false);
  equal(dataOf(await api('POST', `/users/${id}/reactivate`)).is_active, true);
  equal(dataOf(await api('POST', `/users/${id}/reset-mfa`)).totp_verified, false);
  equal((await api('POST', '/users/none/deactivate')).status, 404);
});

withServer('user: the last active administrator cannot be removed', async ({ api }) => {
  const { id } = dataOf(await api('POST', '/users', { ...alice, role: 'admin' }));
  for (const [method, path, body] of [
    ['DELETE', `/users/${id}`, undefined],
    ['POST', `/users/${id}/deactivate`, undefined],
    ['PUT', `/users/${id}`, { role: 'user' }],
    ['PATCH', `/users/${id}`, { is_active: false }],
  ] as const) {
    const answer = await api(method, path, body);
    deepEqual([answer.status, errorOf(answer).reason], [409, 'account.last_admin'], `${method} ${path}`);
  }
});

withServer('user: an If-Match that is no longer current is 412 and changes nothing', async ({ api }) => {
  const { id } = dataOf(await api('POST', '/users', alice));
  const first = (await api('PUT', `/users/${id}`, { nickname: 'A' })).headers.get('etag') ?? '';
  notEqual(first, '"1"');
  const second = await api('PUT', `/users/${id}`, { nickname: 'B' }, { headers: { 'if-match': first } });
  equal(second.status, 200);
  for (const tag of [first, `W/${second.headers.get('etag')}`, '"abc"', '""']) {
    const late = await api('PUT', `/users/${id}`, { nickname: 'C' }, { headers: { 'if-match': tag } });
    deepEqual([late.status, errorOf(late).reason], [412, 'account.changed'], tag);
    equal((await api('DELETE', `/users/${id}`, undefined, { headers: { 'if-match': tag } })).status, 412);
  }
  equal(dataOf(await api('GET', `/users/${id}`)).nickname, 'B');
  const any = await api('PUT', `/users/${id}`, { nickname: 'D' }, { headers: { 'if-match': '*' } });
  equal(any.status, 200);
});

withServer('user: no response contains a hash or password', async ({ api, accounts }) => {
  const { id } = dataOf(await api('POST', '/users', alice));
  const list = await api('GET', '/users');
  const answers = [
    list,
    await api('GET', `/users/${id}`),
    await api('PUT', `/users/${id}`, { password: 'other tall lanterns' }),
    await api('POST', '/users', alice),
    await api('POST', '/users', { ...alice, password: 'secret-and-wrong-type', role: 1 }),
  ];
  const hash = (await accounts.find(String(id)))?.passwordHash ?? '';
  ok(hash.startsWith('$argon2id$'));
  for (const { text } of answers) {
    for (const secret of [
      hash,
      'argon2',
      'lanterns',
      'secret-and-wrong-type',
      'passwordHash',
      'usernameKey',
    ]) {
      ok(!text.includes(secret), `${secret} in ${text}`);
    }
  }
  equal(itemsOf(list).length, 1);
});
