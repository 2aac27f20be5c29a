// Attack: finding traces of a deleted user, and becoming that user by taking the name again (better-auth
// GHSA-2vg6-77g8-24mp, Rauthy #1591, Zitadel CVE-2026-55670).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCollections } from '../../src/store/all-collections.ts';
import { Agent, challengeOf, hiddenFields, redeem, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import {
  honestRequest,
  isAccepted,
  openSignIn,
  PASSWORD_GRANT,
  passwordGrant,
  VERIFIER,
} from './sign-in-form.ts';
import { dumpStore } from './store-dump.ts';

const USERNAME = 'Vanishing-Ängström';
const EMAIL = 'vanishing@example.com';
const USER_AGENT = 'canary-agent-of-the-deleted';
const NAME = 'Person Who Was Here';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

// The audit trail tells what happened to whom and from where until its own retention ends (R131, R146); it never had more.
const NEVER_IN_AUDIT: readonly string[] = [NAME, '+15550100', 'Nowhere'];

type Client = { id: string; secret: string };

async function approveDevice(app: TestApp, browser: Agent): Promise<{ client: Client; code: string }> {
  const client = await app.register({
    application_type: 'native',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', DEVICE_GRANT],
  });
  const response = await fetch(`${app.url}/oauth2/device_authorization`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, scope: 'openid' }),
  });
  const { user_code: userCode, device_code: code }: Record<string, string> = JSON.parse(
    await response.text(),
  );
  const page = await browser.get('/oauth2/device');
  const confirmation = await browser.post('/oauth2/device', {
    ...hiddenFields(page.body),
    user_code: userCode ?? '',
  });
  const done = await browser.submit(confirmation, { confirm: 'yes' });
  assert.equal(done.status, 200, done.body);
  return { client, code: code ?? '' };
}

/** Leaves a trace of the user in every place that there is. */
async function liveAFullLife(app: TestApp) {
  const [first, consenting] = [
    await app.register(PASSWORD_GRANT),
    await app.register({ skip_consent: false }),
  ];
  const user = await app.createUser(USERNAME, {
    email: EMAIL,
    is_email_verified: true,
    name: NAME,
    phone_number: '+15550100',
    address: { country: 'Nowhere' },
  });
  const browser = new Agent(app);
  const request = browser.request.bind(browser);
  browser.request = (target, init = {}) =>
    request(target, { ...init, headers: { ...init.headers, 'user-agent': USER_AGENT } });

  const login = { username: USERNAME };
  const tokens = (await redeem(app, first, await browser.signIn(first.id, login))).body;
  const rotated = (await refresh(app, first, tokens.refresh_token)).body;
  const others = (await redeem(app, consenting, await browser.signIn(consenting.id, login))).body;
  assert.equal((await passwordGrant(app, first, USERNAME)).status, 200);
  const unredeemed = await browser.signIn(first.id, login);
  const device = await approveDevice(app, browser);
  await (await openSignIn(app, first.id)).attempt(EMAIL, 'not the password');
  // Half-way, at the consent page of another application and at a page that knows who is signed in.
  const third = await app.register({ skip_consent: false });
  await browser.authorize(honestRequest(third.id));
  await browser.authorize({ ...honestRequest(first.id), prompt: 'login', login_hint: USERNAME });
  const pushed = await fetch(`${app.url}/oauth2/par`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${first.id}:${first.secret}`)}` },
    body: new URLSearchParams({ ...honestRequest(first.id), code_challenge: challengeOf(VERIFIER) }),
  });
  assert.equal(pushed.status, 201);
  // Without a mail server it is kept for administrators to read.
  assert.equal((await app.admin('POST', `/users/${user.id}/send-password-reset`)).status, 200);
  return { user, browser, first, consenting, tokens, rotated, others, unredeemed, device };
}

async function isActive(app: TestApp, token: string): Promise<boolean> {
  const response = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await response.text()).active;
}

function tracesIn(app: TestApp, words: readonly string[]): string[] {
  const dump = dumpStore(app);
  for (const { name } of allCollections) assert.ok(dump.has(name), `no table of ${name}`);
  return [...dump].flatMap(([table, rows]) =>
    rows.flatMap((row) => {
      const text = row.join('\n').toLowerCase();
      return words
        .filter((word) => text.includes(word.toLowerCase()))
        .map((word) => `${word} in ${table}: ${text}`);
    }),
  );
}

