// SSO sessions over HTTP (decision 0010).
import { deepEqual, equal } from 'node:assert/strict';
import { grants, oidcSessions, refreshTokens } from '../../src/store/protocol-collections.ts';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer } from './support.ts';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Signs in as far as the stores are concerned: the browser's session, its record, a grant with a refresh token. */
async function signIn(world: World, uid: string, accountId: string, clientId: string): Promise<void> {
  const { store, sessions, now } = world;
  const expiresAt = now() + 3_600_000;
  await store.ephemeral(oidcSessions).insert(`cookie-${uid}`, { uid, accountId }, { expiresAt });
  await sessions.note({
    uid,
    isNew: true,
    accountId,
    ipAddress: '192.0.2.7',
    userAgent: firefox,
    amr: ['pwd'],
    clientIds: [clientId],
    createdAt: now(),
    expiresAt,
  });
  const grant = { accountId, clientId, sessionUid: uid };
  await store.collection(grants).insert(`grant-${uid}`, grant);
  await store.collection(refreshTokens).insert(`token-${uid}`, { ...grant, grantId: `grant-${uid}` });
}

async function prepare(world: World) {
  const { accounts, clients, advance } = world;
  const alice = await accounts.create({ username: 'alice', password: goodPassword });
  const bob = await accounts.create({ username: 'bob', password: goodPassword });
  const metadata = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
  const { client } = await clients.create({ metadata, origin: 'admin' });
  for (const [uid, { id }] of [
    ['a1', alice],
    ['a2', alice],
    ['b1', bob],
  ] as const) {
    await signIn(world, uid, id, client.id);
    advance(1000);
  }
  return { alice: alice.id, bob: bob.id, clientId: client.id };
}

const isSignedIn = async ({ store }: World, uid: string): Promise<boolean[]> =>
  Promise.all([
    store.ephemeral(oidcSessions).find(`cookie-${uid}`),
    store.collection(grants).find(`grant-${uid}`),
    store.collection(refreshTokens).find(`token-${uid}`),
  ]).then((found) => found.map((one) => one !== undefined));

withEachServer(
  'session: shows user, browser and clients; ending it revokes grants and tokens',
  async (world) => {
    const { api } = world;
    const { alice, clientId } = await prepare(world);
    deepEqual(dataOf(await api('GET', '/sessions/a1')), {
      id: 'a1',
      user_id: alice,
      username: 'alice',
      ip_address: '192.0.2.7',
      place: null,
      user_agent: firefox,
      device: 'Firefox on Windows',
      amr: ['pwd'],
      clients: [{ client_id: clientId, client_name: 'Acme' }],
      is_active: true,
      created_at: '2026-01-31T12:00:00.000Z',
      last_activity_at: '2026-01-31T12:00:00.000Z',
      expires_at: '2026-01-31T13:00:00.000Z',
      ended_at: null,
    });
    equal((await api('DELETE', '/sessions/a1')).status, 204);
    deepEqual(await isSignedIn(world, 'a1'), [false, false, false]);
    deepEqual(await isSignedIn(world, 'a2'), [true, true, true]);
    const ended = dataOf(await api('GET', '/sessions/a1'));
    deepEqual([ended.is_active, ended.ended_at], [false, '2026-01-31T12:00:03.000Z']);
    equal((await api('DELETE', '/sessions/a1')).status, 204, 'again');
    equal(errorOf(await api('DELETE', '/sessions/none')).reason, 'session.not_found');
    equal((await api('GET', '/sessions/none')).status, 404);
  },
);

withEachServer('session list: filtered, over all users and for one user', async (world) => {
  const { api, advance } = world;
  const { alice, bob } = await prepare(world);
  const found = async (path: string): Promise<unknown[]> =>
    itemsOf(await api('GET', path)).map(({ id }) => id);
  deepEqual(await found('/sessions'), ['b1', 'a2', 'a1']);
  deepEqual(await found(`/sessions?user_id=${alice}&sort=created_at&order=asc`), ['a1', 'a2']);
  deepEqual(await found('/sessions?search=192.0.2'), ['b1', 'a2', 'a1']);
  deepEqual(await found('/sessions?search=1%25'), []);
  deepEqual(await found(`/users/${bob}/sessions`), ['b1']);
  await api('DELETE', '/sessions/a2');
  deepEqual(await found('/sessions?is_active=true'), ['b1', 'a1']);
  deepEqual(await found('/sessions?is_active=false'), ['a2']);
  deepEqual(await found('/sessions?ended_at_from=2026-01-31T12:00:00Z'), ['a2']);
  advance(3_600_000);
  deepEqual(await found('/sessions?is_active=true'), []);
  deepEqual(await found('/sessions?is_active=false&limit=2'), ['b1', 'a2']);
  equal((await api('GET', '/users/none/sessions')).status, 404);
  deepEqual(wrongFields(await api('GET', `/users/${bob}/sessions?user_id=${alice}`)), ['user_id']);

  const { next } = dataOf(await api('GET', `/users/${alice}/sessions?limit=1`));
  deepEqual(await found(`/users/${alice}/sessions?limit=1&cursor=${next}`), ['a1']);
  deepEqual(wrongFields(await api('GET', `/users/${bob}/sessions?limit=1&cursor=${next}`)), ['cursor']);
});

withEachServer('session: another user’s session cannot be ended through this user', async (world) => {
  const { api } = world;
  const { alice } = await prepare(world);
  equal((await api('DELETE', `/users/${alice}/sessions/b1`)).status, 404);
  deepEqual(await isSignedIn(world, 'b1'), [true, true, true]);
  equal((await api('DELETE', `/users/${alice}/sessions/a1`)).status, 204);
  deepEqual(await isSignedIn(world, 'a1'), [false, false, false]);
});

withEachServer(
  'sessions: revoke-sessions, deactivation, new password and new role end them all',
  async (world) => {
    const { api } = world;
    const { alice, bob } = await prepare(world);
    equal((await api('POST', `/users/${alice}/revoke-sessions`)).status, 200);
    deepEqual(await isSignedIn(world, 'a1'), [false, false, false]);
    deepEqual(await isSignedIn(world, 'a2'), [false, false, false]);
    deepEqual(await isSignedIn(world, 'b1'), [true, true, true]);
    let number = 2;
    for (const [method, path, body] of [
      ['PUT', '', { password: 'eight tall lanterns' }],
      ['PATCH', '', { role: 'admin' }],
      ['POST', '/deactivate', undefined],
    ] as const) {
      if (path === '/deactivate') await world.accounts.create({ username: 'other-admin', role: 'admin' });
      const answer = await api(method, `/users/${bob}${path}`, body);
      equal(answer.status, 200, answer.text);
      deepEqual(await isSignedIn(world, `b${number - 1}`), [false, false, false], `${method} ${path}`);
      await signIn(world, `b${number}`, bob, 'x');
      number += 1;
    }
    equal((await api('DELETE', `/users/${bob}`)).status, 204);
    deepEqual(await isSignedIn(world, `b${number - 1}`), [false, false, false]);
  },
);
