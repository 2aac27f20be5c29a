// The self-service pages (decision 0023): what each act does, to whom
// it is refused, and what remains.
import assert from 'node:assert/strict';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { accounts } from '../../src/store/collections.ts';
import { Agent, hiddenFields, type Page, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { park, parkAtOffer } from './parked-sign-in.ts';
import { change, isActive, sessionsOf } from './support.ts';

const HOME = '/account';
const FACTOR = '/account/second-factor';
const NEW_PASSWORD = 'seven green kettles on a shelf';

let app: TestApp;
let client: { id: string; secret: string };
let agent: Agent;
let user: { id: string; username: string };
let people = 0;

before(async () => {
  app = await startApp();
  client = await app.register();
});
after(() => app.stop());
beforeEach(async () => {
  user = await newPerson();
  agent = new Agent(app);
});

async function newPerson(fields: Record<string, unknown> = {}) {
  people += 1;
  const name = `person-${people}`;
  return app.createUser(name, { email: `${name}@example.com`, is_email_verified: true, ...fields });
}

/** The page, after the sign-in that it leads to. */
async function open(
  browser: Agent,
  { username }: { username: string },
  path = HOME,
  password = PASSWORD,
): Promise<Page> {
  const first = await browser.follow(await browser.get(path));
  if (!first.body.includes('name="password"') || first.url.includes('/account')) return first;
  return browser.submit(first, { username, password });
}

/** Closed with the test, or its server would keep the process alive. */
async function mailboxOf(t: TestContext) {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  return mailbox;
}

const csrfOf = (page: Page): string => hiddenFields(page.body).csrf ?? '';

const press = (browser: Agent, page: Page, act: string, fields: Record<string, string> = {}): Promise<Page> =>
  browser.post(`${HOME}/${act}`, { csrf: csrfOf(page), ...fields });

/** The form's own values of a row whose text fits. */
const idIn = (page: Page, act: string, nth = 0): string => {
  const forms = [...page.body.matchAll(/<form[^>]*action="([^"]+)"[\s\S]*?<\/form>/g)].filter(
    ([, action = '']) => action.endsWith(act),
  );
  return hiddenFields(forms[nth]?.[0] ?? '').id ?? '';
};

const changePassword = (browser: Agent, page: Page, given: string, next: string): Promise<Page> =>
  press(browser, page, 'password', { current_password: given, password: next, confirm_password: next });

/** Turns the app on by hand. @returns the phone, and the page with the recovery codes */
async function turnOn(
  browser: Agent,
  replacing?: Phone,
): Promise<{ phone: Phone; page: Page; secret: string }> {
  const shown = await browser.get(`${FACTOR}/app`);
  assert.equal(shown.status, 200, shown.location ?? shown.body);
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(shown.body)?.[1] ?? '';
  const phone = createPhone(secret, app);
  const fields = { ...hiddenFields(shown.body), code: phone.code() };
  const page = await browser.follow(await browser.post(`${FACTOR}/app`, fields));
  assert.equal(page.status, 200, page.body);
  assert.equal(replacing === undefined, page.body.includes('<ul id="codes"'));
  return { phone, page, secret };
}

/** Signs in anew, as the page asks for. */
async function confirm(browser: Agent, page: Page, phone?: Phone): Promise<Page> {
  const [, url = ''] = /href="([^"]*prompt=login[^"]*)"/.exec(page.body) ?? [];
  const login = await browser.get(url.replaceAll('&amp;', '&'));
  const next = await browser.submit(login, { username: user.username, password: PASSWORD });
  return phone === undefined ? next : browser.submit(next, { method: 'totp', code: phone.code() });
}

const events = async (event: string): Promise<number> =>
  (await app.admin('GET', `/audit?event=${event}&target_id=${user.id}`)).body.data.items?.length ?? 0;

test('attack: a stolen password used up after the owner enabled TOTP', async () => {
  const [parked, offered] = [await park(app, client, user), await parkAtOffer(app, client, user)];
  await open(agent, user);
  await turnOn(agent);
  await parked.isWorthless();
  await offered.isWorthless();
});

