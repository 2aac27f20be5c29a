// What an application demands of sign-ins, whatever its request says: `required_acr` and `max_auth_age` (decision 0009); and
// `acr_values`, which are wishes (OIDC Core §3.1.2.1).
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, type Page, redeem, refresh, requestTokens, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { enrol, goOn, openSignIn, originOf, usePasskey } from '../support/passkeys.ts';
import { type Client, claimsOf, epoch, introspect, later, postForm, tokensOf } from './support.ts';

const ACR = 'urn:latchkey:acr:';
const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const plain = await app.register();
const strict = await app.register({ required_acr: `${ACR}multi-factor` });
const recent = await app.register({ max_auth_age: 60 });

const authorize = (agent: Agent, to: Client, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(to.id), ...more });
const answerOf = (page: Page): URLSearchParams => new URL(page.location ?? 'about:blank').searchParams;
const isEnrolment = (page: Page): boolean => page.body.includes('data:image/png;base64');

async function signedIn(): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn(plain.id, alice);
  return agent;
}

test('acr_values: three choices let a user without a second factor in (conformance suite)', async () => {
  const acr_values = `${ACR}multi-factor ${ACR}email-code ${ACR}single-factor`;
  const agent = new Agent(app);
  const url = await agent.finish(await authorize(agent, plain, { acr_values }), alice);
  const { body } = await redeem(app, plain, { code: url.searchParams.get('code') ?? '', verifier: VERIFIER });
  for (const claims of [claimsOf(body.id_token), claimsOf(body.access_token)]) {
    equal(claims.acr, `${ACR}single-factor`);
    ok(Math.abs(Number(claims.auth_time) - epoch()) < 60);
  }
  const { body: introspected } = await introspect(app, body.access_token);
  deepEqual(
    [introspected.acr, introspected.auth_time],
    [`${ACR}single-factor`, claimsOf(body.id_token).auth_time],
  );
});

test('required_acr: a sign-in to the application enrols a second factor, others do not', async () => {
  const agent = new Agent(app);
  const page = await agent.submit(await authorize(agent, strict), { username: 'alice', password: PASSWORD });
  ok(isEnrolment(page), page.body);
  const session = await signedIn();
  ok(answerOf(await authorize(session, plain)).has('code'));
  ok(!answerOf(await authorize(session, strict)).has('code'), 'one factor from elsewhere is not enough');
  equal(answerOf(await authorize(session, strict, { prompt: 'none' })).has('code'), false);
});

test('attack: a request of the application itself asks for less than its required_acr', async () => {
  const single = { essential: true, value: `${ACR}single-factor` };
  const requests: Record<string, string>[] = [
    { acr_values: `${ACR}single-factor` },
    { claims: JSON.stringify({ id_token: { acr: single } }) },
    { claims: JSON.stringify({ id_token: { acr: null } }) },
    { claims: JSON.stringify({ id_token: null, userinfo: {} }) },
    { scope: 'profile' },
  ];
  for (const more of requests) {
    const page = await authorize(await signedIn(), strict, { ...more, prompt: 'none' });
    equal(answerOf(page).has('code'), false, JSON.stringify(more));
  }
  const { client_id, ...rest } = codeRequest(strict.id);
  const fields = { client_id, client_secret: strict.secret, ...rest, ...requests[1] };
  const { body } = await postForm(app, '/oauth2/par', fields);
  const pushed = { client_id, request_uri: String(body.request_uri) };
  equal(answerOf(await (await signedIn()).authorize(pushed)).has('code'), false);
});

test('attack: the password grant at an application with a required_acr', async () => {
  const old = await app.register({ grant_types: ['password'], redirect_uris: [], response_types: [] });
  const path = `/clients/${old.id}`;
  const ask = () =>
    requestTokens(app, old, { grant_type: 'password', username: 'alice', password: PASSWORD });
  equal((await ask()).status, 200);
  equal((await app.admin('PATCH', path, { required_acr: `${ACR}multi-factor` })).status, 200);
  const { status, body } = await ask();
  deepEqual([status, body.error], [400, 'unmet_authentication_requirements']);
  equal((await app.admin('PATCH', path, { required_acr: null })).body.data.required_acr, null);
  equal((await ask()).status, 200);
});

