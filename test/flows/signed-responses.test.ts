// Signed authorization responses (JARM, decision 0028): what an application gets that an administrator gave them, and that others, and
// installations without such an application, have what they had.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Agent, codeRequest, hiddenFields, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { basic, type Client, call, epoch, headerOf, type Json, later, postForm, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ authorization_signed_response_alg: 'ES256' });
const asking = await app.register({ authorization_signed_response_alg: 'RS256', skip_consent: false });
/** Nobody agrees to it here. */
const unasked = await app.register({ authorization_signed_response_alg: 'RS256', skip_consent: false });
const alice = await app.createUser('alice');
const agent = new Agent(app);
await agent.signIn(client.id, alice);

const authorize = (more: Record<string, string>, to: Client = client, browser = agent): Promise<Page> =>
  browser.authorize({ ...codeRequest(to.id), state: 's', ...more });

async function opened(response: string | null | undefined, audience = client.id): Promise<Json> {
  const keys = createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(response ?? '', keys, { issuer: app.issuer, audience });
  return payload;
}
const partsOf = (page: Page, part: 'search' | 'hash'): URLSearchParams =>
  new URLSearchParams(new URL(page.location ?? '')[part].slice(1));

for (const [mode, part] of [
  ['jwt', 'search'],
  ['query.jwt', 'search'],
  ['fragment.jwt', 'hash'],
] as const)
  test(`signed response: ${mode}`, async () => {
    const page = await authorize({ response_mode: mode });
    equal(page.status, 303);
    const [inside, elsewhere] = [partsOf(page, part), partsOf(page, part === 'hash' ? 'search' : 'hash')];
    deepEqual([[...inside.keys()], [...elsewhere.keys()]], [['response'], []]);
    const response = inside.get('response') ?? '';
    deepEqual(Object.keys(headerOf(response)).sort(), ['alg', 'kid']);
    equal(headerOf(response).alg, 'ES256');
    const { code, state, iss, aud, exp, ...rest } = await opened(response);
    deepEqual([state, iss, aud, rest], ['s', app.issuer, client.id, {}]);
    const left = Number(exp) - epoch();
    ok(left > 100 && left <= 120, `lives ${left} seconds`);
    equal((await redeem(app, client, { code: String(code), verifier: VERIFIER })).status, 200);
  });

test('signed response: the query of a registered address comes back byte for byte', async () => {
  const redirect_uri = "https://bytes.example/cb?q='a'%20b&e";
  const own = await app.register({
    authorization_signed_response_alg: 'ES256',
    redirect_uris: [redirect_uri],
  });
  for (const response_mode of ['jwt', 'query.jwt'])
    for (const more of [{}, { prompt: 'login', max_age: 'x' }]) {
      // As it was sent: parsing it as an address would write `'` anew.
      const { headers } = await authorize({ redirect_uri, response_mode, ...more }, own);
      const location = headers.get('location') ?? '';
      equal(location.startsWith(`${redirect_uri}&response=`), true, location);
      const response = location.slice(`${redirect_uri}&response=`.length);
      const { code, error } = await opened(response, own.id);
      equal(typeof (code ?? error), 'string');
    }
});

test('signed response: form_post.jwt posts the JWT and nothing beside it', async () => {
  const page = await authorize({ response_mode: 'form_post.jwt' });
  equal(page.status, 200);
  const fields = hiddenFields(page.body);
  deepEqual(Object.keys(fields), ['response']);
  const { code, state } = await opened(fields.response);
  equal(state, 's');
  ok(!page.body.includes(String(code)), 'the code in the page');
  match(page.body, new RegExp(`action="${REDIRECT_URI}"`));
  equal((await redeem(app, client, { code: String(code), verifier: VERIFIER })).status, 200);
});

test('signed response: through the pages, and after a request that was pushed', async () => {
  const fresh = new Agent(app);
  const callback = await fresh.finish(await authorize({ response_mode: 'jwt' }, asking, fresh), alice);
  const response = callback.searchParams.get('response') ?? '';
  equal(headerOf(response).alg, 'RS256');
  ok((await opened(response, asking.id)).code);
  const pushed = await postForm(
    app,
    '/oauth2/par',
    { ...codeRequest(client.id), response_mode: 'jwt' },
    basic(client),
  );
  equal(pushed.status, 201);
  const page = await agent.authorize({ client_id: client.id, request_uri: String(pushed.body.request_uri) });
  ok((await opened(partsOf(page, 'search').get('response'))).code);
});