test('attack: a code of the old authenticator after the owner replaced it', async () => {
  await open(agent, user);
  const { phone } = await turnOn(agent);
  app.advance(31_000);
  const parked = await park(app, client, user, () => phone.code());
  app.advance(31_000);
  await turnOn(agent, phone);
  assert.equal(await events('mfa.enrolled'), 2);
  await parked.isWorthless();
});

test('account page: profile, protection, sessions and recent events', async () => {
  await change(app, { product_name: 'Latchkey' });
  const third = await app.register({ client_name: 'Acme <b>Analytics</b>', skip_consent: false });
  await agent.signIn(third.id, user, { scope: 'openid email offline_access', prompt: 'consent' });
  const page = await open(agent, user);
  assert.equal(page.status, 200);
  for (const text of [
    user.username,
    `${user.username}@example.com`,
    'A stolen password would be enough',
    'Set up an authenticator app',
    'Acme &lt;b&gt;Analytics&lt;/b&gt;',
    'See your e-mail address',
    'Stay connected while you are away',
    'This device',
    'Access granted to <b><bdi>Acme &#60;b&#62;Analytics&#60;/b&#62;</bdi></b>',
    'Signed in',
  ])
    assert.ok(page.body.includes(text), text);
  assert.doesNotMatch(page.body, /latchkey-admin/, 'our own pages are no application');
});

test('attack: framing and caching account pages (clickjacking)', async () => {
  await open(agent, user);
  for (const path of [HOME, '/account/password', FACTOR, `${FACTOR}/app`, '/account/passkeys']) {
    const { status, headers } = await agent.get(path);
    assert.equal(status, 200, path);
    assert.equal(headers.get('x-frame-options'), 'DENY', path);
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, path);
    assert.equal(headers.get('cache-control'), 'no-store', path);
    assert.equal(headers.get('referrer-policy'), 'same-origin', path);
  }
  const out = await new Agent(app).get(HOME);
  assert.equal(out.headers.get('cache-control'), 'no-store');
});

const ACTS = [
  'password',
  'sessions/end',
  'sessions/end-others',
  'devices/forget',
  'devices/forget-all',
  'applications/remove',
  'email/verify',
  'second-factor/app',
  'second-factor/app/remove',
  'second-factor/email/remove',
  'second-factor/codes',
] as const;

test('attack: each account form from another site, without token or of another session', async () => {
  const page = await open(agent, user);
  const other = await open(new Agent(app), user);
  assert.notEqual(csrfOf(page), csrfOf(other));
  const fields = {
    current_password: PASSWORD,
    password: NEW_PASSWORD,
    confirm_password: NEW_PASSWORD,
    id: 'x',
  };
  for (const act of ACTS) {
    const strikes = [
      await agent.post(`${HOME}/${act}`, fields),
      await agent.post(`${HOME}/${act}`, { ...fields, csrf: csrfOf(other) }),
      await agent.post(
        `${HOME}/${act}`,
        { ...fields, csrf: csrfOf(page) },
        { headers: { origin: 'https://evil.example' } },
      ),
      await agent.post(
        `${HOME}/${act}`,
        { ...fields, csrf: csrfOf(page) },
        {
          headers: {
            'sec-fetch-site': 'cross-site',
            'sec-fetch-mode': 'navigate',
            'sec-fetch-dest': 'document',
          },
        },
      ),
    ];
    assert.deepEqual(
      strikes.map(({ status }) => status),
      [403, 403, 403, 403],
      act,
    );
    const signedOut = await new Agent(app).post(`${HOME}/${act}`, fields);
    assert.match(signedOut.location ?? '', /oauth2\/authorize/, act);
  }
  assert.equal((await sessionsOf(app, user.id)).filter((one) => one.is_active).length, 2);
  assert.equal(await events('password.changed'), 0);
});

