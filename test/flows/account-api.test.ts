// The account API (decision 0023): which bearers it accepts, for what, and that it follows the rules of the pages.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, redeem, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createPhone } from '../support/phone.ts';
import { isActive, sessionsOf, type User } from './support.ts';

const NEW_PASSWORD = 'seven green kettles on a shelf';

let app: TestApp;
let client: { id: string; secret: string };
let user: User;
let people = 0;

before(async () => {
  app = await startApp();
  client = await app.register(opensAccounts);
});
after(() => app.stop());
beforeEach(async () => {
  people += 1;
  user = await app.createUser(`person-${people}`, { email: `p-${people}@example.com` });
});

interface Answer {
  readonly status: number;
  readonly data: Record<string, unknown> & { readonly items?: Record<string, unknown>[] };
  readonly error: {
    readonly reason?: string;
    readonly message?: string;
    readonly fields?: Record<string, string>;
  };
  readonly cookies: readonly string[];
}

async function call(token: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${app.url}/account/api/${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { data, error }: Partial<Answer> = text === '' ? {} : JSON.parse(text);
  return {
    status: response.status,
    data: data ?? {},
    error: error ?? {},
    cookies: response.headers.getSetCookie(),
  };
}

/** A new browser's, and its refresh token. */
async function signIn(who: User, parameters: Record<string, string> = {}, application = client) {
  const { body } = await redeem(
    app,
    application,
    await new Agent(app).signIn(application.id, who, parameters),
  );
  return body;
}

test('attack: a bearer of another kind, of another application, or none', async () => {
  const foreign = await app.register({ skip_consent: false });
  const { access_token: theirs } = await signIn(user, { prompt: 'consent' }, foreign);
  const mine = await signIn(user, { scope: 'openid offline_access account' });
  const cases: [string, number][] = [
    ['', 401],
    ['nonsense', 401],
    [ADMIN_TOKEN, 401],
    [mine.refresh_token, 401],
    [mine.id_token, 401],
    [theirs, 403],
    [mine.access_token, 200],
  ];
  for (const [token, status] of cases)
    assert.equal((await call(token, 'GET', 'profile')).status, status, token);
  const cookie = new Agent(app);
  await cookie.signIn(client.id, user);
  assert.equal(
    (await cookie.get('/account/api/profile')).status,
    401,
    'the session of a browser is no bearer',
  );
  await app.admin('POST', `/users/${user.id}/deactivate`);
  assert.equal((await call(mine.access_token, 'GET', 'profile')).status, 401);
});

test('attack: an old bearer; the owner must authenticate again first', async () => {
  const browser = new Agent(app);
  const parameters = { scope: 'openid offline_access account' };
  const old = await redeem(app, client, await browser.signIn(client.id, user, parameters));
  app.advance(400_000);
  const { body } = await refresh(app, client, old.body.refresh_token ?? '');
  const token = body.access_token ?? '';
  assert.equal((await call(token, 'POST', 'totp')).error.reason, 'auth.stale');
  const fresh = await redeem(
    app,
    client,
    await browser.signIn(client.id, user, { ...parameters, prompt: 'login' }),
  );
  assert.equal((await call(fresh.body.access_token ?? '', 'POST', 'totp')).status, 200);
  assert.equal((await call(token, 'POST', 'totp')).error.reason, 'auth.stale');
});

test('account API: own profile and lists; wrong methods, members and bodies are named', async () => {
  const { access_token: token } = await signIn(user);
  const { data } = await call(token, 'GET', 'profile');
  assert.deepEqual(
    [data.id, data.username, data.has_password, data.totp_enrolled_at, data.is_recently_authenticated],
    [user.id, user.username, true, null, true],
  );
  const { data: sessions } = await call(token, 'GET', 'sessions');
  assert.deepEqual(
    sessions.items?.map(({ is_current: isCurrent }) => isCurrent),
    [true],
  );
  const { data: applications } = await call(token, 'GET', 'applications');
  assert.equal(applications.items?.[0]?.client_id, client.id);
  assert.equal((await call(token, 'GET', 'trusted-devices')).data.total, 0);
  assert.equal((await call(token, 'GET', 'passkeys')).data.total, 0);
  assert.equal((await call(token, 'PUT', 'sessions')).status, 405);
  assert.equal((await call(token, 'GET', 'constructor')).status, 404);
  const odd = await call(token, 'PUT', 'password', { password: 1, role: 'admin' });
  assert.deepEqual([odd.status, Object.keys(odd.error.fields ?? {}).sort()], [400, ['password', 'role']]);
});

test('account API: a password change needs the current one, ends tokens, sets no cookie', async () => {
  const { access_token: token } = await signIn(user);
  const weak = await call(token, 'PUT', 'password', { current_password: PASSWORD, password: 'password' });
  assert.ok(weak.status === 400 && weak.error.fields?.password);
  const wrong = await call(token, 'PUT', 'password', { current_password: 'x', password: NEW_PASSWORD });
  assert.ok(wrong.status === 400 && wrong.error.fields?.current_password);
  assert.equal((await app.admin('GET', `/users/${user.id}`)).body.data.failed_login_attempts, 1);
  const right = await call(token, 'PUT', 'password', { current_password: PASSWORD, password: NEW_PASSWORD });
  assert.deepEqual([right.status, right.cookies], [204, []]);
  assert.equal(await isActive(app, token), false);
  assert.equal(
    (await sessionsOf(app, user.id)).some((one) => one.is_active),
    false,
  );
});

test('attack: sensitive calls with a sign-in of six minutes ago', async () => {
  const { access_token: token } = await signIn(user);
  const other = await signIn(user);
  const [current] = (await call(token, 'GET', 'sessions')).data.items ?? [];
  app.advance(361_000);
  const calls: [string, string][] = [
    ['POST', 'totp'],
    ['DELETE', 'totp'],
    ['DELETE', 'email-codes'],
    ['POST', 'recovery-codes'],
    ['DELETE', 'sessions'],
    ['DELETE', `sessions/${current?.id}`],
    ['DELETE', 'trusted-devices'],
    ['DELETE', `applications/${client.id}`],
    ['DELETE', 'passkeys/x'],
  ];
  for (const [method, path] of calls) {
    const { status, error } = await call(token, method, path);
    assert.deepEqual([status, error.reason], [403, 'auth.stale'], path);
  }
  assert.equal(await isActive(app, other.access_token), true);
});

test('attack: another user’s resources by their ids (IDOR)', async () => {
  const victim = await app.createUser(`victim-${people}`);
  const theirs = await signIn(victim);
  const [session] = await sessionsOf(app, victim.id);
  const { access_token: token } = await signIn(user);
  for (const path of [
    `sessions/${session?.id}`,
    'trusted-devices/x',
    'applications/nobody',
    'passkeys/x',
    'sessions/%ff',
  ])
    assert.equal((await call(token, 'DELETE', path)).status, 404, path);
  assert.equal(await isActive(app, theirs.access_token), true);
});

test('account API: TOTP on and off, recovery codes, ending other sessions', async () => {
  const { access_token: token } = await signIn(user);
  const other = await signIn(user);
  const { data: begun } = await call(token, 'POST', 'totp');
  const phone = createPhone(String(begun.secret), app);
  const wrong = await call(token, 'POST', 'totp/confirm', { pending: begun.pending, code: '000000' });
  assert.ok(wrong.status === 400 && wrong.error.fields?.code);
  const on = await call(token, 'POST', 'totp/confirm', { pending: begun.pending, code: phone.code() });
  assert.deepEqual([on.status, on.cookies], [200, []]);
  assert.ok(Array.isArray(on.data.recovery_codes) && on.data.recovery_codes.length === 10);
  assert.equal(await isActive(app, other.access_token), false);
  // R098: what the account has now is stronger than what this session proved.
  assert.equal((await call(token, 'DELETE', 'totp')).error.reason, 'auth.stale');
  const again = await call(token, 'POST', 'totp/confirm', { pending: begun.pending, code: phone.code() });
  assert.equal(again.error.reason, 'auth.stale');

  const browser = new Agent(app);
  const first = await browser.authorize({
    client_id: client.id,
    redirect_uri: 'https://rp.example/callback',
    response_type: 'code',
    scope: 'openid account',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const challenge = await browser.submit(first, { username: user.username, password: PASSWORD });
  const done = await browser.submit(challenge, { method: 'totp', code: phone.code() });
  const code = new URL(done.location ?? '').searchParams.get('code') ?? '';
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const { body: strong } = await redeem(app, client, { code, verifier });
  assert.equal((await call(strong.access_token, 'POST', 'recovery-codes')).status, 200);
  assert.equal((await call(strong.access_token, 'DELETE', 'sessions')).status, 204);
  assert.equal(await isActive(app, token), false);
  assert.equal((await call(strong.access_token, 'DELETE', 'totp')).status, 204);
  assert.equal((await call(strong.access_token, 'GET', 'profile')).data.totp_enrolled_at, null);
  const none = await call(strong.access_token, 'POST', 'recovery-codes');
  assert.deepEqual([none.status, none.error.reason], [409, 'mfa.none'], 'there is nothing to recover');
  assert.match(none.error.message ?? '', /Set up an authenticator app or a passkey first/);
  assert.equal((await call(strong.access_token, 'DELETE', `applications/${client.id}`)).status, 204);
  assert.equal(await isActive(app, strong.access_token), false);
});
