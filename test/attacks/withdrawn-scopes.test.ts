// What was withdrawn from a client or an account must not survive in earlier tokens: scopes, grant types, redirect URIs, the
// client itself (decisions 0003 and 0009). A token is worth the intersection of its own grant and what client and
// account may have now, at refresh, introspection, userinfo and both APIs.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { basic, bearer, type Client, call, introspect, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, challengeOf, codeRequest, redeem, refresh, requestTokens } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
const root = await app.createUser('root', { role: 'admin' });
const MACHINE = { grant_types: ['client_credentials'], redirect_uris: [] };

async function change(client: Client, members: Record<string, unknown>): Promise<void> {
  const { status, body } = await app.admin('PATCH', `/clients/${client.id}`, members);
  equal(status, 200, JSON.stringify(body));
}

const own = (client: Client, scope?: string) =>
  requestTokens(app, client, { grant_type: 'client_credentials', ...(scope && { scope }) });
const apiStatus = async (token: string, path = '/admin/api/users'): Promise<number> =>
  (await call(app, 'GET', path, { headers: bearer(token) })).status;
const inactive = async (token: string, what: string): Promise<void> =>
  equal((await introspect(app, token)).text, '{"active":false}', what);

test('scope withdrawn from a client: its access and refresh tokens no longer carry it', async () => {
  const client = await app.register({ scope: 'openid profile email' });
  const tokens = await tokensOf(app, client, alice, { scope: 'openid profile email' });
  ok((await userinfo(app, tokens.access_token)).body.email);
  await change(client, { scope: 'openid profile' });
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    equal((await introspect(app, token)).body.scope, 'openid profile');
    equal((await introspect(app, token, basic(client))).body.scope, 'openid profile');
  }
  equal((await userinfo(app, tokens.access_token)).body.email, undefined);
  const { status, body } = await refresh(app, client, tokens.refresh_token);
  deepEqual([status, body.scope], [200, 'openid profile']);
  equal((await userinfo(app, body.access_token)).body.email, undefined);
  // Given back, it is worth what it was given: nothing was lost for good.
  await change(client, { scope: 'openid profile email' });
  equal((await introspect(app, body.refresh_token)).body.scope, 'openid profile email');
});

test('scopes openid and account withdrawn: userinfo and the account API refuse the token', async () => {
  const client = await app.register({ scope: 'openid profile account' });
  const { access_token: token } = await tokensOf(app, client, alice, { scope: 'openid profile account' });
  equal(await apiStatus(token, '/account/api/profile'), 200);
  await change(client, { scope: 'profile' });
  const refused = await userinfo(app, token);
  deepEqual([refused.status, refused.body.error], [403, 'insufficient_scope']);
  equal(await apiStatus(token, '/account/api/profile'), 403);
  equal((await introspect(app, token)).body.scope, 'profile');
});

test('all scopes withdrawn: tokens are inactive, and a refresh uses nothing up', async () => {
  const client = await app.register({ scope: 'openid email' });
  const tokens = await tokensOf(app, client, alice, { scope: 'openid email' });
  await change(client, { scope: 'phone' });
  await inactive(tokens.access_token, 'access token');
  await inactive(tokens.refresh_token, 'refresh token');
  equal((await userinfo(app, tokens.access_token)).status, 401);
  const refused = await refresh(app, client, tokens.refresh_token);
  deepEqual([refused.status, refused.body.error], [400, 'invalid_scope']);
  await change(client, { scope: 'openid email' });
  equal((await refresh(app, client, tokens.refresh_token)).status, 200);
});

test('scope admin withdrawn from a client: its own and its administrators’ tokens end', async () => {
  const machine = await app.register({ ...MACHINE, scope: 'openid admin' });
  const both = (await own(machine, 'openid admin')).body.access_token;
  const alone = (await own(machine, 'admin')).body.access_token;
  const app2 = await app.register({ scope: 'openid admin' });
  const person = (await tokensOf(app, app2, root, { scope: 'openid admin' })).access_token;
  for (const token of [both, alone, person]) equal(await apiStatus(token), 200);
  await change(machine, { scope: 'openid admin:read' });
  await change(app2, { scope: 'openid' });
  equal(await apiStatus(both), 403);
  equal(await apiStatus(alone), 401, 'nothing is left of it');
  equal(await apiStatus(person), 403);
  await inactive(alone, 'client credentials');
  equal((await introspect(app, both)).body.scope, 'openid');
  equal((await introspect(app, 'x', bearer(both))).status, 403, 'nor does it open introspection');
});

test('grant type withdrawn from a client: tokens from it are inactive', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    scope: 'openid admin',
  });
  const ownToken = (await own(machine, 'admin')).body.access_token;
  const tokens = await tokensOf(app, machine, alice, { scope: 'openid' });
  await change(machine, { grant_types: ['authorization_code'] });
  await inactive(ownToken, 'client_credentials');
  equal(await apiStatus(ownToken), 401);
  await inactive(tokens.refresh_token, 'refresh_token');
  equal((await introspect(app, tokens.access_token)).body.active, true, 'a code may still be redeemed');
  await change(machine, { grant_types: ['client_credentials'], redirect_uris: [] });
  await inactive(tokens.access_token, 'authorization_code');
  equal((await userinfo(app, tokens.access_token)).status, 401);
});

