// Attacks that would make an old session fresh without an authentication (decision 0011): requests for
// more than can be had, steps with nothing to ask for, and a seeded random walk through sign-ins, step-ups, prompts, refreshes
// and half-finished pages.
// A process of its own: its clock is moved.
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { generateSync } from 'otplib';
import { accounts } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { change, claimsOf, introspect, postForm } from '../flows/support.ts';
import { type MailServer, startMailServer } from '../mail/support.ts';
import { Agent, codeRequest, hiddenFields, type Page, redeem, refresh, VERIFIER } from '../support/agent.ts';
import { opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { goOn, makePasskey, originOf, usePasskey } from '../support/passkeys.ts';
import { enrolPhone } from '../support/phone.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';

const MULTI_FACTOR = 'urn:latchkey:acr:multi-factor';
const FACTOR = '/account/second-factor';
const FRESH_SECONDS = 300;

let app: TestApp;
let mailServer: MailServer;
let client: { id: string; secret: string };
let stranger: { id: string; secret: string };

before(async () => {
  app = await startApp();
  mailServer = await startMailServer();
  await change(app, { smtp_url: mailServer.url() });
  client = await app.register(opensAccounts);
  stranger = await app.register({ skip_consent: false });
});
after(async () => {
  await app.stop();
  await mailServer.close();
});

const set = (values: Record<string, unknown>): Promise<void> => change(app, values);

const authorize = (agent: Agent, parameters: Record<string, string> = {}): Promise<Page> =>
  agent
    .authorize({
      ...codeRequest(client.id),
      scope: 'openid account',
      ...parameters,
    })
    .then((page) => agent.follow(page));

const essential = (acr: string): Record<string, string> => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, value: acr } } }),
});

const answerOf = (page: Page): URLSearchParams => new URL(page.location ?? 'about:blank').searchParams;

const tokensOf = async (page: Page, application = client) =>
  (await redeem(app, application, { code: answerOf(page).get('code') ?? '', verifier: VERIFIER })).body;

/** As the person's own page says it. */
const isFresh = async (agent: Agent): Promise<boolean> => {
  const page = await agent.get(FACTOR);
  assert.equal(page.status, 200, page.location ?? '');
  return !page.body.includes('prompt=login');
};

const authTimeOf = async (agent: Agent): Promise<unknown> =>
  claimsOf((await tokensOf(await authorize(agent, { prompt: 'none' }))).id_token).auth_time;

async function signedIn(username: string): Promise<Agent> {
  await app.createUser(username, { email: `${username}@example.com`, is_email_verified: true });
  const agent = new Agent(app);
  const page = await agent.submit(await authorize(agent), { username, password: PASSWORD });
  assert.notEqual(answerOf(page).get('code'), null, page.body.slice(0, 300));
  return agent;
}

/** Of the last mail that arrived for them. */
async function lastMailedCode(username: string): Promise<string> {
  const to = `${username}@example.com`;
  const arrived = () => mailServer.received.filter((one) => one.to.includes(to));
  const before = arrived().length;
  for (let turn = 0; turn < 50 && arrived().length === before; turn += 1) {
    app.advance(3000);
    await app.app.jobs.tick();
  }
  return /\n {4}(\d{6})\n/.exec(String(arrived().at(-1)?.mail.text))?.[1] ?? '';
}

/** @returns the access token of a device that the person connects in this browser */
async function connect(agent: Agent): Promise<string> {
  const { id: client_id } = await app.register(television);
  const { body: device } = await postForm(app, '/oauth2/device_authorization', {
    client_id,
    scope: 'openid',
  });
  const page = await agent.submit(await agent.get('/oauth2/device'), { user_code: String(device.user_code) });
  await agent.submit(page, { confirm: 'yes' });
  const grant = { grant_type: DEVICE_GRANT, device_code: String(device.device_code), client_id };
  return String((await postForm(app, '/oauth2/token', grant)).body.access_token);
}

