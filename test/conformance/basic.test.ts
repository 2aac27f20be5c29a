// What the modules of the OpenID Foundation's suite ask of a provider, one row per distinct behaviour: the plans Basic, Form Post
// Basic, RP-initiated logout. docs/conformance.md has the suite's own outcomes; it takes a quarter of an hour and its own server.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { change, claimsOf, postForm, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, refresh, requestTokens, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { require_pkce: false });
const scope = 'openid profile email address phone offline_access';
const BYE = 'https://rp.example/bye';
const client = await app.register({
  scope,
  skip_consent: true,
  minimal_id_tokens: true,
  post_logout_redirect_uris: [BYE],
});
const person = await app.createUser('connie', {
  email: 'connie@example.com',
  is_email_verified: true,
  given_name: 'Connie',
  phone_number: '+4915112345678',
  address: { locality: 'Berlin' },
});
/** As the suite asks: without PKCE, which the settings of a certified deployment allow to confidential applications. */
const plain = { ...codeRequest(client.id), code_challenge: undefined, code_challenge_method: undefined };
const ask = (agent: Agent, more: Record<string, string | undefined> = {}) =>
  agent.authorize({ ...plain, nonce: 'n', state: 's', ...more });
const answerIn = ({ location }: Page): URLSearchParams => new URL(location ?? 'about:blank').searchParams;

async function signedIn(): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn(client.id, person);
  return agent;
}
const exchange = (page: Page) =>
  requestTokens(app, client, {
    grant_type: 'authorization_code',
    code: answerIn(page).get('code') ?? '',
    redirect_uri: REDIRECT_URI,
  });

async function idTokenOf(page: Page) {
  const { status, body } = await exchange(page);
  equal(status, 200, JSON.stringify(body));
  return claimsOf(body.id_token);
}

