// The preview of tokens (GET /admin/api/clients/{client_id}/token-preview/{user_id} for a user, …/token-preview for the application
// itself, and the page "Scopes and claims"): the same as the real tokens, claim by claim, and the same refusals.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, hiddenFields, redeem } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';
import { createApi } from './api-support.ts';
import { basic, claimsOf, headerOf, type Json, postForm, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root-admin', { role: 'admin' });
const alice = await app.createUser('alice', {
  email: 'alice@acme.example',
  is_email_verified: true,
  given_name: 'Alice',
  family_name: 'Liddell',
});
await app.admin('POST', '/groups', { name: 'readers' });
await app.admin('POST', '/groups/readers/members', { user_id: alice.id });
const scope = 'openid profile email phone address roles groups offline_access';
const shop = await app.register({ client_name: 'Shop', scope });

/** @param userId '': of the application itself */
async function previewOf(clientId: string, fields: Record<string, string>, userId = alice.id): Promise<Json> {
  const whose = userId === '' ? '' : `/${userId}`;
  const path = `/clients/${clientId}/token-preview${whose}?${new URLSearchParams(fields)}`;
  const { status, body } = await app.admin('GET', path);
  equal(status, 200, JSON.stringify(body));
  return body.data;
}

const DIFFERS = '(differs in each token)';
const payloadOf = (token: unknown): Json => {
  const { payload }: { payload?: object } = { ...Object(token) };
  return { ...payload };
};

/** Everything that does not depend on the moment of a sign-in. */
const lasting = (claims: Json): Json =>
  Object.fromEntries(
    Object.entries(claims)
      .filter(([name]) => !['iat', 'nbf', 'exp', 'auth_time', 'nonce'].includes(name))
      .map(([name, value]) => [
        name,
        ['jti', 'sid', 'at_hash', 'session_state'].includes(name) ? DIFFERS : value,
      ])
      .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  );

async function assertSame(client: { id: string; secret: string }, fields: Record<string, string>) {
  const agent = new Agent(app);
  const signIn = await agent.signIn(client.id, alice, fields);
  const { body: tokens } = await redeem(app, client, signIn);
  const preview = await previewOf(client.id, fields);
  equal(preview.refusal, null);
  equal(preview.scope, tokens.scope);
  deepEqual(lasting(payloadOf(preview.access_token)), lasting(claimsOf(String(tokens.access_token))));
  deepEqual({ ...Object(preview.access_token) }.header, headerOf(String(tokens.access_token)));
  if (tokens.id_token === undefined) equal(preview.id_token, null);
  else {
    deepEqual(lasting(payloadOf(preview.id_token)), lasting(claimsOf(tokens.id_token)));
    deepEqual({ ...Object(preview.id_token) }.header, headerOf(tokens.id_token));
    const [real, shown] = [claimsOf(tokens.id_token), payloadOf(preview.id_token)];
    equal(Number(shown.exp) - Number(shown.iat), Number(real.exp) - Number(real.iat));
  }
  const answer = await userinfo(app, String(tokens.access_token));
  if (answer.status === 200) deepEqual(payloadOf(preview.userinfo), answer.body);
  else equal(preview.userinfo, null);
  return preview;
}

test('token preview: the same as real tokens and userinfo, by scope and setting', async () => {
  await assertSame(shop, { scope });
  const few = await assertSame(shop, { scope: 'openid email' });
  deepEqual(few.missing, []);
  await app.admin('PATCH', `/clients/${shop.id}`, { minimal_id_tokens: true });
  await assertSame(shop, { scope: 'openid profile email' });
  await app.admin('PATCH', `/clients/${shop.id}`, { minimal_id_tokens: false });
  const kept = await app.register({ scope, keycloak_tokens: true, access_token_audience: 'client_id' });
  await assertSame(kept, { scope: 'openid profile roles' });
  const elliptic = await app.register({ scope, id_token_signed_response_alg: 'ES256' });
  await assertSame(elliptic, { scope: 'openid profile' });
});

test('token preview: for an API, in its format, with its claims; opaque ones show nothing', async () => {
  const orders = await createApi(app, { name: 'Orders', claims: ['groups', 'profile'] });
  await assertSame(shop, { scope: 'openid read', resource: orders.identifier });
  const opaque = await createApi(app, {
    name: 'Opaque',
    identifier: 'https://opaque.example',
    access_token_format: 'opaque',
  });
  const hidden = await previewOf(shop.id, { scope: 'openid read', resource: opaque.identifier });
  deepEqual([hidden.access_token, hidden.is_opaque, hidden.userinfo], [null, true, null]);
  const bound = await createApi(app, {
    name: 'Bound',
    identifier: 'https://bound.example',
    require_dpop: true,
  });
  const proven = await previewOf(shop.id, { scope: 'openid read', resource: bound.identifier });
  ok({ ...Object(payloadOf(proven.access_token).cnf) }.jkt, JSON.stringify(proven));
});

test('token preview: of an application for devices, as its user’s real tokens', async () => {
  const device = await app.register({
    ...television,
    grant_types: [DEVICE_GRANT, 'refresh_token'],
    skip_consent: true,
    scope,
  });
  for (const wanted of ['openid profile groups offline_access', 'email']) {
    const started = await postForm(app, '/oauth2/device_authorization', {
      client_id: device.id,
      scope: wanted,
    });
    const agent = new Agent(app);
    const shown = await agent.get('/oauth2/device');
    const question = await agent.submit(shown, { user_code: String(started.body.user_code) });
    const signIn = await agent.submit(question, { confirm: 'yes' });
    await agent.submit(signIn, { username: 'alice', password: PASSWORD });
    const { status, body: tokens } = await postForm(app, '/oauth2/token', {
      grant_type: DEVICE_GRANT,
      device_code: String(started.body.device_code),
      client_id: device.id,
    });
    equal(status, 200, JSON.stringify(tokens));
    const preview = await previewOf(device.id, { scope: wanted });
    deepEqual([preview.refusal, preview.scope], [null, tokens.scope]);
    deepEqual(
      lasting(payloadOf(preview.access_token)),
      lasting(claimsOf(String(tokens.access_token))),
      wanted,
    );
    if (tokens.id_token === undefined) equal(preview.id_token, null);
    else deepEqual(lasting(payloadOf(preview.id_token)), lasting(claimsOf(String(tokens.id_token))));
  }
  const page = await (await signedInAdmin()).get(
    `/admin/applications/${device.id}/claims?asked=1&user=alice&scope=email`,
  );
  match(page.body, /alice@acme\.example/);
  doesNotMatch(page.body, /Preview for itself/);
});

test('token preview: of a machine, as its real token, at this server and at an API', async () => {
  const machine = await app.register({
    client_name: 'Nightly export',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'openid profile admin:read',
  });
  const machineGrants = { machine_grants: { [machine.id]: ['read'] } };
  const ledger = await createApi(app, { name: 'Ledger', ...machineGrants });
  const bound = await createApi(app, { name: 'Vault', require_dpop: true, ...machineGrants });
  const opaque = await createApi(app, { name: 'Box', access_token_format: 'opaque', ...machineGrants });
  const real = (fields: Record<string, string>) =>
    postForm(app, '/oauth2/token', { grant_type: 'client_credentials', ...fields }, basic(machine));
  for (const fields of [
    {},
    { scope: 'admin:read nonsense phone' },
    { resource: ledger.identifier },
    { resource: ledger.identifier, scope: 'read write' },
  ]) {
    const { status, body: tokens } = await real(fields);
    equal(status, 200, JSON.stringify(tokens));
    const preview = await previewOf(machine.id, fields, '');
    const said = JSON.stringify([fields, preview]);
    deepEqual([preview.refusal, preview.scope], [null, tokens.scope ?? ''], said);
    deepEqual(lasting(payloadOf(preview.access_token)), lasting(claimsOf(String(tokens.access_token))), said);
    deepEqual({ ...Object(preview.access_token) }.header, headerOf(String(tokens.access_token)));
    deepEqual([preview.id_token, preview.userinfo, preview.acr, preview.missing], [null, null, null, []]);
  }
  const left = await previewOf(machine.id, { scope: 'admin:read nonsense phone' }, '');
  deepEqual(left.scopes, [
    { name: 'admin:read', state: 'granted' },
    { name: 'nonsense', state: 'unknown' },
    { name: 'phone', state: 'application' },
  ]);
  const proven = await previewOf(machine.id, { resource: bound.identifier }, '');
  ok({ ...Object(payloadOf(proven.access_token).cnf) }.jkt, JSON.stringify(proven));
  const hidden = await previewOf(machine.id, { resource: opaque.identifier }, '');
  deepEqual([hidden.access_token, hidden.is_opaque, hidden.refusal], [null, true, null]);

  // The same refusals as at the token endpoint.
  for (const fields of [
    { resource: 'https://nowhere.example' },
    { scope: 'phone' },
    { resource: ledger.identifier, scope: 'write' },
  ]) {
    const { refusal } = await previewOf(machine.id, fields, '');
    equal({ ...Object(refusal) }.error, (await real(fields)).body.error, JSON.stringify(fields));
  }
  equal(Object((await previewOf(shop.id, {}, '')).refusal).error, 'unauthorized_client');

  const admin = await signedInAdmin();
  const path = `/admin/applications/${machine.id}/claims`;
  const page = await admin.get(path);
  match(page.body, /Preview for itself/);
  doesNotMatch(page.body, /Preview for a user|own-access-token/);
  const asked = new URLSearchParams({ itself: '1', resource: ledger.identifier });
  const shown = await admin.get(`${path}?${asked}`);
  match(shown.body, /Granted: <code>read<\/code>/);
  match(shown.body, /The application itself: it has no user/);
  doesNotMatch(shown.body, /name="scope" value="write"/);
  match((await admin.get(`${path}?itself=1`)).body, /Granted: no scope\./);
  const wrong = await admin.get(`${path}?itself=1&scope=phone&scope=admin%3Aread`);
  match(wrong.body, /Granted: <code>admin:read<\/code>/);
});

test('token preview: says why each claim is there, what is missing, and what is left out', async () => {
  const preview = await previewOf(shop.id, { scope: 'openid email phone admin nonsense' });
  const { claims }: { claims?: Json[] } = { ...Object(preview.id_token) };
  const of = (wanted: string) => claims?.find(({ name }) => name === wanted);
  deepEqual(of('email'), { name: 'email', from: 'scope', scope: 'email' });
  deepEqual(of('aud'), { name: 'aud', from: 'protocol', scope: null });
  deepEqual(of('acr'), { name: 'acr', from: 'sign_in', scope: null });
  deepEqual(preview.missing, [
    { claim: 'phone_number', scope: 'phone' },
    { claim: 'phone_number_verified', scope: 'phone' },
  ]);
  deepEqual(preview.scopes, [
    { name: 'openid', state: 'granted' },
    { name: 'email', state: 'granted' },
    { name: 'phone', state: 'granted' },
    { name: 'admin', state: 'application' },
    { name: 'nonsense', state: 'unknown' },
  ]);
});

test('token preview: refusals are the real ones', async () => {
  const refusalOf = async (clientId: string, fields: Record<string, string>, userId = alice.id) =>
    Object(Object(await previewOf(clientId, fields, userId)).refusal).error;
  equal(await refusalOf(shop.id, { scope: 'admin' }), 'invalid_scope');
  equal(await refusalOf(shop.id, { resource: 'https://nowhere.example' }), 'invalid_target');
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  equal(await refusalOf(machine.id, {}), 'unauthorized_client');
  const closed = await app.register({ client_name: 'Closed' });
  await app.admin('POST', '/groups', { name: 'few' });
  await app.admin('PATCH', `/clients/${closed.id}`, { allowed_groups: ['few'] });
  equal(await refusalOf(closed.id, { scope: 'openid' }), 'access_denied');
  await app.admin('PATCH', `/clients/${closed.id}`, { is_active: false });
  equal(await refusalOf(closed.id, { scope: 'openid' }), 'invalid_client');
  const gone = await app.createUser('gone');
  await app.admin('POST', `/users/${gone.id}/deactivate`);
  equal(await refusalOf(shop.id, {}, gone.id), 'access_denied');
  equal((await app.admin('GET', '/clients/nobody/token-preview/x')).status, 404);
  equal((await app.admin('GET', `/clients/${shop.id}/token-preview/x`)).status, 404);
});

async function signedInAdmin(): Promise<Agent> {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
  return admin;
}

test('scopes and claims: edited and previewed on the page, without scripts', async () => {
  const admin = await signedInAdmin();
  const path = `/admin/applications/${shop.id}/claims`;
  const page = await admin.get(path);
  equal(page.status, 200);
  match(page.body, /name="scope\.phone" checked/);
  const saved = await admin.post(path, {
    ...hiddenFields(page.body),
    'scope.profile': 'on',
    'scope.email': 'on',
    'scope.groups': 'on',
  });
  equal(saved.status, 303, saved.body);
  equal((await app.admin('GET', `/clients/${shop.id}`)).body.data.scope, 'openid profile email groups');
  // Another administrator saved meanwhile.
  const stale = await admin.post(path, { ...hiddenFields(page.body), 'scope.phone': 'on' });
  equal(stale.status, 412);
  match(stale.body, /was changed since you opened it/);

  const asked = await admin.get(`${path}?asked=1&user=lidd&scope=email&scope=phone`);
  match(asked.body, /alice@acme\.example/);
  match(asked.body, /From scope <code>email<\/code>/);
  match(asked.body, /<code>phone<\/code> is left out: the application may not ask for it/);
  match(asked.body, /Nothing is signed, stored or sent/);
  const nobody = await admin.get(`${path}?asked=1&user=nobody-like-that`);
  match(nobody.body, /Nobody is called/);
  await app.createUser('alina');
  const several = await admin.get(`${path}?asked=1&user=ali&scope=email`);
  match(several.body, /Who is “/);
  const [, href = ''] = /href="([^"]*user=Alice[^"]*)"/.exec(several.body) ?? [];
  match((await admin.get(href.replaceAll('&amp;', '&').replace(/#.*/, ''))).body, /alice@acme\.example/);
  doesNotMatch(several.body, /id="id-token"/);
});