/** Acts that end every other session and authenticate nobody. First, since the core's clock is the machine's. */
const ACTS: Record<string, (agent: Agent, user: { id: string }, csrf: string) => Promise<Page>> = {
  'another primary address': (agent, _user, csrf) =>
    agent.post('/account/email/primary', { csrf, id: 'second@example.net' }),
  'a first password': async (agent, { id }, csrf) => {
    await update(app.store.collection(accounts), id, ({ passwordHash: _hash, ...value }) => ({ value }));
    const password = 'nine yellow boats at noon';
    return agent.post('/account/password', { csrf, password, confirm_password: password });
  },
};

for (const [name, act] of Object.entries(ACTS))
  test(`attack: ${name} moves auth_time, by which an old sign-in passes max_age`, async () => {
    const username = `changes-${name.replaceAll(' ', '-')}`;
    const email = `${username}@example.com`;
    const other_emails = name.includes('address') ? ['second@example.net'] : [];
    const user = await app.createUser(username, { email, is_email_verified: true, other_emails });
    const agent = new Agent(app);
    await agent.submit(await authorize(agent), { username, password: PASSWORD });
    const idOf = async (page: Page) => claimsOf((await tokensOf(page)).id_token);
    const before = await idOf(await authorize(agent, { prompt: 'none' }));
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 120_000 });
    try {
      const { csrf = '' } = hiddenFields((await agent.get('/account/email')).body);
      assert.equal((await act(agent, user, csrf)).status, 303);
      mock.timers.setTime(Date.now() + 5000);

      // The session goes on, and so does what comes from it.
      assert.equal((await agent.get('/account')).status, 200);
      const tokens = await tokensOf(
        await authorize(agent, { prompt: 'none', scope: 'openid offline_access' }),
      );
      const { auth_time, amr, acr } = claimsOf(tokens.id_token);
      assert.deepEqual([auth_time, amr, acr], [before.auth_time, before.amr, before.acr]);
      const again = (await refresh(app, client, tokens.refresh_token)).body;
      const connected = await connect(agent);
      assert.equal(claimsOf(connected).auth_time, before.auth_time);
      for (const token of [tokens.access_token, again.access_token, again.refresh_token, connected])
        assert.equal((await introspect(app, token)).body.active, true);
      assert.equal(claimsOf(again.access_token).auth_time, before.auth_time);

      const silent = await authorize(agent, { prompt: 'none', max_age: '60' });
      assert.equal(answerOf(silent).get('error'), 'login_required');
      const asked = await authorize(agent, { max_age: '60' });
      assert.match(asked.body, /name="password"/);
    } finally {
      mock.timers.reset();
    }
  });

test('attack: an essential acr that cannot be met makes an old session fresh', async () => {
  const agent = await signedIn('asks-for-nonsense');
  const signedInAt = await authTimeOf(agent);
  app.advance(20 * 60_000);
  assert.equal(await isFresh(agent), false);
  for (const parameters of [
    essential('urn:nonsense'),
    { claims: JSON.stringify({ id_token: { acr: { essential: true, values: ['urn:a', 'urn:b'] } } }) },
    { ...essential('urn:nonsense'), acr_values: 'urn:nonsense', max_age: '86400' },
  ]) {
    const page = await authorize(agent, parameters);
    const shown = page.location ?? page.body.slice(0, 300);
    assert.equal(answerOf(page).get('error'), 'unmet_authentication_requirements', shown);
    assert.equal(answerOf(page).get('code'), null);
    assert.equal(await isFresh(agent), false);
    assert.equal(await authTimeOf(agent), signedInAt);
  }
  const silent = await authorize(agent, { ...essential('urn:nonsense'), prompt: 'none' });
  assert.equal(answerOf(silent).get('error'), 'login_required');
  assert.equal(await authTimeOf(agent), signedInAt);
  // What those five minutes open.
  const form = await agent.get(FACTOR);
  const csrf = /name="csrf" value="([^"]*)"/.exec(form.body)?.[1] ?? '';
  const made = await agent.post(`${FACTOR}/codes`, { csrf });
  assert.ok(!made.body.includes('<ul id="codes"'));
});

