// Parameters about the sign-in itself (OIDC Core §3.1.2.1): prompt, max_age, login_hint, id_token_hint,
// acr_values.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, hiddenFields, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Client, claimsOf, epoch, isActive, later, sessionsOf, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const asking = await app.register({ skip_consent: false });
const alice = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
const bob = await app.createUser('bob');

const authorize = (
  agent: Agent,
  more: Record<string, string | undefined>,
  to: Client = client,
): Promise<Page> =>
  agent.authorize({
    client_id: to.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    state: 's',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...more,
  });

const parametersOf = (page: Page): URLSearchParams => {
  equal(page.status, 303, page.body);
  const url = new URL(page.location ?? '');
  equal(url.origin + url.pathname, REDIRECT_URI);
  return url.searchParams;
};

/** No page, no form: the error goes back to the application, with `state` and `iss`. */
function expectError(page: Page, error: string): void {
  const values = parametersOf(page);
  deepEqual(
    [values.get('error'), values.get('state'), values.get('iss'), values.get('code')],
    [error, 's', app.issuer, null],
  );
  ok(!page.body.includes('<form'));
}

const isLoginPage = (page: Page): boolean => page.status === 200 && page.body.includes('name="password"');

async function idTokenOf(page: Page): Promise<Record<string, unknown>> {
  const code = parametersOf(page).get('code') ?? '';
  const { status, body } = await redeem(app, client, { code, verifier: VERIFIER });
  equal(status, 200, JSON.stringify(body));
  return claimsOf(body.id_token);
}

async function signedIn(user = alice): Promise<{ agent: Agent; authTime: number; idToken: string }> {
  const agent = new Agent(app);
  const { id_token } = await tokensOf(app, client, user, {}, agent);
  return { agent, authTime: Number(claimsOf(id_token).auth_time), idToken: id_token };
}

test('prompt=none: login_required, consent_required, or a code; never a page (R012)', async () => {
  expectError(await authorize(new Agent(app), { prompt: 'none' }), 'login_required');
  const { agent } = await signedIn();
  ok(parametersOf(await authorize(agent, { prompt: 'none' })).get('code'));
  expectError(await authorize(agent, { prompt: 'none' }, asking), 'consent_required');
  await agent.finish(await authorize(agent, {}, asking), alice);
  ok(parametersOf(await authorize(agent, { prompt: 'none' }, asking)).get('code'));
  expectError(await authorize(agent, { prompt: 'none', scope: 'openid email' }, asking), 'consent_required');
});

test('prompt=none: an id_token_hint or subject of another user is login_required', async () => {
  const { agent, idToken } = await signedIn();
  const other = await signedIn(bob);
  ok(parametersOf(await authorize(agent, { prompt: 'none', id_token_hint: idToken })).get('code'));
  expectError(await authorize(agent, { prompt: 'none', id_token_hint: other.idToken }), 'login_required');
  expectError(await authorize(new Agent(app), { prompt: 'none', id_token_hint: idToken }), 'login_required');
  const claims = JSON.stringify({ id_token: { sub: { value: bob.id } } });
  expectError(await authorize(agent, { prompt: 'none', claims }), 'login_required');
  // An expired hint still says who is meant (OIDC Core §3.1.2.1).
  await later(3_700_000, async () => {
    ok(parametersOf(await authorize(agent, { prompt: 'none', id_token_hint: idToken })).get('code'));
  });
  expectError(await authorize(agent, { prompt: 'none', id_token_hint: `${idToken}x` }), 'invalid_request');
});

test('prompt=none with max_age: login_required when the sign-in is older', async () => {
  const { agent } = await signedIn();
  await later(100_000, async () => {
    ok(parametersOf(await authorize(agent, { prompt: 'none', max_age: '101' })).get('code'));
    expectError(await authorize(agent, { prompt: 'none', max_age: '99' }), 'login_required');
    expectError(await authorize(agent, { prompt: 'none login' }), 'invalid_request');
  });
});

