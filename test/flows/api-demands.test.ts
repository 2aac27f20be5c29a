// What an API demands of whoever gets a token for it: `required_acr`, `max_auth_age` (RFC 9470), `require_dpop` (RFC 9449); and an
// application's default API.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, type Page, requestTokens, type Tokens, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { proofKey, proofOf } from '../support/dpop.ts';
import { createApi, seenBy } from './api-support.ts';
import { basic, type Client, claimsOf, type Json, later, postForm, userinfo } from './support.ts';

const ACR = 'urn:latchkey:acr:';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const TOKEN = '/oauth2/token';
const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const scope = 'openid profile offline_access';
const grant_types = ['authorization_code', 'refresh_token', DEVICE];
const own = await app.register({ scope, grant_types });
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'openid',
});
const plain = await createApi(app, { clients: [own.id] });
const strict = await createApi(app, { clients: [own.id], required_acr: `${ACR}multi-factor` });
const recent = await createApi(app, { clients: [own.id], max_auth_age: 60 });
const bound = await createApi(app, {
  clients: [own.id],
  require_dpop: true,
  machine_grants: { [machine.id]: ['read'] },
});
const key = await proofKey();

const answerOf = (page: Page): URLSearchParams => new URL(page.location ?? 'about:blank').searchParams;
const authorize = (agent: Agent, more: Record<string, string>, by: Client = own): Promise<Page> =>
  agent.authorize({ ...codeRequest(by.id), scope: 'openid read offline_access', ...more });
async function signedIn(): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn(own.id, alice);
  return agent;
}
async function codeFor(more: Record<string, string>, by: Client = own): Promise<Record<string, string>> {
  const page = await authorize(await signedIn(), more, by);
  const code = answerOf(page).get('code');
  ok(code, `${page.location} ${page.body.slice(0, 300)}`);
  return { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT_URI };
}
const refusal = ({ status, body }: { status: number; body: Json | Tokens['body'] }) => [status, body.error];
const ask = async (fields: Record<string, string>, by: Client, isProved = false) =>
  postForm(app, TOKEN, fields, {
    ...basic(by),
    ...(isProved && { DPoP: await proofOf(key, 'POST', `${app.url}${TOKEN}`) }),
  });

test('required_acr of an API: a session with one factor steps up for it, not for another', async () => {
  const agent = await signedIn();
  ok(answerOf(await authorize(agent, { resource: plain.identifier })).has('code'));
  for (const named of [
    { resource: strict.identifier },
    { audience: strict.identifier },
    { scope: `openid ${strict.identifier}/read` },
    { resource: strict.identifier, acr_values: `${ACR}single-factor` },
  ]) {
    equal(answerOf(await authorize(agent, named)).has('code'), false);
    const silent = answerOf(await authorize(agent, { ...named, prompt: 'none' }));
    deepEqual([silent.has('code'), silent.has('error')], [false, true]);
  }
  const stranger = new Agent(app);
  const login = await authorize(stranger, { resource: strict.identifier });
  const page = await stranger.submit(login, { username: 'alice', password: PASSWORD });
  ok(page.body.includes('data:image/png;base64'), 'a second factor is enrolled');
});

test('attack: an application pushes a request for an API to get around its required_acr', async () => {
  const { client_id, ...rest } = codeRequest(own.id);
  const fields = { client_id, client_secret: own.secret, ...rest, scope: 'read' };
  const { status, body } = await postForm(app, '/oauth2/par', { ...fields, resource: strict.identifier });
  equal(status, 201);
  const page = await (await signedIn()).authorize({ client_id, request_uri: String(body.request_uri) });
  equal(answerOf(page).has('code'), false);
});

test('max_auth_age of an API: an older sign-in is repeated, also where the request allows it', async () => {
  const agent = await signedIn();
  ok(answerOf(await authorize(agent, { resource: recent.identifier })).has('code'));
  await later(61_000, async () => {
    ok(answerOf(await authorize(agent, { resource: plain.identifier })).has('code'));
    for (const more of [{}, { max_age: '86400' }]) {
      const page = await authorize(agent, { resource: recent.identifier, ...more });
      ok(page.body.includes('name="password"'), page.body);
    }
    const silent = await authorize(agent, { resource: recent.identifier, prompt: 'none' });
    equal(answerOf(silent).get('error'), 'login_required');
  });
});

test('attack: codes and refresh tokens from before a required_acr of the API go on below it', async () => {
  const api = await createApi(app, { clients: [own.id] });
  const { refresh_token } = (await requestTokens(app, own, await codeFor({ resource: api.identifier }))).body;
  const code = await codeFor({ resource: api.identifier });
  const refreshing = { grant_type: 'refresh_token', refresh_token: refresh_token ?? '' };
  await api.patch({ required_acr: `${ACR}multi-factor` });
  for (const fields of [code, refreshing]) deepEqual(refusal(await ask(fields, own)), [400, 'invalid_grant']);
  // Nothing is used up: the administrator can take it back.
  await api.patch({ required_acr: null });
  for (const fields of [code, refreshing]) equal((await ask(fields, own)).status, 200);
});