test('attack: sensitive acts with a sign-in of six minutes ago require a new one', async () => {
  const victim = new Agent(app);
  await open(victim, user);
  const page = await open(agent, user);
  const id = idIn(page, '/sessions/end');
  app.advance(361_000);
  const stale = await agent.get(HOME);
  assert.match(stale.body, /prompt=login/);
  assert.equal(idIn(stale, '/sessions/end'), '');
  for (const act of ACTS.filter((name) => name !== 'password' && name !== 'email/verify')) {
    // The token of an enrolment is bound to what was shown; the plain one fits what has nothing pending.
    const { location } = await press(agent, page, act, { id, pending: '' });
    assert.match(location ?? '', /prompt=login/, act);
  }
  assert.match((await agent.get(`${FACTOR}/app`)).location ?? '', /prompt=login/);
  assert.equal((await victim.get(HOME)).status, 200);
  // Signing in again is enough.
  const fresh = await confirm(agent, stale);
  assert.equal(fresh.status, 200);
  assert.equal((await press(agent, fresh, 'sessions/end', { id })).status, 303);
  assert.match((await victim.get(HOME)).location ?? '', /oauth2\/authorize/);
});

test('attack: another user’s session, device, application and passkey by id (IDOR)', async () => {
  const victim = await newPerson();
  const theirs = new Agent(app);
  const authorization = await theirs.signIn(client.id, victim, {
    scope: 'openid offline_access',
    prompt: 'consent',
  });
  const tokens = await redeem(app, client, authorization);
  const [session] = await sessionsOf(app, victim.id);
  const page = await open(agent, user);
  const strikes: [string, string][] = [
    ['sessions/end', String(session?.id)],
    ['devices/forget', 'x'.repeat(43)],
    ['applications/remove', client.id],
    ['applications/remove', 'latchkey-admin'],
    ['applications/remove', `${victim.id}:${client.id}`],
    ['passkeys/remove', 'x'],
  ];
  for (const [act, id] of strikes)
    assert.equal((await press(agent, page, act, { id })).status, 404, `${act} ${id}`);
  assert.equal((await sessionsOf(app, victim.id))[0]?.is_active, true);
  assert.equal(await isActive(app, tokens.body.access_token), true);
});

test('own sessions: ending one, all others or an application revokes their tokens', async () => {
  const phone = new Agent(app);
  const other = await redeem(
    app,
    client,
    await phone.signIn(client.id, user, { scope: 'openid offline_access' }),
  );
  const mine = await redeem(
    app,
    client,
    await agent.signIn(client.id, user, { scope: 'openid offline_access' }),
  );
  const page = await open(agent, user);
  const [ended] = (await sessionsOf(app, user.id)).filter(({ id }) => id === idIn(page, '/sessions/end'));
  assert.ok(ended, 'the other session is listed, this one has no button');
  const after = await agent.follow(await press(agent, page, 'sessions/end', { id: String(ended.id) }));
  assert.match(after.body, /Device signed out/);
  assert.equal(await isActive(app, other.body.access_token), false);
  assert.equal((await refresh(app, client, other.body.refresh_token)).status, 400);
  assert.equal(await isActive(app, mine.body.access_token), true);

  // An application with a token that outlives its session is closed by name.
  const removed = await agent.follow(await press(agent, page, 'applications/remove', { id: client.id }));
  assert.match(removed.body, /Access removed/);
  assert.equal(await isActive(app, mine.body.access_token), false);
  assert.equal((await refresh(app, client, mine.body.refresh_token)).status, 400);
  assert.equal((await press(agent, page, 'applications/remove', { id: client.id })).status, 404);
  assert.equal(await events('consent.revoked'), 1);

  const third = new Agent(app);
  const again = await redeem(
    app,
    client,
    await third.signIn(client.id, user, { scope: 'openid offline_access' }),
  );
  const alone = await agent.follow(await press(agent, page, 'sessions/end-others'));
  assert.match(alone.body, /Signed out everywhere else/);
  assert.equal(await isActive(app, again.body.access_token), false);
  assert.match((await third.get(HOME)).location ?? '', /authorize/);
});