test('prompt=login: authenticates again in the same session, with a new auth_time (R011)', async () => {
  const { agent, authTime } = await signedIn();
  const before = await sessionsOf(app, alice.id);
  await later(30_000, async () => {
    const page = await authorize(agent, { prompt: 'login' });
    ok(isLoginPage(page), page.body);
    const done = await agent.submit(page, { username: 'alice', password: 'correct horse battery staple' });
    const claims = await idTokenOf(done);
    deepEqual([claims.sub, claims.auth_time], [alice.id, epoch()]);
    ok(Number(claims.auth_time) >= authTime + 30);
  });
  equal((await sessionsOf(app, alice.id)).length, before.length);
});

test('max_age: an older sign-in is repeated, a newer one counts; 0 is prompt=login', async () => {
  const { agent, authTime } = await signedIn();
  await later(100_000, async () => {
    const kept = await idTokenOf(await authorize(agent, { max_age: '200' }));
    equal(kept.auth_time, authTime, 'the real time of the sign-in');
    ok(isLoginPage(await authorize(agent, { max_age: '0' })));
    const page = await authorize(agent, { max_age: '99' });
    ok(isLoginPage(page));
    const done = await agent.submit(page, { username: 'alice', password: 'correct horse battery staple' });
    equal((await idTokenOf(done)).auth_time, epoch());
  });
});

test('default_max_age: a client that always requires a fresh sign-in gets one', async () => {
  const strict = await app.register({ default_max_age: 60 });
  const { agent } = await signedIn();
  ok(parametersOf(await authorize(agent, {}, strict)).get('code'));
  await later(61_000, async () => ok(isLoginPage(await authorize(agent, {}, strict))));
});

test('prompt=login cancelled: access_denied, and the session is unchanged (R011)', async () => {
  const { agent, authTime, idToken } = await signedIn();
  await later(20_000, async () => {
    const page = await authorize(agent, { prompt: 'login' });
    expectError(await agent.submit(page, { action: 'cancel' }), 'access_denied');
    const claims = await idTokenOf(await authorize(agent, { prompt: 'none' }));
    deepEqual([claims.sub, claims.auth_time, claims.sid], [alice.id, authTime, claimsOf(idToken).sid]);
  });
});

test('prompt=login with a wrong password: no code, and the session is unchanged', async () => {
  const { agent, authTime } = await signedIn();
  const page = await authorize(agent, { prompt: 'login' });
  const again = await agent.submit(page, { username: 'alice', password: 'wrong' });
  deepEqual([again.status, again.location], [401, undefined]);
  // The address where the library would go on: nothing has been proven yet.
  const { interaction = '' } = hiddenFields(page.body);
  const skipped = await agent.get(`/oauth2/authorize/${interaction}`);
  ok(!(skipped.location ?? '').includes('code='), skipped.location);
  const claims = await idTokenOf(await authorize(agent, { prompt: 'none' }));
  equal(claims.auth_time, authTime);
});

test('prompt=select_account: offers the current account or another one', async () => {
  const { agent, authTime } = await signedIn();
  const page = await authorize(agent, { prompt: 'select_account' });
  deepEqual([page.status, hiddenFields(page.body).username], [200, 'alice']);
  const same = await idTokenOf(await agent.submit(page, { action: 'continue' }));
  deepEqual([same.sub, same.auth_time], [alice.id, authTime], 'chosen, not signed in again');

  const again = await authorize(agent, { prompt: 'select_account' });
  const [, link = ''] = /href="([^"]*\/oauth2\/login\?interaction=[^"]+)"/.exec(again.body) ?? [];
  const bare = await agent.get(link.replaceAll('&amp;', '&'));
  ok(isLoginPage(bare) && hiddenFields(bare.body).username === undefined);
  const done = await agent.submit(bare, { username: 'bob', password: 'correct horse battery staple' });
  equal((await idTokenOf(done)).sub, bob.id);
  // No one to select: the sign-in page as ever.
  ok(isLoginPage(await authorize(new Agent(app), { prompt: 'select_account' })));
});