test('user deletion: once answered, no table contains the user', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  const { user } = await liveAFullLife(app);
  const personal = [EMAIL, 'vanishing-', ...NEVER_IN_AUDIT, USER_AGENT];
  // The test can see: while the person is there, everything is found.
  const before = tracesIn(app, [user.id, ...personal]);
  for (const word of [user.id, ...personal]) {
    assert.ok(
      before.some((trace) => trace.startsWith(`${word} in`)),
      `${word} is nowhere`,
    );
  }

  assert.equal((await app.admin('DELETE', `/users/${user.id}`)).status, 204);
  const isTold = (trace: string): boolean =>
    / in audit:/.test(trace) && !NEVER_IN_AUDIT.some((word) => trace.startsWith(`${word} in`));
  const left = tracesIn(app, [user.id, ...personal]).filter((trace) => !isTold(trace));
  assert.deepEqual(left, []);
});

test('user deletion: no credential of the user works any more', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  const life = await liveAFullLife(app);
  assert.equal(await isActive(app, life.others.access_token), true);
  assert.equal((await app.admin('DELETE', `/users/${life.user.id}`)).status, 204);

  for (const { access_token: access, refresh_token: token } of [life.tokens, life.rotated, life.others]) {
    assert.equal(await isActive(app, access), false);
    assert.equal(await isActive(app, token), false);
    const userinfo = await fetch(`${app.url}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${access}` },
    });
    assert.equal(userinfo.status, 401);
  }
  assert.equal((await refresh(app, life.first, life.rotated.refresh_token)).status, 400);
  assert.equal((await redeem(app, life.first, life.unredeemed)).status, 400);
  const polled = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: DEVICE_GRANT,
      client_id: life.device.client.id,
      device_code: life.device.code,
    }),
  });
  assert.equal(polled.status, 400);
  const silent = await life.browser.authorize({ ...honestRequest(life.first.id), prompt: 'none' });
  assert.match(silent.location ?? '', /error=login_required/);
  const form = await openSignIn(app, life.first.id);
  assert.equal(isAccepted(await form.attempt(USERNAME)), false);
  assert.equal(isAccepted(await form.attempt(EMAIL)), false);
});

test('attack: mails of another person, removed with an account of that address', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  const victim = await app.createUser('victim', { email: 'victim@example.com', is_email_verified: true });
  const browser = new Agent(app);
  const page = await browser.submit(await browser.follow(await browser.get('/account/email')), {
    username: victim.username,
    password: PASSWORD,
  });
  const { csrf = '' } = hiddenFields(page.body);
  const email = 'wanted@example.com';
  await browser.post('/account/email', { csrf, email });
  await app.admin('POST', '/invitations', { email });
  const templates = async (): Promise<string[]> => {
    const { body } = await app.admin('GET', `/mails?to=${email}`);
    return (body.data.items ?? []).map(({ template }) => String(template)).sort();
  };
  const before = await templates();
  assert.equal(before.length, 2, String(before));
  const taker = await app.createUser('taker', { email });
  assert.equal((await app.admin('POST', `/users/${taker.id}/send-email-verification`)).status, 200);
  assert.equal((await templates()).length, 3);
  assert.equal((await app.admin('DELETE', `/users/${taker.id}`)).status, 204);
  assert.deepEqual(await templates(), before);
});

test('user deletion: a new user of the same name inherits nothing', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  const life = await liveAFullLife(app);
  await app.admin('DELETE', `/users/${life.user.id}`);
  const heir = await app.createUser(USERNAME, { email: EMAIL, is_email_verified: true });
  assert.notEqual(heir.id, life.user.id);

  const { body } = await app.admin('GET', `/users/${heir.id}`);
  assert.deepEqual(
    [body.data.name, body.data.phone_number, body.data.failed_login_attempts],
    [null, null, 0],
  );
  assert.equal((await app.admin('GET', `/users/${heir.id}/sessions`)).body.data.total, 0);
  assert.equal((await refresh(app, life.first, life.rotated.refresh_token)).status, 400);
  assert.equal(await isActive(app, life.others.access_token), false);
  const silent = await life.browser.authorize({ ...honestRequest(life.first.id), prompt: 'none' });
  assert.match(silent.location ?? '', /error=login_required/);

  // What the dead agreed to, the heir is asked again.
  const form = await openSignIn(app, life.consenting.id);
  const page = await form.browser.follow(await form.attempt(USERNAME, PASSWORD));
  assert.match(page.body, /\/oauth2\/consent/);
  assert.doesNotMatch(page.location ?? '', new RegExp(REDIRECT_URI));
});
