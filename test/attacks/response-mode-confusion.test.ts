// Attack (JARM, decision 0028; RFC 9700 §4.4): signed responses where they have no business: asked for by applications that have none,
// by strangers who give them to themselves, taken for other tokens of ours, or unsigned where a signature was asked for.
//
// What the library does with its feature beside what this product wants (oidc-provider 9.13.3), and what holds it here:
// - registers `jwt`, `query.jwt`, `fragment.jwt`, `form_post.jwt` for every client (lib/helpers/initialize_app.js): `models/client.ts`;
// - answers errors in the mode of the request before it checks it (lib/shared/authorization_error_handler.js): `signed-responses.ts`;
// - knows `authorization_signed_response_alg` as metadata of every client, RS256 by default (lib/consts/client_attributes.js): not kept;
// - lets `response_modes` of a client name them (lib/helpers/client_schema.js): administrators alone;
// - announces the modes and algorithms (lib/actions/discovery.js): only while an application has them;
// - leaves `iss` out of the parameters, since the JWT has it (lib/actions/authorization/respond.js);
// - makes its own page for `form_post.jwt`, which ours replaces (lib/response_modes/form_post.js): the JWT alone is on it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import {
  basic,
  bearer,
  type Client,
  call,
  change,
  claimsOf,
  isActive,
  type Json,
  postForm,
  userinfo,
} from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const MODES = ['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'];
const ordinary = await app.register();
const signing = await app.register({ authorization_signed_response_alg: 'ES256' });
const alice = await app.createUser('alice');
const agent = new Agent(app);
await agent.signIn(ordinary.id, alice);

const authorize = (client: Client, more: Record<string, string>, browser = agent): Promise<Page> =>
  browser.authorize({ ...codeRequest(client.id), state: 's', ...more });

/** The answer is an error in the query, as where no such mode is known. */
function expectPlain(page: Page, error: string, what: string): void {
  ok(!page.body.includes('name="response"'), what);
  const url = new URL(page.location ?? 'none:');
  deepEqual([url.origin + url.pathname, url.hash], [REDIRECT_URI, ''], what);
  deepEqual([...url.searchParams.keys()].sort(), ['error', 'error_description', 'iss', 'state'], what);
  equal(url.searchParams.get('error'), error, what);
}

const ERRORS: readonly (readonly [string, Record<string, string>])[] = [
  ['nothing else', {}],
  ['a response type', { response_type: 'token' }],
  ['a registration', { registration: '{}' }],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
  ['a request by reference', { request_uri: 'https://rp.example/o' }],
  ['an unknown pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
];

for (const mode of MODES)
  test(`attack: ${mode} by an application that has no signed responses, with every early error`, async () => {
    for (const browser of [agent, new Agent(app)])
      for (const [what, more] of ERRORS) {
        const page = await authorize(ordinary, { response_mode: mode, ...more }, browser);
        const unknown = await authorize(ordinary, { response_mode: 'made-up', ...more }, browser);
        deepEqual([page.status, page.location, page.body], [303, unknown.location, unknown.body], what);
        ok(!/response=/.test(page.location ?? '') && /error=/.test(page.location ?? ''), what);
      }
    const fields = { ...codeRequest(ordinary.id), response_mode: mode };
    const pushed = await postForm(app, '/oauth2/par', fields, basic(ordinary));
    const made = await postForm(app, '/oauth2/par', { ...fields, response_mode: 'made-up' }, basic(ordinary));
    deepEqual([pushed.status, pushed.body.error], [400, 'unsupported_response_mode']);
    equal(pushed.text, made.text);
    for (const other of ['made-up', mode]) {
      const posted = await agent.post('/oauth2/authorize', { ...fields, state: 's', response_mode: other });
      expectPlain(posted, 'unsupported_response_mode', other);
    }
  });

test('attack: signed responses by a request object that is wrong, or right', async () => {
  await change(app, { legacy_profiles: true });
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const legacy = await app.register({
    profile: 'legacy',
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] },
  });
  const stranger = await generateKeyPair('ES256');
  const objectBy = (key: typeof privateKey, mode: string) =>
    new SignJWT({ ...codeRequest(legacy.id), state: 's', response_mode: mode })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(legacy.id)
      .setAudience(app.issuer)
      .sign(key);
  for (const mode of MODES) {
    const wrong = await authorize(legacy, { request: await objectBy(stranger.privateKey, mode) });
    expectPlain(wrong, 'invalid_request_object', `wrong, ${mode}`);
    const right = await authorize(legacy, { request: await objectBy(privateKey, mode) });
    expectPlain(right, 'unsupported_response_mode', `right, ${mode}`);
  }
  // With a token in a fragment, which a signed response in the query would put into logs.
  const fragments = await app.register({
    profile: 'legacy',
    authorization_signed_response_alg: 'ES256',
    grant_types: ['authorization_code', 'implicit'],
    response_types: ['code', 'id_token', 'code id_token'],
  });
  const more = { response_type: 'id_token', nonce: 'n' };
  const inQuery = await authorize(fragments, { ...more, response_mode: 'query.jwt' });
  ok(!/id_token=/.test(inQuery.location ?? ''), 'query.jwt');
  equal(claimsOf(responseIn(inQuery)).error, 'invalid_request');
  const { location = '' } = await authorize(fragments, { ...more, response_mode: 'jwt' });
  equal(new URL(location).search, '');
  const inside = claimsOf(new URLSearchParams(new URL(location).hash.slice(1)).get('response') ?? '');
  equal(claimsOf(String(inside.id_token)).nonce, 'n');
  await change(app, { legacy_profiles: false });
});