test('attack: choosing an account to avoid a required sign-in', async () => {
  const { agent } = await signedIn();
  for (const prompt of ['login', 'select_account login']) {
    let page = await authorize(agent, { prompt });
    if (prompt !== 'login') page = await agent.submit(page, { action: 'continue' });
    ok(isLoginPage(page), page.body);
    const forced = await agent.submit(page, { action: 'continue' });
    deepEqual([forced.status, forced.location], [400, undefined], prompt);
  }
  const nobody = new Agent(app);
  const page = await authorize(nobody, { prompt: 'select_account' });
  const forced = await nobody.submit(page, { action: 'continue' });
  ok(!(forced.location ?? '').includes('code='), forced.location);
  await later(100_000, async () => {
    const old = await authorize(agent, { prompt: 'select_account', max_age: '50' });
    ok(isLoginPage(await agent.submit(old, { action: 'continue' })), 'the old sign-in is not enough');
  });
});

test('attack: choosing an account whose session has ended', async () => {
  const erin = await app.createUser('erin');
  const { agent } = await signedIn(erin);
  const page = await authorize(agent, { prompt: 'select_account' });
  equal((await app.admin('POST', `/users/${erin.id}/revoke-sessions`)).status, 200);
  const late = await agent.submit(page, { action: 'continue' });
  ok(!(late.location ?? '').includes('code='), late.location);
});

test('prompt=consent: asks again despite remembered consent', async () => {
  const { agent } = await signedIn();
  await agent.finish(await authorize(agent, {}, asking), alice);
  ok(parametersOf(await authorize(agent, {}, asking)).get('code'));
  const page = await authorize(agent, { prompt: 'consent' }, asking);
  ok(page.status === 200 && page.body.includes('/oauth2/consent'), page.body);
});

test('prompt=login consent: both pages, in order', async () => {
  const { agent } = await signedIn();
  await agent.finish(await authorize(agent, {}, asking), alice);
  const first = await authorize(agent, { prompt: 'login consent' }, asking);
  ok(isLoginPage(first));
  const second = await agent.submit(first, { username: 'alice', password: 'correct horse battery staple' });
  ok(second.status === 200 && second.body.includes('/oauth2/consent'), second.body);
  ok(parametersOf(await agent.submit(second, { action: 'allow' })).get('code'));
});

test('login_hint: prefilled, escaped, and signs no one in', async () => {
  const page = await authorize(new Agent(app), { login_hint: 'alice@example.com' });
  match(
    page.body,
    /name="username"[^>]*value="alice@example\.com"|value="alice@example\.com"[^>]*name="username"/,
  );
  const hostile = await authorize(new Agent(app), { login_hint: '"><script>alert(1)</script>' });
  ok(isLoginPage(hostile) && !hostile.body.includes('<script>alert'));
  const { agent } = await signedIn();
  equal((await idTokenOf(await authorize(agent, { login_hint: 'bob' }))).sub, alice.id);
});

test('id_token_hint of another user without prompt=none: the sign-in page', async () => {
  const { agent } = await signedIn();
  const other = await signedIn(bob);
  ok(isLoginPage(await authorize(agent, { id_token_hint: other.idToken })));
  equal(await isActive(app, (await tokensOf(app, client, alice, {}, agent)).access_token), true);
});

test('acr_values: voluntary, answered with the actual acr; an unmet essential acr is no code', async () => {
  const { agent } = await signedIn();
  const claims = await idTokenOf(
    await authorize(agent, { acr_values: 'urn:example:gold urn:example:silver' }),
  );
  equal(claims.acr, 'urn:latchkey:acr:single-factor');
  const met = JSON.stringify({
    id_token: { acr: { essential: true, values: ['urn:latchkey:acr:single-factor'] } },
  });
  ok(parametersOf(await authorize(agent, { claims: met, prompt: 'none' })).get('code'));
  const unmet = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:example:gold' } } });
  const page = await authorize(agent, { claims: unmet, prompt: 'none' });
  const values = parametersOf(page);
  ok(values.get('error') && values.get('code') === null);
});