test('password change: ends other sessions and tokens; this browser gets a new session', async (t) => {
  const mailbox = await mailboxOf(t);
  const phone = new Agent(app);
  const other = await redeem(
    app,
    client,
    await phone.signIn(client.id, user, { scope: 'openid offline_access' }),
  );
  const page = await open(agent, user, '/account/password');
  assert.match(page.url, /\/account\/password$/, 'the sign-in leads back to the page that was asked for');
  const cookies = agent.cookiesFor('/');
  const weak = await changePassword(agent, page, PASSWORD, 'password');
  assert.equal(weak.status, 400);
  assert.doesNotMatch(weak.body, /value="password"/);
  const unlike = await press(agent, page, 'password', {
    current_password: PASSWORD,
    password: NEW_PASSWORD,
    confirm_password: 'x',
  });
  assert.equal(unlike.status, 400);
  const changed = await agent.follow(await changePassword(agent, page, PASSWORD, NEW_PASSWORD));
  assert.match(changed.body, /Password changed/);
  assert.equal(await isActive(app, other.body.access_token), false);
  assert.equal((await refresh(app, client, other.body.refresh_token)).status, 400);
  assert.match((await phone.get(HOME)).location ?? '', /authorize/);
  assert.equal((await sessionsOf(app, user.id)).filter((one) => one.is_active).length, 1);

  // attack: the old session cookie after the change (R063)
  const thief = new Agent(app);
  thief.plant(cookies);
  assert.match((await thief.get(HOME)).location ?? '', /authorize/);
  assert.notEqual(agent.cookiesFor('/'), cookies);

  assert.equal(await events('password.changed'), 1);
  assert.equal(await events('signin.success'), 2, 'no sign-in is told of that was none');
  await mailbox.deliver();
  assert.ok(mailbox.received.some(({ mail }) => /password was changed/.test(mail.subject ?? '')));
  assert.match((await open(new Agent(app), user, HOME, NEW_PASSWORD)).body, /Your account/);
});

test('first password: set after a fresh sign-in, not with an old one', async () => {
  const page = await open(agent, user);
  const records = app.store.collection(accounts);
  const { passwordHash: _gone, ...without } = (await records.find(user.id))?.value ?? assert.fail();
  await records.put(user.id, without);
  const set = (): Promise<Page> =>
    press(agent, page, 'password', { password: NEW_PASSWORD, confirm_password: NEW_PASSWORD });
  app.advance(361_000);
  assert.match((await set()).location ?? '', /prompt=login/);
  assert.match((await agent.get('/account/password')).body, /Before you choose a password/);
  app.advance(-361_000);
  assert.match((await agent.get('/account/password')).body, /Set a password/);
  assert.match((await agent.follow(await set())).body, /Password set/);
  assert.match((await open(new Agent(app), user, HOME, NEW_PASSWORD)).body, /Your account/);
});

async function signedIn(): Promise<Agent> {
  const browser = new Agent(app);
  await open(browser, user);
  return browser;
}

/** Everything of that browser but what the account knows it by (decision 0012). */
function withoutKnownCookie(browser: Agent): Agent {
  const copy = new Agent(app);
  const cookies = browser.cookiesFor('/').split('; ');
  copy.plant(cookies.filter((one) => !one.startsWith('latchkey_known')).join('; '));
  return copy;
}

test('attack: guessing the current password on its form with a stolen session', async () => {
  const thief = withoutKnownCookie(await signedIn());
  const page = await open(thief, user, '/account/password');
  for (let guess = 1; guess <= 4; guess += 1) {
    const wrong = await changePassword(thief, page, `guess ${guess}`, NEW_PASSWORD);
    assert.equal(wrong.status, 401);
    assert.match(wrong.body, /Your current password is incorrect/);
  }
  await changePassword(thief, page, 'guess 5', NEW_PASSWORD);
  const { body } = await app.admin('GET', `/users/${user.id}`);
  assert.notEqual(body.data.locked_until, null, 'five in a row lock, as at the sign-in');
  // The right one is worth nothing now; the session lives on, since guesses end nothing.
  assert.equal((await changePassword(thief, page, PASSWORD, NEW_PASSWORD)).status, 401);
  assert.equal(await events('signin.failure'), 6);
  app.advance(901_000);
  assert.match((await open(new Agent(app), user)).body, /Your account/, 'the old password still counts');
});

test('attack: twenty guesses at the current password at once: five evaluated', async () => {
  const thief = withoutKnownCookie(await signedIn());
  const page = await open(thief, user, '/account/password');
  const guesses = Array.from({ length: 20 }, (_, index) =>
    changePassword(thief, page, index === 19 ? PASSWORD : `guess ${index}`, NEW_PASSWORD),
  );
  await Promise.all(guesses);
  const { body } = await app.admin('GET', `/users/${user.id}`);
  assert.equal(body.data.failed_login_attempts, 5);
  assert.equal(await events('password.changed'), 0);
});

