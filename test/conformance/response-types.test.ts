// The plans Implicit, Hybrid and their Form Post twins of the OpenID Foundation's suite, one row per distinct behaviour, for each
// response type beyond `code` in both response modes. The legacy profile's own rules are in test/flows and test/attacks.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { call, change, claimsOf, postForm, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields, type Page, refresh, requestTokens } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { require_pkce: false, legacy_profiles: true });
const TYPES = ['id_token', 'id_token token', 'code id_token', 'code token', 'code id_token token'] as const;
const client = await app.register({
  profile: 'legacy',
  response_types: ['code', ...TYPES],
  scope: 'openid profile email offline_access',
  skip_consent: true,
  minimal_id_tokens: true,
});
const person = await app.createUser('connie', { email: 'connie@example.com', given_name: 'Connie' });
const keys = createLocalJWKSet(JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text));

type Asked = Record<string, string | undefined>;
const ask = (agent: Agent, type: string, more: Asked = {}, id = client.id): Promise<Page> =>
  agent.authorize({
    ...codeRequest(id),
    code_challenge: undefined,
    code_challenge_method: undefined,
    response_type: type,
    nonce: 'n',
    state: 's',
    ...more,
  });

/** In the fragment, or in the form that the browser sends on. */
function answerIn({ location, body }: Page): Record<string, string> {
  if (location === undefined) return hiddenFields(body);
  return Object.fromEntries(new URLSearchParams(new URL(location).hash.slice(1)));
}

async function signedIn(id = client.id): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn(id, person);
  return agent;
}

const exchange = (code = '') =>
  requestTokens(app, client, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });

const halfHash = (value: string | undefined): string | undefined =>
  value && createHash('sha256').update(value).digest().subarray(0, 16).toString('base64url');

