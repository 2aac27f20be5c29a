// Mass assignment: read-only fields in requests. Other attacks on the routes of the admin API are in
// test/admin/sweep.test.ts and test/flows/admin-injections.test.ts.
import { deepEqual, equal } from 'node:assert/strict';
import { dataOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer } from './support.ts';

const client = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };

async function prepare(world: World) {
  const { accounts, clients } = world;
  const account = await accounts.create({
    username: 'alice',
    password: goodPassword,
    email: 'a@example.com',
  });
  const created = await clients.create({ metadata: client, origin: 'admin' });
  const ids = { users: account.id, clients: created.client.id };
  const snapshot = async (): Promise<string> =>
    JSON.stringify([
      await accounts.query({ sort: 'id', order: 'asc', limit: 100 }),
      await clients.query({ sort: 'id', order: 'asc', limit: 100 }),
      dataOf(await world.api('GET', '/settings')),
    ]);
  return { ids, snapshot };
}

withEachServer('attack: mass assignment of read-only fields is 400 and never stored', async (world) => {
  const { ids, snapshot } = await prepare(world);
  const before = await snapshot();
  const ofUsers = {
    id: 'mine',
    sub: 'mine',
    admin: true,
    isAdmin: true,
    is_admin: true,
    passwordHash: '$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA',
    password_hash: 'x',
    // What is shown may come back as it is (admin/round-trips); these say something else.
    locked_until: '2030-01-01T00:00:00Z',
    failed_login_attempts: 7,
    mfa: false,
    groups: ['admins'],
    created_at: '2020-01-01T00:00:00Z',
    createdAt: 1,
    deletingAt: 1,
    usernameKey: 'bob',
    isActive: true,
    version: 9,
  };
  const user = { username: 'mallory', password: goodPassword };
  for (const [name, value] of Object.entries(ofUsers)) {
    for (const [method, path, body] of [
      ['POST', '/users', { ...user, [name]: value }],
      ['PUT', `/users/${ids.users}`, { [name]: value }],
      ['PATCH', `/users/${ids.users}`, { name: 'x', [name]: value }],
      ['POST', '/users/unlock', { user_id: ids.users, [name]: value }],
    ] as const) {
      const answer = await world.api(method, path, body);
      deepEqual([answer.status, wrongFields(answer)], [400, [name]], `${method} ${path} ${name}`);
    }
  }
  const ofClients = {
    client_id: 'mine',
    client_secret: 'mine',
    secrets: [],
    origin: 'seed',
    created_at: '2020-01-01T00:00:00Z',
    registrationTokenDigest: 'x',
    registration_access_token: 'x',
    skipConsent: true,
    metadata: {},
  };
  for (const [name, value] of Object.entries(ofClients)) {
    for (const [method, path] of [
      ['POST', '/clients'],
      ['PUT', `/clients/${ids.clients}`],
      ['PATCH', `/clients/${ids.clients}`],
    ] as const) {
      const answer = await world.api(method, path, { ...client, [name]: value });
      deepEqual([answer.status, wrongFields(answer)], [400, [name]], `${method} ${path} ${name}`);
    }
  }
  equal(await snapshot(), before);
});