test('password grant withdrawn: its tokens are inactive, its refresh tokens refused', async () => {
  const client = await app.register({
    grant_types: ['password', 'refresh_token'],
    redirect_uris: [],
    scope: 'openid',
  });
  const { status, body } = await requestTokens(app, client, {
    grant_type: 'password',
    username: 'alice',
    password: PASSWORD,
    scope: 'openid',
  });
  equal(status, 200, JSON.stringify(body));
  await change(client, {
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [REDIRECT_URI],
  });
  await inactive(body.access_token, 'access token');
  await inactive(body.refresh_token, 'refresh token');
  const refused = await refresh(app, client, body.refresh_token);
  deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
});

test('scope withdrawn between authorization and token: the code grants the rest', async () => {
  const client = await app.register({ scope: 'openid email admin' });
  const authorization = await new Agent(app).signIn(client.id, root, { scope: 'openid email admin' });
  await change(client, { scope: 'openid' });
  const { status, body } = await redeem(app, client, authorization);
  deepEqual([status, body.scope], [200, 'openid']);
  equal(await apiStatus(body.access_token), 403);
  // Given back later, the refresh token was never given more than that.
  await change(client, { scope: 'openid email admin' });
  equal((await refresh(app, client, body.refresh_token)).body.scope, 'openid');
});

test('redirect URI withdrawn after authorization: the code is refused', async () => {
  const client = await app.register();
  const authorization = await new Agent(app).signIn(client.id, alice);
  await change(client, { redirect_uris: ['https://new.example/callback'] });
  const refused = await redeem(app, client, authorization);
  deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
});

test('redirect URI withdrawn during the sign-in: no code is sent there', async () => {
  const client = await app.register();
  const agent = new Agent(app);
  const login = await agent.authorize({
    ...codeRequest(client.id),
  });
  await change(client, { redirect_uris: ['https://new.example/callback'] });
  const page = await agent.submit(login, { username: 'alice', password: PASSWORD });
  deepEqual([page.status, page.location], [400, undefined]);
});

test('redirect URI withdrawn during the sign-in: no denial is sent there either', async () => {
  for (const mode of ['query', 'form_post']) {
    for (const isConsent of [false, true]) {
      const what = `${mode}, ${isConsent ? 'consent' : 'sign-in'}`;
      const client = await app.register({ skip_consent: false });
      const agent = new Agent(app);
      const login = await agent.authorize({
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        response_mode: mode,
        scope: 'openid',
        state: 'state-of-the-application',
        code_challenge: challengeOf('v'.repeat(43)),
        code_challenge_method: 'S256',
      });
      const page = isConsent ? await agent.submit(login, { username: 'alice', password: PASSWORD }) : login;
      await change(client, { redirect_uris: ['https://new.example/callback'] });
      const denied = await agent.submit(page, { action: isConsent ? 'deny' : 'cancel' });
      deepEqual([denied.status, denied.location], [400, undefined], what);
      // The page names the address to whoever builds the application, and leads no one there.
      match(denied.body, /<h1/, what);
      ok(!/(?:href|action)="https:\/\/rp\.example/.test(denied.body), what);
      ok(!denied.body.includes('state-of-the-application'), what);
    }
  }
});

test('client deactivated between authorization and token: the code stays refused', async () => {
  const client = await app.register();
  const authorization = await new Agent(app).signIn(client.id, alice);
  await change(client, { is_active: false });
  equal((await redeem(app, client, authorization)).body.error, 'invalid_client');
  await change(client, { is_active: true });
  equal((await redeem(app, client, authorization)).body.error, 'invalid_grant');
});

test('role removed: no token of that user opens the admin API', async () => {
  const client = await app.register({ scope: 'openid admin' });
  const boss = await app.createUser('boss', { role: 'admin' });
  const tokens = await tokensOf(app, client, boss, { scope: 'openid admin' });
  equal(await apiStatus(tokens.access_token), 200);
  equal((await app.admin('PATCH', `/users/${boss.id}`, { role: 'user' })).status, 200);
  equal(await apiStatus(tokens.access_token), 401);
  const again = await tokensOf(app, client, boss, { scope: 'openid admin' });
  equal(again.scope, 'openid');
});

test('refresh: scopes never granted are ignored; none left is invalid_scope and uses nothing up', async () => {
  const client = await app.register({ scope: 'openid profile email admin' });
  const first = await tokensOf(app, client, alice, { scope: 'openid email' });
  const ask = (token: string, scope: string) =>
    requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: token, scope });
  for (const scope of ['admin', 'profile', 'made-up', 'profile admin']) {
    const { status, body } = await ask(first.refresh_token, scope);
    deepEqual([status, body.error], [400, 'invalid_scope'], scope);
  }
  const { status, body } = await ask(first.refresh_token, 'openid admin made-up profile');
  deepEqual([status, body.scope], [200, 'openid']);
});

test('client credentials: scopes not allowed or unknown are left out of the token', async () => {
  const machine = await app.register({ ...MACHINE, scope: 'email' });
  const { status, body } = await own(machine, 'made-up email admin');
  deepEqual([status, body.scope], [200, 'email']);
  for (const scope of ['made-up', 'admin', 'made-up admin']) {
    const refused = await own(machine, scope);
    deepEqual([refused.status, refused.body.error], [400, 'invalid_scope'], scope);
  }
  match(String((await own(machine)).body.access_token), /^ey/);
});