test('max_auth_age: an older sign-in is repeated, even where the request allows it', async () => {
  const agent = await signedIn();
  ok(answerOf(await authorize(agent, recent)).has('code'));
  await later(61_000, async () => {
    ok(answerOf(await authorize(agent, plain)).has('code'));
    for (const more of [{}, { max_age: '86400' }])
      ok((await authorize(agent, recent, more)).body.includes('name="password"'));
    equal(answerOf(await authorize(agent, recent, { prompt: 'none' })).get('error'), 'login_required');
  });
  await later(30_000, async () => {
    ok(
      (await authorize(agent, recent, { max_age: '10' })).body.includes('name="password"'),
      'less is a wish',
    );
  });
});

test('required_acr and max_auth_age: hold for pushed requests without openid, too', async () => {
  const agent = await signedIn();
  for (const [client, isMet] of [
    [recent, true],
    [strict, false],
  ] as const) {
    const { client_id, ...rest } = codeRequest(client.id);
    const fields = { client_id, client_secret: client.secret, ...rest, scope: 'profile' };
    const { status, body } = await postForm(app, '/oauth2/par', fields);
    equal(status, 201, JSON.stringify(body));
    const page = await agent.authorize({ client_id, request_uri: String(body.request_uri) });
    equal(answerOf(page).get('error'), null);
    equal(answerOf(page).has('code'), isMet);
  }
});

test('attack: a refresh token from before a required_acr goes on below it', async () => {
  const client = await app.register();
  const tokens = await tokensOf(app, client, alice);
  const below = () => refresh(app, client, tokens.refresh_token);
  await app.admin('PATCH', `/clients/${client.id}`, { required_acr: `${ACR}multi-factor` });
  const { status, body } = await below();
  deepEqual([status, body.error], [400, 'invalid_grant']);
  // Nothing is used up: the application's owner can take it back.
  await app.admin('PATCH', `/clients/${client.id}`, { required_acr: null });
  equal((await below()).status, 200);
});

test('required_acr and max_auth_age: other values are refused by name', async () => {
  for (const fields of [{ required_acr: 'gold' }, { max_auth_age: 1 }, { max_auth_age: 60.5 }]) {
    const { status, body } = await app.admin('PATCH', `/clients/${plain.id}`, fields);
    equal(status, 400, JSON.stringify(fields));
    match(JSON.stringify(body), new RegExp(Object.keys(fields).join()));
  }
});

test('required_acr: second factors off, a passkey holder who types the password is asked', async () => {
  const holder = await app.createUser('holder');
  const key = new Authenticator({ origin: originOf(app) });
  const agent = new Agent(app);
  await enrol(agent, plain, holder, key);
  const off = await app.admin('PATCH', '/settings', { mfa_mode: 'off' });
  equal(off.status, 200);
  try {
    const typed = { username: holder.username, password: PASSWORD };
    const fresh = new Agent(app);
    const asked = await fresh.submit(await openSignIn(fresh, strict), typed);
    match(asked.body, /data-passkey="second_factor"/);
    doesNotMatch(asked.body, /name="code"/);
    const { location = '' } = await goOn(
      fresh,
      await usePasskey(fresh, asked, key, { purpose: 'second_factor' }),
    );
    const code = new URL(location).searchParams.get('code') ?? '';
    const { body } = await redeem(app, strict, { code, verifier: VERIFIER });
    equal(claimsOf(body.id_token).acr, `${ACR}multi-factor`);

    // Applications without such a demand go on as before, and so do accounts that have nothing stronger.
    const other = new Agent(app);
    ok(answerOf(await other.submit(await openSignIn(other, plain), typed)).has('code'));
    const without = new Agent(app);
    const refused = await without.submit(await openSignIn(without, strict), { ...typed, username: 'alice' });
    equal(answerOf(refused).get('error'), 'unmet_authentication_requirements');
  } finally {
    await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  }
});
