// Groups in the protocol: the claim and its scope, and clients restricted to members, in every grant.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { grants as grantRecords } from '../../src/store/protocol-collections.ts';
import { Agent, hiddenFields, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { claimsOf, introspect, postForm, tokensOf, userinfo } from './support.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
for (const name of ['staff', 'board']) await app.admin('POST', '/groups', { name });
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');
const join = async (group: string, { id }: { id: string }): Promise<void> => {
  equal((await app.admin('POST', `/groups/${group}/members`, { user_id: id })).status, 200);
};
const leave = async (group: string, { id }: { id: string }): Promise<void> => {
  equal((await app.admin('DELETE', `/groups/${group}/members/${id}`)).status, 204);
};
await join('staff', alice);
await join('board', alice);

const restricted = await app.register({ allowed_groups: ['staff'] });

test('scope groups: names in ID token, userinfo and access token; without it nowhere', async () => {
  const client = await app.register();
  const asked = await tokensOf(app, client, alice, { scope: 'openid groups' });
  deepEqual(claimsOf(asked.id_token).groups, ['board', 'staff']);
  deepEqual(claimsOf(asked.access_token).groups, ['board', 'staff']);
  deepEqual((await userinfo(app, asked.access_token)).body.groups, ['board', 'staff']);
  const plain = await tokensOf(app, client, alice, { scope: 'openid profile' });
  for (const claims of [
    claimsOf(plain.id_token),
    claimsOf(plain.access_token),
    (await userinfo(app, plain.access_token)).body,
  ])
    ok(!('groups' in claims));
  const none = await tokensOf(app, client, bob, { scope: 'openid groups' });
  deepEqual(claimsOf(none.id_token).groups, []);

  await leave('board', alice);
  deepEqual((await userinfo(app, asked.access_token)).body.groups, ['staff'], 'read afresh');
  const { body } = await refresh(app, client, asked.refresh_token);
  deepEqual(claimsOf(body.access_token).groups, ['staff']);
  await join('board', alice);
});

test('restricted client: members sign in, others get access_denied, silently too', async () => {
  const tokens = await tokensOf(app, restricted, alice);
  equal((await introspect(app, tokens.access_token)).body.active, true);

  const agent = new Agent(app);
  const { response } = await agent.signIn(restricted.id, bob);
  deepEqual([response.get('error'), response.get('code')], ['access_denied', null]);
  match(response.get('error_description') ?? '', /this account may not sign in/);
  // Bob has a session now; no prompt of any kind makes a difference.
  const open = await app.register();
  ok((await agent.signIn(open.id, bob)).response.get('code'));
  for (const prompt of ['none', 'consent', undefined]) {
    const page = await agent.authorize(requestOf(restricted.id, prompt));
    const location = new URL(page.location ?? '', app.url);
    deepEqual(
      [location.searchParams.get('error'), location.searchParams.get('code')],
      ['access_denied', null],
    );
  }
  const grants = await app.store.collection(grantRecords).findBy('client', restricted.id);
  ok(!JSON.stringify(grants).includes(bob.id), 'nothing is left of it');
});

test('restricted client: another user can sign in by prompt=login', async () => {
  const agent = new Agent(app);
  const open = await app.register();
  await agent.signIn(open.id, bob);
  const page = await agent.authorize(requestOf(restricted.id, 'login'));
  equal(page.status, 200);
  ok(hiddenFields(page.body).csrf);
  const done = await agent.finish(page, { username: 'alice', password: PASSWORD });
  ok(done.searchParams.get('code'), done.href);
});

const requestOf = (clientId: string, prompt: string | undefined) => ({
  client_id: clientId,
  response_type: 'code',
  scope: 'openid',
  redirect_uri: 'https://rp.example/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  ...(prompt !== undefined && { prompt }),
});

test('user removed from the group: code, refresh token, access token and userinfo end', async () => {
  const eve = await app.createUser('eve');
  await join('staff', eve);
  const tokens = await tokensOf(app, restricted, eve);
  const authorization = await new Agent(app).signIn(restricted.id, eve);
  await leave('staff', eve);
  equal((await redeem(app, restricted, authorization)).body.error, 'invalid_grant');
  equal((await introspect(app, tokens.access_token)).body.active, false);
  equal((await introspect(app, tokens.refresh_token)).body.active, false);
  equal((await userinfo(app, tokens.access_token)).status, 401);
  const refused = await refresh(app, restricted, tokens.refresh_token);
  deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
});

test('client restricted later: users outside the group lose access', async () => {
  const client = await app.register();
  const tokens = await tokensOf(app, client, bob);
  equal((await app.admin('PATCH', `/clients/${client.id}`, { allowed_groups: [] })).status, 200);
  equal((await introspect(app, tokens.access_token)).body.active, false);
  equal((await refresh(app, client, tokens.refresh_token)).body.error, 'invalid_grant');
  equal(
    (await new Agent(app).signIn(client.id, alice)).response.get('error'),
    'access_denied',
    '[] is nobody',
  );
});

test('restricted client: the password grant', async () => {
  const old = await app.register({ grant_types: ['password'], allowed_groups: ['staff'] });
  const ask = (username: string) =>
    postForm(app, '/oauth2/token', {
      grant_type: 'password',
      username,
      password: PASSWORD,
      scope: 'openid groups',
      client_id: old.id,
      client_secret: old.secret,
    });
  const mine = await ask('alice');
  equal(mine.status, 200, mine.text);
  deepEqual(claimsOf(String(mine.body.id_token)).groups, ['board', 'staff']);
  const other = await ask('bob');
  deepEqual([other.status, other.body.error], [400, 'invalid_grant']);
});

test('restricted client: the device flow', async () => {
  const television = await app.register({
    client_name: 'Television',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: [DEVICE_GRANT],
    response_types: [],
    redirect_uris: [],
    allowed_groups: ['staff'],
  });
  const outcome = async (username: string) => {
    const { body: device } = await postForm(app, '/oauth2/device_authorization', {
      client_id: television.id,
      scope: 'openid',
    });
    const agent = new Agent(app);
    const typed = await agent.submit(await agent.get('/oauth2/device'), {
      user_code: String(device.user_code),
    });
    const asked = await agent.submit(typed, { confirm: 'yes' });
    const done = await agent.submit(asked, { username, password: PASSWORD });
    ok(done.status < 500);
    return postForm(app, '/oauth2/token', {
      grant_type: DEVICE_GRANT,
      device_code: String(device.device_code),
      client_id: television.id,
    });
  };
  equal((await outcome('alice')).status, 200);
  const refused = await outcome('bob');
  deepEqual([refused.status, refused.body.error], [400, 'access_denied']);
});

test('self-registration: cannot set allowed groups', async () => {
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const answer = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.body.data.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://rp.example/cb'], allowed_groups: ['none'] }),
  });
  deepEqual([answer.status, (await answer.text()).includes('allowed_groups')], [400, true]);
});