test('password form: the limit per address applies and says how long', async () => {
  await change(app, { limit_login_account_ip: 2 });
  try {
    const bare = withoutKnownCookie(await signedIn());
    const page = await open(bare, user, '/account/password');
    const answers: Page[] = [];
    for (let guess = 0; guess < 4; guess += 1)
      answers.push(await changePassword(bare, page, 'wrong', NEW_PASSWORD));
    const last = answers.at(-1);
    assert.equal(last?.status, 429);
    assert.match(last?.body ?? '', /role="timer"/);
  } finally {
    await change(app, { limit_login_account_ip: 1_000_000 });
  }
});

test('TOTP enrolment: needs a valid code, uses it up and ends other sessions', async (t) => {
  const mailbox = await mailboxOf(t);
  const elsewhere = new Agent(app);
  await open(elsewhere, user);
  await open(agent, user);
  const first = await agent.get(`${FACTOR}/app`);
  const wrong = await agent.post(`${FACTOR}/app`, { ...hiddenFields(first.body), code: '000000' });
  assert.equal(wrong.status, 401);
  const secretOf = (page: Page): string => /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? 'none';
  assert.equal(secretOf(wrong), secretOf(first), 'the picture that was scanned stays good');
  const code = createPhone(secretOf(first), app).code();
  const sent = { ...hiddenFields(wrong.body), code };
  const shown = await agent.follow(await agent.post(`${FACTOR}/app`, sent));
  assert.match(shown.body, /Save your recovery codes/);
  assert.equal((shown.body.match(/<li><code>/g) ?? []).length, 10);
  assert.match((await elsewhere.get(HOME)).location ?? '', /authorize/);

  // attack: the enrolment sent again, and its secret looked for afterwards (R099)
  const again = await agent.post(`${FACTOR}/app`, sent);
  assert.equal(again.status, 409);
  for (const page of [
    again,
    await agent.get(FACTOR),
    await agent.get(HOME),
    await agent.get(`${FACTOR}/app`),
  ]) {
    assert.equal(page.body.includes(secretOf(first)), false);
    assert.equal(page.body.includes(shown.body.match(/<li><code>(\S+?)<\/code>/)?.[1] ?? 'none'), false);
  }

  // attack: the code that turned it on, at the next sign-in (R092)
  const next = new Agent(app);
  const challenge = await open(next, user);
  const replayed = await next.submit(challenge, { method: 'totp', code });
  assert.equal(replayed.status, 401);

  assert.equal(await events('mfa.enrolled'), 1);
  await mailbox.deliver();
  assert.ok(mailbox.received.some(({ mail }) => /Two-step sign-in is on/.test(mail.subject ?? '')));
});

test('attack: an enrolment begun in another session or by another user', async () => {
  const other = new Agent(app);
  await open(other, user);
  await open(agent, user);
  const theirs = await other.get(`${FACTOR}/app`);
  const mine = await agent.get(`${FACTOR}/app`);
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(theirs.body)?.[1] ?? '';
  const { pending = '' } = hiddenFields(theirs.body);
  const code = createPhone(secret, app).code();
  const swapped = await agent.post(`${FACTOR}/app`, { ...hiddenFields(mine.body), pending, code });
  assert.equal(swapped.status, 403);
  const { body } = await app.admin('GET', `/users/${user.id}`);
  assert.equal(body.data.totp_verified, false);
});

test('attack: a password session on a trusted browser removes the factor (R098, R101)', async () => {
  // Its address unconfirmed, so that the page has a form whose token such a session can use.
  user = await newPerson({ is_email_verified: false });
  await open(agent, user);
  const { phone } = await turnOn(agent);
  const trusted = new Agent(app);
  await trusted.submit(await open(trusted, user), { method: 'totp', code: phone.code(), trust_device: 'on' });
  await trusted.get('/oauth2/logout');
  assert.match((await open(trusted, user, FACTOR)).body, /prompt=login/);
  const home = await trusted.get(HOME);
  assert.match(home.body, /Trusted devices/);
  assert.notEqual(csrfOf(home), '');
  for (const act of ['second-factor/app/remove', 'second-factor/codes', 'devices/forget-all', 'password'])
    assert.match((await press(trusted, home, act)).location ?? '', /prompt=login/, act);
  assert.match((await trusted.get(`${FACTOR}/app`)).location ?? '', /prompt=login/);
  assert.equal((await app.admin('GET', `/users/${user.id}`)).body.data.totp_verified, true);
});