test('attack: a mailed code for two factors, and an acr lower than the session has', async () => {
  const username = 'has-mailed-codes';
  await app.createUser(username, { email: `${username}@example.com`, is_email_verified: true });
  await set({ mfa_mode: 'required' });
  const agent = new Agent(app);
  try {
    const asked = await agent.submit(await authorize(agent), { username, password: PASSWORD });
    const sent = await agent.submit(asked, { action: 'email' });
    let page = await agent.submit(sent, { method: 'email', code: await lastMailedCode(username) });
    if (page.body.includes('<ul id="codes"')) page = await agent.submit(page, { action: 'continue' });
    assert.notEqual(answerOf(page).get('code'), null, page.body.slice(0, 300));
  } finally {
    await set({ mfa_mode: 'optional' });
  }
  const signedInAt = await authTimeOf(agent);
  app.advance(20 * 60_000);
  const wish = await authorize(agent, { acr_values: MULTI_FACTOR });
  assert.notEqual(answerOf(wish).get('code'), null, 'a wish that cannot be met is no error');
  assert.equal(claimsOf((await tokensOf(wish)).id_token).auth_time, signedInAt);
  const demanded = await authorize(agent, essential(MULTI_FACTOR));
  assert.match(demanded.body, /name="password"/, 'an old session adds no factor (R098)');
  const below = await authorize(agent, essential('urn:latchkey:acr:single-factor'));
  assert.equal(answerOf(below).get('error'), 'unmet_authentication_requirements');
  assert.equal(await isFresh(agent), false);
  assert.equal(await authTimeOf(agent), signedInAt);
});