const responseIn = (page: Page): string => {
  const { search, hash } = new URL(page.location ?? 'none:');
  return new URLSearchParams(search || hash.slice(1)).get('response') ?? '';
};

test('attack: applications give signed responses to themselves', async () => {
  await change(app, { agents: true });
  const asked = { authorization_signed_response_alg: 'ES256' };
  const headers = { 'content-type': 'application/json' };
  const register = (members: Json, more: Record<string, string> = {}) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { ...headers, ...more },
      body: JSON.stringify({ client_name: 'A', redirect_uris: [REDIRECT_URI], ...members }),
    });
  const { body: token } = await app.admin('POST', '/initial-access-tokens', { label: 't', uses: 5 });
  for (const more of [{}, bearer(String(token.data.token))]) {
    // RFC 7591 §2: left out, and the answer says so.
    const made = await register(asked, more);
    deepEqual([made.status, made.body.authorization_signed_response_alg], [201, undefined]);
    for (const mode of MODES) equal((await register({ response_modes: [mode] }, more)).status, 400, mode);
    const id = String(made.body.client_id);
    const changed = await call(app, 'PUT', new URL(String(made.body.registration_client_uri)).pathname, {
      headers: { ...headers, ...bearer(String(made.body.registration_access_token)) },
      body: JSON.stringify({ client_id: id, client_name: 'A', redirect_uris: [REDIRECT_URI], ...asked }),
    });
    equal(changed.status, 200, changed.text);
    const { body } = await app.admin('GET', `/clients/${id}`);
    equal(body.data.authorization_signed_response_alg, null);
    for (const mode of MODES) {
      const page = await authorize({ id, secret: '' }, { response_mode: mode }, new Agent(app));
      ok(!/response=/.test(page.location ?? '') && !page.body.includes('name="response"'), mode);
    }
    if (made.body.token_endpoint_auth_method !== 'none') continue;
    // Nor does an administrator by mistake.
    const given = await app.admin('PATCH', `/clients/${id}`, asked);
    deepEqual([given.status, Object.keys(given.body.error?.fields ?? {})], [400, Object.keys(asked)]);
  }
  for (const alg of ['none', 'HS256', 'PS256', 'ES384', '', 1])
    equal(
      (await app.admin('PATCH', `/clients/${signing.id}`, { authorization_signed_response_alg: alg })).status,
      400,
    );
});

test('attack: a signed response as an ID token, a bearer, an assertion or another application’s', async () => {
  const page = await authorize(signing, { response_mode: 'jwt' });
  const jwt = responseIn(page);
  const { iss, aud, exp, code, sub, jti } = claimsOf(jwt);
  deepEqual([iss, aud, sub, jti, typeof code], [app.issuer, signing.id, undefined, undefined, 'string']);
  ok(Number(exp) * 1000 - Date.now() <= 120_000);
  equal((await userinfo(app, jwt)).status, 401);
  equal(await isActive(app, jwt), false);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(jwt) })).status, 401);
  const hinted = await authorize(signing, { id_token_hint: jwt, prompt: 'none' });
  match(hinted.location ?? '', /error=/);
  const bye = new URLSearchParams({ id_token_hint: jwt });
  const headers = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  await agent.get(`/oauth2/logout?${bye}`, { headers });
  ok((await agent.signIn(ordinary.id, alice, { prompt: 'none' })).code, 'still signed in');
  const token = await postForm(app, '/oauth2/token', {
    grant_type: 'authorization_code',
    code: jwt,
    redirect_uri: REDIRECT_URI,
    client_id: signing.id,
  });
  equal(token.status >= 400, true);
});

test('attack: the mode changed between the page and its submission, or beside a pushed request', async () => {
  const fresh = new Agent(app);
  const page = await authorize(signing, { response_mode: 'form_post.jwt' }, fresh);
  const done = await fresh.submit(page, { username: 'alice', password: PASSWORD, response_mode: 'query' });
  deepEqual(Object.keys(hiddenFields(done.body)), ['response']);
  const fields = { ...codeRequest(signing.id), response_mode: 'jwt' };
  const pushed = await postForm(app, '/oauth2/par', fields, basic(signing));
  const opened = await agent.authorize({
    client_id: signing.id,
    request_uri: String(pushed.body.request_uri),
    response_mode: 'query',
  });
  ok(!/[?&]code=/.test(opened.location ?? ''), opened.location);
});

test('attack: the address to return to is another’s; no response is signed for it', async () => {
  for (const mode of MODES) {
    const page = await authorize(signing, { response_mode: mode, redirect_uri: 'https://evil.example/' });
    deepEqual([page.status, page.location], [400, undefined], mode);
    ok(!/name="response"/.test(page.body), mode);
  }
});