for (const type of TYPES) {
  const words = type.split(' ');
  const [hasCode, hasToken, hasIdToken] = ['code', 'token', 'id_token'].map((word) => words.includes(word));

  for (const mode of ['fragment', 'form_post'])
    test(`oidcc-server, -idtoken-signature: ${type} by ${mode}`, async () => {
      const page = await ask(await signedIn(), type, { response_mode: mode });
      equal(page.location === undefined, mode === 'form_post');
      if (mode === 'form_post') match(page.body, new RegExp(`<form[^>]*action="${REDIRECT_URI}"`));
      const { code, access_token: token, id_token: idToken, state, token_type: kind } = answerIn(page);
      deepEqual([code, token, idToken].map(Boolean), [hasCode, hasToken, hasIdToken]);
      deepEqual([state, kind], ['s', hasToken ? 'Bearer' : undefined]);
      if (idToken === undefined) return;
      const expected = { issuer: app.issuer, audience: client.id, algorithms: ['RS256'] };
      const { payload } = await jwtVerify(idToken, keys, expected);
      deepEqual(
        [payload.sub, payload.nonce, payload.at_hash, payload.c_hash],
        [person.id, 'n', halfHash(token), halfHash(code)],
      );
    });

  for (const [module, more] of [
    ['prompt-none-logged-in', { prompt: 'none' }],
    ['max-age-10000', { max_age: '10000' }],
    ['ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['login-hint', { login_hint: 'connie' }],
    ['ui-locales', { ui_locales: 'se xx' }],
    ['display-popup', { display: 'popup' }],
  ] as const)
    test(`oidcc-${module}: ${type} succeeds in a session`, async () => {
      const answer = answerIn(await ask(await signedIn(), type, more));
      deepEqual([answer.error, answer.state, answer.iss], [undefined, 's', app.issuer]);
      if (module === 'max-age-10000') {
        const idToken = answer.id_token ?? (await exchange(answer.code)).body.id_token;
        equal(typeof claimsOf(idToken).auth_time, 'number');
      }
    });

  test(`oidcc-prompt-login, -max-age-1: ${type} authenticates again`, async () => {
    for (const more of [{ prompt: 'login' }, { max_age: '0' }]) {
      const agent = await signedIn();
      const page = await ask(agent, type, more);
      match(page.body, /name="password"/);
      const done = answerIn(await agent.submit(page, { username: 'connie', password: PASSWORD }));
      ok(done.code ?? done.id_token);
    }
  });

  test(`oidcc-prompt-none-not-logged-in: ${type} gets login_required where it asked for it`, async () => {
    for (const response_mode of ['fragment', 'form_post']) {
      const page = await ask(new Agent(app), type, { prompt: 'none', response_mode });
      equal(page.location === undefined, response_mode === 'form_post');
      deepEqual([answerIn(page).error, answerIn(page).state], ['login_required', 's']);
    }
  });

  test(`oidcc-ensure-post-request-succeeds: ${type} by POST`, async () => {
    const agent = await signedIn();
    const { code_challenge: _, code_challenge_method: __, ...fields } = codeRequest(client.id);
    const page = await agent.post('/oauth2/authorize', { ...fields, response_type: type, nonce: 'n' });
    const answer = answerIn(await agent.follow(page));
    deepEqual([Boolean(answer.code), Boolean(answer.access_token)], [hasCode, hasToken]);
  });

  if (hasIdToken)
    test(`oidcc-ensure-request-without-nonce-fails: ${type}`, async () => {
      for (const response_mode of ['fragment', 'form_post']) {
        const answer = answerIn(await ask(await signedIn(), type, { nonce: undefined, response_mode }));
        deepEqual(Object.keys(answer).sort(), ['error', 'error_description', 'iss', 'state']);
        equal(answer.error, 'invalid_request');
      }
    });
  else
    test(`oidcc-ensure-request-without-nonce-succeeds-for-code-flow: ${type}`, async () => {
      const answer = answerIn(await ask(await signedIn(), type, { nonce: undefined }));
      deepEqual([Boolean(answer.code), Boolean(answer.access_token)], [hasCode, hasToken]);
    });

  if (hasToken)
    test(`oidcc-userinfo-get, -post-header, -post-body, -scope-profile: the token of ${type}`, async () => {
      const { access_token: token = '' } = answerIn(
        await ask(await signedIn(), type, { scope: 'openid profile' }),
      );
      for (const { body } of [
        await userinfo(app, token),
        await postForm(app, '/oauth2/userinfo', {}, { authorization: `Bearer ${token}` }),
        await postForm(app, '/oauth2/userinfo', { access_token: token }),
      ])
        deepEqual([body.sub, body.given_name], [person.id, 'Connie']);
    });

  if (hasCode) {
    test(`oidcc-codereuse: the code of ${type} is used once, and with it the rest ends`, async () => {
      const { code, id_token: first } = answerIn(await ask(await signedIn(), type));
      const { status, body } = await exchange(code);
      deepEqual([status, claimsOf(body.id_token).sub], [200, person.id]);
      if (first !== undefined) equal(claimsOf(first).iss, claimsOf(body.id_token).iss);
      const again = await exchange(code);
      deepEqual([again.status, again.body.error], [400, 'invalid_grant']);
      equal((await userinfo(app, body.access_token)).status, 401);
    });

    test(`oidcc-refresh-token: ${type} with offline_access`, async () => {
      const asked = { scope: 'openid offline_access', prompt: 'consent' };
      const agent = await signedIn();
      const first = await ask(agent, type, asked);
      const page = first.location === undefined ? await agent.submit(first, { action: 'allow' }) : first;
      const { body } = await exchange(answerIn(page).code);
      const renewed = await refresh(app, client, body.refresh_token);
      equal(renewed.status, 200);
      notEqual(renewed.body.access_token, body.access_token);
    });

    test(`oidcc-server-client-secret-post: the code of ${type}`, async () => {
      const metadata = { profile: 'legacy', response_types: ['code', type], skip_consent: true };
      const own = await app.register({ ...metadata, token_endpoint_auth_method: 'client_secret_post' });
      const { code = '' } = answerIn(await ask(await signedIn(own.id), type, {}, own.id));
      const answer = await postForm(app, '/oauth2/token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        client_id: own.id,
        client_secret: own.secret,
      });
      equal(answer.status, 200, answer.text);
    });
  }
}

test('oidcc-scope-email: an ID token alone has the claims, one beside a token has not', async () => {
  for (const [type, isInside] of [
    ['id_token', true],
    ['id_token token', false],
    ['code id_token', false],
  ] as const) {
    const { id_token: idToken = '' } = answerIn(await ask(await signedIn(), type, { scope: 'openid email' }));
    equal('email' in claimsOf(idToken), isInside, type);
  }
});

test('oidcc-id-token-hint: the same user without a page', async () => {
  const agent = await signedIn();
  const { id_token: hint } = answerIn(await ask(agent, 'id_token'));
  const again = answerIn(await ask(agent, 'id_token', { prompt: 'none', id_token_hint: hint }));
  equal(claimsOf(again.id_token ?? '').sub, person.id);
});

test('oidcc-ensure-registered-redirect-uri, -response-type-missing: nothing in a fragment', async () => {
  const agent = await signedIn();
  const other = await ask(agent, 'id_token token', { redirect_uri: `${REDIRECT_URI}/other` });
  deepEqual([other.status, other.location], [400, undefined]);
  const { response_type: _, ...without } = codeRequest(client.id);
  const missing = await agent.authorize(without);
  equal(missing.location?.includes('#') ?? false, false);
});