test('attack: a fresh code makes an old password authentication fresh', async () => {
  const username = 'steps-up-late';
  await app.createUser(username);
  await set({ mfa_mode: 'required' });
  const agent = new Agent(app);
  const { phone } = await enrolPhone(app, agent, await authorize(agent), username);
  await set({ mfa_mode: 'optional' });
  const trusted = new Agent(app);
  const asked = await trusted.submit(await authorize(trusted), { username, password: PASSWORD });
  await trusted.submit(asked, { method: 'totp', code: phone.code(), trust_device: 'on' });
  await trusted.submit(await authorize(trusted, { prompt: 'login' }), { username, password: PASSWORD });
  app.advance(20 * 60_000);
  const step = await authorize(trusted, { acr_values: MULTI_FACTOR });
  assert.ok(!step.body.includes('name="password"'), 'only what is missing is asked for');
  const raised = await trusted.submit(step, { method: 'totp', code: phone.code() });
  const tokens = await tokensOf(raised);
  assert.equal(claimsOf(tokens.id_token).acr, MULTI_FACTOR);
  assert.equal(await isFresh(trusted), false, 'the password was given twenty minutes ago');
  const profile = await fetch(`${app.url}/account/api/profile`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  assert.match(await profile.text(), /"is_recently_authenticated":false/);
  const login = await authorize(trusted, { prompt: 'login', acr_values: MULTI_FACTOR });
  const code = await trusted.submit(login, { username, password: PASSWORD });
  await trusted.submit(code, { method: 'totp', code: phone.code() });
  assert.equal(await isFresh(trusted), true);
});

/** Small and repeatable (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** When each was really given last, in epoch seconds; a key is a passkey that did not verify its user. */
type Proofs = Record<'password' | 'totp' | 'mail' | 'passkey' | 'key', number>;

const newestOf = (proofs: Proofs): number => Math.max(...Object.values(proofs));

/** What the walker's account has beside its password. */
type Factor = 'app' | 'app and passkey' | 'mail';
const WALKS: readonly (readonly [seed: number, steps: number, has: Factor])[] = [
  [1, 25, 'app'],
  [2, 25, 'app'],
  [3, 25, 'app'],
  [4, 25, 'app'],
  [5, 60, 'app and passkey'],
  [6, 45, 'mail'],
];

interface Bearer {
  access: string;
  refresh: string;
  readonly proofs: Proofs;
}

const PROMPTS = {
  any: ['', '', '', 'login', 'none', 'consent', 'select_account'],
  'mostly new': ['login', 'login', 'login', '', 'none', 'select_account'],
};

test('freshness and auth_time: never later than the last authentication, in random walks', async () => {
  const seen = { fresh: 0, stale: 0, codes: 0, freshBearers: 0, passkeys: 0, keys: 0, mails: 0 };
  for (const [seed, steps, has] of WALKS) {
    const random = randomOf(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const username = `walker-${seed}`;
    await app.createUser(username, { email: `${username}@example.com`, is_email_verified: true });
    await set({ mfa_mode: 'required' });
    const agent = new Agent(app);
    const key = has === 'app and passkey' ? new Authenticator({ origin: originOf(app) }) : undefined;
    const first = await authorize(agent);
    let secret = '';
    const enrolled = await agent.submit(first, { username, password: PASSWORD });
    secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolled.body)?.[1] ?? '';
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    try {
      const now = (): number => Math.floor(app.now() / 1000);
      const pass = (seconds: number): void => mock.timers.setTime(Date.now() + seconds * 1000);
      const codeNow = (): string => {
        pass(60);
        return generateSync({ secret, epoch: now() });
      };
      const proofs: Proofs = { password: now(), totp: 0, mail: 0, passkey: 0, key: 0 };
      const giveCode = async (page: Page, more: Record<string, string> = {}): Promise<Page> => {
        const isMail = has === 'mail';
        const code = isMail ? await lastMailedCode(username) : codeNow();
        const next = await agent.submit(page, { method: isMail ? 'email' : 'totp', code, ...more });
        if (next.status < 400) proofs[isMail ? 'mail' : 'totp'] = now();
        if (isMail && next.status < 400) seen.mails += 1;
        return next;
      };
      const shown =
        has === 'mail'
          ? await giveCode(await agent.submit(enrolled, { action: 'email' }))
          : await giveCode(enrolled, { action: 'enrol' });
      if (shown.body.includes('<ul id="codes"')) await agent.submit(shown, { action: 'continue' });
      await set({ mfa_mode: 'optional' });
      if (key !== undefined) {
        const login = await authorize(agent, { prompt: 'login' });
        const asked = await agent.submit(login, { username, password: PASSWORD, can_passkey: 'on' });
        proofs.password = now();
        await goOn(agent, await makePasskey(agent, await giveCode(asked), key));
      }
      const bearers: Bearer[] = [];
      const open: Page[] = [];

      /** Gives what is asked for, or leaves the page open. */
      const drive = async (start: Page): Promise<Page> => {
        let page = start;
        for (;;) {
          const asksPassword = page.body.includes('name="password"');
          const asksCode = page.body.includes('name="code"');
          const asksKey = page.body.includes('data-passkey="second_factor"');
          const mayMail = !asksCode && page.body.includes('/oauth2/mfa/email"');
          if (
            !asksPassword &&
            !asksCode &&
            !asksKey &&
            !mayMail &&
            !/value="(?:allow|continue)"/.test(page.body)
          )
            return page;
          if (random() < (has === 'app' ? 0.3 : 0.15)) {
            open.push(page);
            return page;
          }
          pass(Math.floor(random() * 100));
          if (/value="continue"/.test(page.body) && random() < 0.5) {
            page = await agent.submit(page, { action: 'continue' });
          } else if (mayMail) {
            page = await agent.submit(page, {});
          } else if (key !== undefined && (asksKey || asksPassword) && random() < 0.7) {
            const isVerified = random() < 0.5;
            const purpose = asksKey ? 'second_factor' : 'sign_in';
            const answer = await usePasskey(agent, page, key, {
              purpose,
              lies: isVerified ? {} : { flags: 1 },
            });
            if (answer.status !== 200) continue;
            proofs[isVerified ? 'passkey' : 'key'] = now();
            seen[isVerified ? 'passkeys' : 'keys'] += 1;
            page = await goOn(agent, answer);
          } else if (asksPassword) {
            const isRight = random() < 0.8;
            page = await agent.submit(page, { username, password: isRight ? PASSWORD : 'wrong password' });
            if (isRight && page.status < 400) proofs.password = now();
          } else if (asksCode || asksKey) {
            const isRight = random() < 0.8;
            const trust: Record<string, string> = random() < 0.5 ? { trust_device: 'on' } : {};
            page = isRight
              ? await giveCode(page, trust)
              : await agent.submit(page, { method: 'totp', code: '000000', ...trust });
          } else {
            page = await agent.submit(page, { action: random() < 0.8 ? 'allow' : 'deny' });
          }
        }
      };

      const ask = async (): Promise<void> => {
        const prompt = pick(PROMPTS[has === 'app' ? 'any' : 'mostly new']);
        const application = pick([client, client, stranger]);
        const parameters: Record<string, string> = {
          ...(prompt !== '' && { prompt }),
          ...pick<Record<string, string>>([
            {},
            {},
            { acr_values: MULTI_FACTOR },
            { acr_values: 'urn:nonsense urn:latchkey:acr:email-code' },
            essential('urn:nonsense'),
            essential(MULTI_FACTOR),
            essential('urn:latchkey:acr:single-factor'),
            essential('urn:latchkey:acr:email-code'),
          ]),
          ...(random() < 0.3 && { max_age: String(pick([0, 30, 300, 86_400])) }),
        };
        const page = await drive(await authorize(agent, { ...parameters, client_id: application.id }));
        if (answerOf(page).get('code') === null) return;
        const tokens = await tokensOf(page, application);
        seen.codes += 1;
        const { auth_time: at } = claimsOf(tokens.id_token);
        assert.ok(Number(at) <= newestOf(proofs), `seed ${seed}: auth_time ${String(at)}`);
        if (application === client)
          bearers.push({ access: tokens.access_token, refresh: tokens.refresh_token, proofs: { ...proofs } });
      };

      const within = (at: number): boolean => now() - at <= FRESH_SECONDS;
      const isProven = ({ password, totp, mail, passkey, key: held }: Proofs): boolean =>
        within(passkey) ||
        (within(held) && (within(password) || within(totp))) ||
        (within(password) && within(has === 'mail' ? mail : totp));
      for (let step = 0; step < steps; step += 1) {
        const chance = random();
        if (chance < 0.6) await ask();
        else if (chance < 0.75 && open.length > 0) {
          await drive(open.splice(Math.floor(random() * open.length), 1)[0] as Page).catch(() => undefined);
        } else if (chance < 0.85 && bearers.length > 0) {
          const bearer = pick(bearers);
          const { status, body } = await refresh(app, client, bearer.refresh);
          if (status === 200) {
            bearer.access = body.access_token;
            bearer.refresh = body.refresh_token;
            const at = Number(claimsOf(body.access_token).auth_time);
            assert.ok(at <= newestOf(bearer.proofs), `seed ${seed}: refreshed`);
          }
        } else pass(Math.floor(random() * 400));

        const page = await agent.get(FACTOR);
        const isShownFresh = page.status === 200 && !page.body.includes('prompt=login');
        seen[isShownFresh ? 'fresh' : 'stale'] += 1;
        if (isShownFresh) assert.ok(isProven(proofs), `seed ${seed}, step ${step}: page`);
        const bearer = bearers.at(-1 - Math.floor(random() * bearers.length));
        if (bearer === undefined) continue;
        const response = await fetch(`${app.url}/account/api/profile`, {
          headers: { authorization: `Bearer ${bearer.access}` },
        });
        const isBearerFresh = (await response.text()).includes('"is_recently_authenticated":true');
        if (isBearerFresh) seen.freshBearers += 1;
        if (isBearerFresh) assert.ok(isProven(bearer.proofs), `seed ${seed}: bearer`);
      }
    } finally {
      mock.timers.reset();
    }
  }
  // The walks went where there was something to see.
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 3, `${what}: ${times}`);
});