for (const [what, more, error] of [
  ['at once', { prompt: 'none' }, 'consent_required'],
  ['of the request', { scope: 'admin' }, 'invalid_scope'],
  ['of the response type', { response_type: 'token' }, 'unsupported_response_type'],
] as const)
  test(`signed response: an error ${what} is signed too`, async () => {
    const to = error === 'consent_required' ? unasked : client;
    const browser = new Agent(app);
    await browser.signIn(client.id, alice);
    const page = await authorize({ response_mode: 'fragment.jwt', ...more }, to, browser);
    deepEqual([...partsOf(page, 'hash').keys()], ['response']);
    const { exp, ...claims } = await opened(partsOf(page, 'hash').get('response'), to.id);
    ok(Number(exp) - epoch() <= 120);
    deepEqual([claims.error, claims.state, claims.code], [error, 's', undefined]);
    const form = await authorize({ response_mode: 'form_post.jwt', ...more }, to, browser);
    deepEqual(Object.keys(hiddenFields(form.body)), ['response']);
    equal((await opened(hiddenFields(form.body).response, to.id)).error, error);
  });

test('signed response: cancelled by the user', async () => {
  const fresh = new Agent(app);
  const page = await authorize({ response_mode: 'jwt' }, unasked, fresh);
  const consent = await fresh.submit(page, { username: 'alice', password: PASSWORD });
  const done = await fresh.submit(consent, { action: 'deny' });
  equal((await opened(partsOf(done, 'search').get('response'), unasked.id)).error, 'access_denied');
});

test('signed response: only if asked for; response_modes can leave nothing else', async () => {
  deepEqual([...partsOf(await authorize({}), 'search').keys()].sort(), ['code', 'iss', 'state']);
  const strict = await app.register({
    authorization_signed_response_alg: 'ES256',
    response_modes: ['jwt', 'form_post.jwt'],
  });
  ok(
    (
      await opened(
        partsOf(await authorize({ response_mode: 'jwt' }, strict), 'search').get('response'),
        strict.id,
      )
    ).code,
  );
  for (const mode of ['', 'query', 'fragment', 'form_post', 'query.jwt', 'fragment.jwt']) {
    const page = await authorize({ response_mode: mode }, strict);
    ok(!/[?#&]code=/.test(page.location ?? '') && !page.body.includes('name="code"'), mode);
  }
});

test('signed response: withdrawn during the sign-in; the answer is an unsigned error', async () => {
  const withdrawn = await app.register({ authorization_signed_response_alg: 'RS256' });
  const fresh = new Agent(app);
  const page = await authorize({ response_mode: 'jwt' }, withdrawn, fresh);
  const change = { authorization_signed_response_alg: null };
  equal((await app.admin('PATCH', `/clients/${withdrawn.id}`, change)).status, 200);
  const done = await fresh.submit(page, { username: 'alice', password: PASSWORD });
  const answer = partsOf(done, 'search');
  deepEqual(
    [answer.get('error'), answer.get('code'), answer.get('response')],
    ['unsupported_response_mode', null, null],
  );
});

test('signed response: a code lives on for its minute, the response two', async () => {
  const page = await authorize({ response_mode: 'jwt' });
  const { code } = await opened(partsOf(page, 'search').get('response'));
  await later(61_000, async () => {
    equal(
      (await redeem(app, client, { code: String(code), verifier: VERIFIER })).body.error,
      'invalid_grant',
    );
  });
});

const discoveryOf = async (of: TestApp): Promise<string> =>
  (await call(of, 'GET', '/.well-known/openid-configuration')).text.replaceAll(of.url, '');

test('discovery: signed responses while an active application has them, else as before', async () => {
  await withApp({}, async (own) => {
    const before = await discoveryOf(own);
    ok(!/["."]jwt"|authorization_signing/.test(before), before);
    const { id } = await own.register({ authorization_signed_response_alg: 'ES256' });
    const nextMinute = async (): Promise<string> => {
      own.advance(61_000);
      await discoveryOf(own);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return discoveryOf(own);
    };
    const during = JSON.parse(await nextMinute());
    deepEqual(during.response_modes_supported, [
      ...['form_post', 'fragment', 'query'],
      ...['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'],
    ]);
    deepEqual(during.authorization_signing_alg_values_supported, ['RS256', 'ES256']);
    equal((await own.admin('PATCH', `/clients/${id}`, { is_active: false })).status, 200);
    equal(await nextMinute(), before);
  });
});