for (const [module, more] of [
  ['ensure-request-without-nonce-succeeds-for-code-flow', { nonce: undefined }],
  ['ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
  ['ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
  ['login-hint', { login_hint: 'connie' }],
  ['ui-locales', { ui_locales: 'se xx' }],
  ['claims-locales', { claims_locales: 'se' }],
  ['display-page', { display: 'page' }],
  ['display-popup', { display: 'popup' }],
  ['prompt-none-logged-in', { prompt: 'none' }],
  ['max-age-10000', { max_age: '10000' }],
  ['ensure-request-with-valid-pkce-succeeds', codeRequest(client.id)],
] as const)
  test(`oidcc-${module}: the request succeeds in a session`, async () => {
    const page = await ask(await signedIn(), more);
    const { code = '', state, iss } = Object.fromEntries(answerIn(page));
    deepEqual([code !== '', state, iss], [true, 's', app.issuer], page.body.slice(0, 300));
    if (module.includes('pkce')) equal((await redeem(app, client, { code, verifier: VERIFIER })).status, 200);
    else ok((await idTokenOf(page)).sub);
  });

for (const [name, claims] of [
  ['profile', ['given_name']],
  ['email', ['email', 'email_verified']],
  ['address', ['address']],
  ['phone', ['phone_number']],
] as const)
  test(`oidcc-scope-${name}: userinfo has its claims, a minimal ID token none`, async () => {
    const tokens = await tokensOf(app, client, person, { scope: `openid ${name}` });
    const authorization = `Bearer ${tokens.access_token}`;
    const shown = await fetch(`${app.url}/oauth2/userinfo`, { headers: { authorization } });
    const info: Record<string, unknown> = JSON.parse(await shown.text());
    const id = claimsOf(tokens.id_token);
    for (const claim of claims) deepEqual([claim in info, claim in id], [true, false], claim);
  });

test('oidcc-userinfo-get, -post-header, -post-body: the same subject', async () => {
  const tokens = await tokensOf(app, client, person);
  const [url, authorization] = [`${app.url}/oauth2/userinfo`, `Bearer ${tokens.access_token}`];
  for (const init of [
    { headers: { authorization } },
    { method: 'POST', headers: { authorization } },
    { method: 'POST', body: new URLSearchParams({ access_token: tokens.access_token }) },
  ]) {
    const { sub }: { sub: string } = JSON.parse(await (await fetch(url, init)).text());
    equal(sub, claimsOf(tokens.id_token).sub);
  }
});

test('oidcc-prompt-login, -max-age-1: authenticated again, later', async () => {
  for (const more of [{ prompt: 'login' }, { max_age: '0' }]) {
    const agent = await signedIn();
    const page = await ask(agent, more);
    match(page.body, /name="password"/);
    const done = await agent.submit(page, { username: 'connie', password: PASSWORD });
    ok((await idTokenOf(done)).auth_time);
  }
});

test('oidcc-prompt-none-not-logged-in: login_required', async () => {
  equal(answerIn(await ask(new Agent(app), { prompt: 'none' })).get('error'), 'login_required');
});

test('oidcc-id-token-hint: the same user without a page', async () => {
  const agent = await signedIn();
  const hint = (await exchange(await ask(agent))).body.id_token;
  const again = await idTokenOf(await ask(agent, { prompt: 'none', id_token_hint: hint }));
  equal(again.sub, claimsOf(hint).sub);
});

test('oidcc-response-type-missing: an error, no code', async () => {
  const page = await ask(await signedIn(), { response_type: undefined });
  ok(page.status === 400 || answerIn(page).get('error') === 'invalid_request', page.body);
});

test('oidcc-ensure-registered-redirect-uri: a page here, no redirect', async () => {
  const page = await ask(await signedIn(), { redirect_uri: `${REDIRECT_URI}/other` });
  deepEqual([page.status, page.location], [400, undefined]);
});

test('oidcc-ensure-post-request-succeeds: the request by POST', async () => {
  const agent = await signedIn();
  const { code_challenge: _, code_challenge_method: __, ...fields } = plain;
  const page = await agent.post('/oauth2/authorize', { ...fields, nonce: 'n' });
  ok((await idTokenOf(await agent.follow(page))).sub);
});

test('oidcc-codereuse: refused, and what the first use gave is revoked', async () => {
  const page = await ask(await signedIn());
  const first = await exchange(page);
  const second = await exchange(page);
  deepEqual([first.status, second.status, second.body.error], [200, 400, 'invalid_grant']);
  const headers = { authorization: `Bearer ${first.body.access_token}` };
  equal((await fetch(`${app.url}/oauth2/userinfo`, { headers })).status, 401);
});

test('oidcc-server-client-secret-post: the secret in the form', async () => {
  const own = await app.register({ token_endpoint_auth_method: 'client_secret_post' });
  const { code, verifier } = await new Agent(app).signIn(own.id, person);
  const answer = await postForm(app, '/oauth2/token', {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
    client_id: own.id,
    client_secret: own.secret,
  });
  equal(answer.status, 200, answer.text);
});

test('oidcc-unsigned-request-object-supported-correctly-or-rejected: request_not_supported', async () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const request = `${part({ alg: 'none' })}.${part({ ...plain, state: 'inside' })}.`;
  const page = await ask(await signedIn(), { request });
  equal(answerIn(page).get('error'), 'request_not_supported');
  const form = await ask(await signedIn(), { request, response_mode: 'form_post' });
  match(form.body, /name="error" value="request_not_supported"/);
});

test('oidcc-claims-essential: the claim that was named is in userinfo', async () => {
  const claims = JSON.stringify({ userinfo: { given_name: { essential: true } } });
  const { body } = await exchange(await ask(await signedIn(), { claims }));
  const headers = { authorization: `Bearer ${body.access_token}` };
  const info: { given_name?: string } = JSON.parse(
    await (await fetch(`${app.url}/oauth2/userinfo`, { headers })).text(),
  );
  equal(info.given_name, 'Connie');
});

test('oidcc-refresh-token: a new access token by the refresh token, which is kept', async () => {
  const tokens = await tokensOf(app, client, person, { scope: 'openid offline_access' });
  const { status, body } = await refresh(app, client, tokens.refresh_token);
  equal(status, 200);
  ok(body.access_token !== tokens.access_token);
  equal(body.refresh_token, tokens.refresh_token);
});

test('oidcc-server (Form Post): the answer is a form for the redirect URI', async () => {
  const page = await ask(await signedIn(), { response_mode: 'form_post' });
  match(page.body, new RegExp(`<form[^>]*action="${REDIRECT_URI}"`));
  match(page.body, /name="code" value="[^"]+"/);
});

test('oidcc-rp-initiated-logout: to the registered address with state, else a page here', async () => {
  async function leave(query: Record<string, string>, isHinted = true): Promise<Page> {
    const agent = await signedIn();
    const hint = (await exchange(await ask(agent))).body.id_token;
    return agent.get(
      `/oauth2/logout?${new URLSearchParams({ ...query, ...(isHinted && { id_token_hint: hint }) })}`,
    );
  }
  const right = { post_logout_redirect_uri: BYE, state: 's' };
  for (const wrong of [`${BYE}/other`, `${BYE}?foo=bar`]) {
    const page = await leave({ ...right, post_logout_redirect_uri: wrong });
    deepEqual([page.status, page.location], [400, undefined], wrong);
    match(page.body, /<h1[^>]*>You’re signed out<\/h1>[\s\S]*not registered/);
  }
  equal((await leave(right, false)).location, undefined, 'without a hint the user is asked');
  equal((await leave(right)).location, `${BYE}?state=s`);
});

test('oidcc-discovery-endpoint-verification: what the plan Config reads', async () => {
  const document: Record<string, unknown> = JSON.parse(
    await (await fetch(`${app.url}/oauth2/.well-known/openid-configuration`)).text(),
  );
  equal(document.issuer, app.issuer);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    ok(String(document[name]).startsWith(app.url), name);
  ok(Array.isArray(document.response_types_supported) && document.response_types_supported.includes('code'));
});