test('attack: a device approved with one factor gets a token for an API that demands two', async () => {
  const api = await createApi(app, { clients: [own.id] });
  const started = await postForm(
    app,
    '/oauth2/device_authorization',
    { scope: 'read', resource: api.identifier },
    basic(own),
  );
  const agent = await signedIn();
  const form = await agent.get('/oauth2/device');
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(form.body)?.[1] ?? '';
  const confirm = await agent.post('/oauth2/device', { xsrf, user_code: String(started.body.user_code) });
  await agent.submit(confirm, { confirm: 'yes' });
  await api.patch({ required_acr: `${ACR}multi-factor` });
  const device_code = String(started.body.device_code);
  deepEqual(refusal(await ask({ grant_type: DEVICE, device_code }, own)), [400, 'invalid_grant']);
});

test('require_dpop of an API: no token without a proof; with one it is bound to its key', async () => {
  const code = await codeFor({ resource: bound.identifier });
  const without = await ask(code, own);
  deepEqual(refusal(without), [400, 'invalid_dpop_proof']);
  match(String(without.body.error_description), /requires a DPoP proof/);
  const { status, body, text } = await ask(code, own, true);
  equal(status, 200, text);
  equal(body.token_type, 'DPoP');
  deepEqual(claimsOf(String(body.access_token)).cnf, { jkt: key.thumbprint });
  deepEqual((await seenBy(app, bound, String(body.access_token))).cnf, { jkt: key.thumbprint });
  const refreshing = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
  deepEqual(refusal(await ask(refreshing, own)), [400, 'invalid_dpop_proof']);
  equal((await ask(refreshing, own, true)).status, 200);
});

test('require_dpop of an API: machines and garbage instead of a proof', async () => {
  for (const named of [{ resource: bound.identifier }, { scope: `${bound.identifier}/.default` }]) {
    const fields = { grant_type: 'client_credentials', ...named };
    deepEqual(refusal(await ask(fields, machine)), [400, 'invalid_dpop_proof']);
    const garbage = await postForm(app, TOKEN, fields, { ...basic(machine), DPoP: 'x' });
    deepEqual(refusal(garbage), [400, 'invalid_dpop_proof']);
    const { body } = await ask(fields, machine, true);
    deepEqual([body.token_type, claimsOf(String(body.access_token)).cnf], ['DPoP', { jkt: key.thumbprint }]);
  }
});

test('default API: a request without resource gets its token, with openid one for userinfo', async () => {
  const client = await app.register({ scope, grant_types });
  const api = await createApi(app, { clients: [client.id], required_acr: `${ACR}single-factor` });
  await app.admin('PATCH', `/clients/${client.id}`, { default_resource: api.identifier });
  const tokens = await ask(await codeFor({ scope: 'read' }, client), client);
  deepEqual([tokens.status, claimsOf(String(tokens.body.access_token)).aud], [200, api.identifier]);
  const ours = await ask(await codeFor({ scope: 'openid' }, client), client);
  equal((await userinfo(app, String(ours.body.access_token))).status, 200);
});

test('attack: wrong passwords with new DPoP proofs, to fill the store', async () => {
  const program = await app.register({ grant_types: ['password'], scope: 'openid', redirect_uris: [] });
  const proof = await proofOf(key, 'POST', `${app.url}${TOKEN}`);
  const attempt = (password: string) =>
    postForm(
      app,
      TOKEN,
      { grant_type: 'password', username: 'alice', password },
      { ...basic(program), DPoP: proof },
    );
  deepEqual(refusal(await attempt('not the password')), [400, 'invalid_grant']);
  // The proof was not stored as used; with the password it is, and then it is one of before.
  equal((await attempt(PASSWORD)).status, 200);
  deepEqual(refusal(await attempt(PASSWORD)), [400, 'invalid_grant']);
});

test('demands of an API: shown, kept by PATCH, gone by PUT, other values refused by name', async () => {
  const api = await createApi(app);
  const path = `/resources/${api.id}`;
  const demands = { required_acr: `${ACR}email-code`, max_auth_age: 300, require_dpop: true };
  await api.patch(demands);
  await api.patch({ name: 'Renamed' });
  const { data } = (await app.admin('GET', path)).body;
  deepEqual([data.required_acr, data.max_auth_age, data.require_dpop], Object.values(demands));
  const put = (await app.admin('PUT', path, { name: 'Renamed', scopes: [] })).body.data;
  deepEqual([put.required_acr, put.max_auth_age, put.require_dpop], [null, null, false]);
  for (const fields of [{ required_acr: 'gold' }, { max_auth_age: 1 }, { require_dpop: 'yes' }]) {
    const { status, body } = await app.admin('PATCH', path, fields);
    equal(status, 400);
    match(JSON.stringify(body), new RegExp(`"${Object.keys(fields)[0]}"`));
  }
});