test('TOTP: replacing or removing it needs the current factor, which is then void', async (t) => {
  const mailbox = await mailboxOf(t);
  await open(agent, user);
  const { phone, page } = await turnOn(agent);
  const [, recovery = ''] = /<li><code>(\S+?)<\/code>/.exec(page.body) ?? [];

  const trusted = new Agent(app);
  await trusted.submit(await open(trusted, user), { method: 'totp', code: phone.code(), trust_device: 'on' });
  app.advance(361_000);
  const stale = await agent.get(FACTOR);
  const fresh = await confirm(agent, stale, phone);
  assert.match(fresh.body, /Use a different app or phone/);
  const sent = await press(agent, fresh, 'second-factor/codes');
  assert.equal(sent.status, 303);
  const made = await agent.follow(sent);
  // A reload of that page creates no others, and shows them to no one again.
  const again = await agent.follow(await agent.get(sent.location ?? ''));
  assert.equal((again.body.match(/<li><code>/g) ?? []).length, 0);
  assert.equal((made.body.match(/<li><code>/g) ?? []).length, 10);
  assert.equal(made.body.includes(recovery), false);
  const { phone: second } = await turnOn(agent, phone);
  assert.match((await trusted.get(HOME)).location ?? '', /authorize/, 'replacing ends other sessions');
  const browser = new Agent(app);
  const challenge = await open(browser, user);
  assert.match(challenge.body, /name="code"/, 'no browser is trusted any more');
  assert.equal((await browser.submit(challenge, { method: 'totp', code: phone.code() })).status, 401);
  const old = await browser.submit(challenge, { method: 'recovery', code: recovery });
  assert.equal(old.status, 401, 'codes from before were void');
  assert.match(
    (await browser.submit(challenge, { method: 'totp', code: second.code() })).body,
    /Your account/,
  );

  const off = await agent.follow(await press(agent, await agent.get(FACTOR), 'second-factor/app/remove'));
  assert.match(off.body, /Second step turned off/);
  assert.match((await open(new Agent(app), user)).body, /Your account/);
  for (const event of ['mfa.removed', 'recovery.generated']) assert.equal(await events(event), 1, event);
  await mailbox.deliver();
  const subjects = mailbox.received.map(({ mail }) => mail.subject ?? '').join('\n');
  for (const subject of [/New recovery codes/, /Authenticator app replaced/, /second step was turned off/])
    assert.match(subjects, subject);
});

test('attack: removing the last second factor where one is required', async () => {
  await open(agent, user);
  await turnOn(agent);
  await change(app, { mfa_mode: 'required' });
  try {
    const page = await agent.get(FACTOR);
    assert.doesNotMatch(page.body, /app\/remove/);
    assert.match(page.body, /can’t be turned off/);
    const refused = await press(agent, page, 'second-factor/app/remove');
    assert.equal(refused.status, 409);
    assert.match(refused.body, /a second step is required here/);
    assert.equal((await app.admin('GET', `/users/${user.id}`)).body.data.totp_verified, true);
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
});

test('attack: changing factors while they are switched off for everyone', async () => {
  await open(agent, user);
  const { phone } = await turnOn(agent);
  await change(app, { mfa_mode: 'off' });
  try {
    const browser = new Agent(app);
    const page = await open(browser, user, FACTOR);
    assert.match(page.body, /turned off for all users/);
    assert.equal((await press(browser, page, 'second-factor/app/remove')).status, 403);
    assert.equal((await browser.get(`${FACTOR}/app`)).status, 403);
    // They would lie in wait until they are asked for again.
    assert.equal((await press(browser, page, 'second-factor/codes')).status, 403);
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
  const challenge = await open(new Agent(app), user);
  assert.match(challenge.body, /name="code"/);
  assert.ok(phone.code());
});

test('attack: a session after deactivation or a password reset by an administrator', async () => {
  const page = await open(agent, user);
  await app.admin('POST', `/users/${user.id}/deactivate`);
  for (const act of ['password', 'sessions/end-others', 'second-factor/codes'])
    assert.match((await press(agent, page, act)).location ?? '', /oauth2\/authorize/, act);
  assert.match((await agent.get(HOME)).location ?? '', /oauth2\/authorize/);
  await app.admin('POST', `/users/${user.id}/reactivate`);
  assert.match(
    (await agent.get(HOME)).location ?? '',
    /oauth2\/authorize/,
    'it does not come back with the account',
  );
  const second = await open(agent, user, '/account/password');
  await app.admin('PATCH', `/users/${user.id}`, { password: NEW_PASSWORD });
  assert.match(
    (await changePassword(agent, second, PASSWORD, 'mine again, he thought')).location ?? '',
    /authorize/,
  );
});

test('e-mail codes: shown, and turned off by a code, on a trusted browser too', async (t) => {
  const mailbox = await mailboxOf(t);
  const record = await app.store
    .collection((await import('../../src/store/collections.ts')).accounts)
    .find(user.id);
  assert.ok(record);
  await change(app, { mfa_mode: 'required' });
  const last = async (): Promise<string> => {
    await mailbox.deliver();
    const mail = mailbox.received.findLast(({ to }) => to.includes(`${user.username}@example.com`))?.mail;
    return /\n {4}(\d{6})\n/.exec(mail?.text ?? '')?.[1] ?? '';
  };
  try {
    const enrolled = await agent.submit(await open(agent, user), { action: 'email' });
    let page = await agent.submit(enrolled, { method: 'email', code: await last(), trust_device: 'on' });
    if (page.body.includes('<ul id="codes"')) page = await agent.submit(page, { action: 'continue' });
    assert.match(page.body, /Codes by e-mail<\/b>\n<small>On/);
    await change(app, { mfa_mode: 'optional' });
    app.advance(361_000);
    const stale = await agent.get(FACTOR);
    const asked = await confirm(agent, stale);
    assert.match(asked.body, /name="code"/, 'a trusted browser is no second factor here (R101)');
    const fresh = await agent.submit(asked, { method: 'email', code: await last() });
    assert.match(fresh.body, /Codes by e-mail/);
    const off = await agent.follow(await press(agent, fresh, 'second-factor/email/remove'));
    assert.match(off.body, /Second step turned off/);
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
});

test('e-mail verification link: mailed to the owner, limited, and only when unverified', async (t) => {
  const mailbox = await mailboxOf(t);
  user = await newPerson({ is_email_verified: false });
  const page = await open(agent, user);
  assert.match(page.body, /Not confirmed yet/);
  const sent = await agent.follow(await press(agent, page, 'email/verify'));
  assert.match(sent.body, /sending you an e-mail/);
  const link = await mailbox.linkTo(`${user.username}@example.com`);
  await agent.submit(await agent.get(link), {});
  assert.match((await agent.get(HOME)).body, /Confirmed/);
  assert.equal((await press(agent, page, 'email/verify')).status, 400);
  user = await newPerson({ is_email_verified: false });
  const other = new Agent(app);
  const theirs = await open(other, user);
  await change(app, { limit_mail_owner: 2 });
  try {
    const answers: number[] = [];
    for (let wish = 0; wish < 3; wish += 1) answers.push((await press(other, theirs, 'email/verify')).status);
    assert.deepEqual(answers, [303, 303, 429]);
  } finally {
    await change(app, { limit_mail_owner: 1_000_000 });
  }
});

test('cancelled re-authentication: leads to a page, without a loop', async () => {
  const callback = `${HOME}/callback?error=access_denied&state=password`;
  const page = await agent.get(callback);
  assert.equal(page.status, 200);
  assert.match(page.body, /href="http:\/\/127\.0\.0\.1:\d+\/account\/password"/);
  const odd = await agent.get(`${HOME}/callback?error=access_denied&state=//evil.example`);
  assert.doesNotMatch(odd.body, /evil/);
  await open(agent, user);
  assert.equal((await agent.get(`${HOME}/callback?state=//evil.example`)).location, `${app.url}${HOME}`);
});
