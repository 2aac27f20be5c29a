// The second factor at sign-in over HTTP: enrolment, codes, recovery codes, e-mail codes, trusted devices, step-up, and attacks
// that try to bypass it.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { generateSync } from 'otplib';
import { Agent, codeRequest, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { testOnSoundStore } from '../support/real-mongodb.ts';
import { change, claimsOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const MULTI_FACTOR = 'urn:latchkey:acr:multi-factor';

const set = (values: Record<string, unknown>): Promise<void> => change(app, values);
before(() => set({ mfa_mode: 'optional' }));

const authorize = (agent: Agent, parameters: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({
    ...codeRequest(client.id),
    ...parameters,
  });

const codeIn = (page: Page): string => new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';

const claimsAt = async (page: Page): Promise<Record<string, unknown>> =>
  claimsOf((await redeem(app, client, { code: codeIn(page), verifier: VERIFIER })).body.id_token);

/** The app on the phone. Each code is made for a later step than the one before, so that none is a replay. */
class Authenticator {
  readonly #secret: string;
  #step = 0;
  constructor(secret: string) {
    this.#secret = secret;
  }
  code(): string {
    // The window reaches one step ahead, and a used step is never good again: the clock moves with every code.
    app.advance(this.#step === 0 ? 0 : 60_000);
    this.#step += 1;
    return this.again();
  }
  again(): string {
    return generateSync({ secret: this.#secret, epoch: Math.floor(app.now() / 1000) });
  }
}

interface Enrolled {
  readonly user: { id: string; username: string };
  readonly phone: Authenticator;
  readonly recovery: string[];
}

/** Signs in, enrols an authenticator as the page says, and keeps the recovery codes. */
async function enrol(
  agent: Agent,
  username: string,
  fields: Record<string, unknown> = {},
): Promise<Enrolled & { last: Page }> {
  const user = await app.createUser(username, fields);
  await set({ mfa_mode: 'required' });
  const page = await agent.submit(await authorize(agent), { username, password: PASSWORD });
  equal(page.status, 200);
  match(page.body, /data:image\/png;base64/);
  const [, secret = ''] = /[?&;]secret=([A-Z2-7]+)/.exec(page.body) ?? [];
  const phone = new Authenticator(secret);
  const shown = await agent.submit(page, { action: 'enrol', code: phone.code() });
  const recovery = [
    ...new Set([...shown.body.matchAll(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/g)].map(([code]) => code)),
  ];
  equal(recovery.length, 10, shown.body.slice(0, 3000));
  const last = await agent.submit(shown, { action: 'continue' });
  await set({ mfa_mode: 'optional' });
  return { user, phone, recovery, last };
}

test('TOTP enrolment at sign-in: QR, first code, recovery codes; ID token shows two factors', async () => {
  const { last } = await enrol(new Agent(app), 'enrols');
  const claims = await claimsAt(last);
  deepEqual(claims.amr, ['pwd', 'otp', 'mfa']);
  equal(claims.acr, MULTI_FACTOR);
});

test('TOTP: asked for at the next sign-in; a wrong code is refused', async () => {
  const { user, phone } = await enrol(new Agent(app), 'returns');
  const agent = new Agent(app);
  const asked = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  equal(asked.status, 200);
  equal(asked.location, undefined);
  const wrong = await agent.submit(asked, { code: '000000', method: 'totp' });
  equal(wrong.status, 401);
  const arrived = await agent.submit(wrong, { code: phone.code(), method: 'totp' });
  equal((await claimsAt(arrived)).acr, MULTI_FACTOR);
});

test('second step: names who signs in by no more than this browser knows', async () => {
  const whoIn = ({ body }: Page): string | undefined =>
    /<div class="chip">\s*(.*?)<\/div>/s
      .exec(body)?.[1]
      ?.replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  const home = new Agent(app);
  const { user, phone } = await enrol(home, 'named', {
    name: 'Named Person',
    email: 'named@example.com',
    is_email_verified: true,
  });
  // Of a password alone, which may be stolen, nobody learns the name, the picture, or the username to an address.
  for (const username of ['named', 'NAMED@example.com']) {
    const agent = new Agent(app);
    const asked = await agent.submit(await authorize(agent), { username, password: PASSWORD });
    match(whoIn(asked) ?? '', new RegExp(`^\\S ${username} Not you\\?$`));
    ok(!/Named Person|avatar\//.test(asked.body));
    equal(/\bnamed\b(?!@)/i.test(asked.body), username === 'named');
    // Who is someone else starts anew, with an empty field, in the same sign-in.
    const [, href = ''] = /<a href="([^"]*as=other)">/.exec(asked.body) ?? [];
    const other = await agent.get(href.replaceAll('&amp;', '&'));
    equal(other.status, 200);
    match(other.body, /name="username" (?!value="[^"])/);
    ok(!/named/i.test(other.body));
    const bob = await app.createUser(`bob-${username.length}`);
    notEqual(codeIn(await agent.submit(other, { username: bob.username, password: PASSWORD })), '');
  }
  // Another name was typed before.
  const mixed = new Agent(app);
  const typed = await mixed.submit(await authorize(mixed), { username: 'mallory', action: 'forgot' });
  const back = await mixed.get(`/oauth2/login?interaction=${/interaction=([^&]+)/.exec(typed.url)?.[1]}`);
  const asked = await mixed.submit(back, { username: user.username, password: PASSWORD });
  match(whoIn(asked) ?? '', /^\S named Not you\?$/);
  // The browser in which the person is signed in already.
  const again = await home.submit(await authorize(home, { prompt: 'login' }), {
    username: user.username,
    password: PASSWORD,
  });
  match(whoIn(again) ?? '', /^\S Named Person named Not you\?$/);
  // And the one that was asked to remember them, also at a code that is wrong.
  const kept = new Agent(app);
  const first = await kept.submit(await authorize(kept), {
    username: user.username,
    password: PASSWORD,
    remember: 'on',
  });
  notEqual(codeIn(await kept.submit(first, { code: phone.code(), method: 'totp' })), '');
  const chosen = await kept.submit(await authorize(kept, { prompt: 'login', login_hint: 'named' }), {
    username: user.username,
    password: PASSWORD,
  });
  const wrong = await kept.submit(chosen, { code: '000000', method: 'totp' });
  match(whoIn(wrong) ?? '', /^\S Named Person named Not you\?$/);
});

test('attack: TOTP replay within its window', async () => {
  const { user, phone } = await enrol(new Agent(app), 'replayed');
  const first = new Agent(app);
  const asked = await first.submit(await authorize(first), { username: user.username, password: PASSWORD });
  const code = phone.code();
  notEqual(codeIn(await first.submit(asked, { code, method: 'totp' })), '');
  const thief = new Agent(app);
  const again = await thief.submit(await authorize(thief), { username: user.username, password: PASSWORD });
  equal((await thief.submit(again, { code, method: 'totp' })).status, 401);
});

testOnSoundStore('attack: parallel submissions of one code; exactly one succeeds', async () => {
  const { user, phone } = await enrol(new Agent(app), 'parallel');
  const agents = Array.from({ length: 8 }, () => new Agent(app));
  const pages = await Promise.all(
    agents.map(async (agent) =>
      agent.submit(await authorize(agent), { username: user.username, password: PASSWORD }),
    ),
  );
  const code = phone.code();
  const ends = await Promise.all(
    agents.map((agent, index) => agent.submit(pages[index] ?? (pages[0] as Page), { code, method: 'totp' })),
  );
  equal(ends.filter((end) => codeIn(end) !== '').length, 1);
});

test('recovery code: works once, and the owner is notified', async () => {
  const { user, recovery } = await enrol(new Agent(app), 'recovers', {
    email: 'recovers@example.com',
    is_email_verified: true,
  });
  const [code = ''] = recovery;
  const agent = new Agent(app);
  const asked = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  notEqual(codeIn(await agent.submit(asked, { code, method: 'recovery' })), '');
  const second = new Agent(app);
  const again = await second.submit(await authorize(second), { username: user.username, password: PASSWORD });
  equal((await second.submit(again, { code, method: 'recovery' })).status, 401);
});

test('attack: brute force across challenges; after twenty wrong codes none is evaluated', async () => {
  const { user, phone } = await enrol(new Agent(app), 'guessed');
  const statuses: number[] = [];
  for (let challenge = 0; challenge < 8; challenge += 1) {
    const agent = new Agent(app);
    let page = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
    for (let guess = 0; guess < 3; guess += 1) {
      page = await agent.submit(page, { code: `00000${guess}`, method: 'totp' });
      statuses.push(page.status);
    }
  }
  ok(statuses.includes(429), statuses.join(' '));
  const agent = new Agent(app);
  const page = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  equal((await agent.submit(page, { code: phone.code(), method: 'totp' })).status, 429);
});

test('attack: skipping MFA; after the password alone no address continues', async () => {
  const { user } = await enrol(new Agent(app), 'skipped');
  const agent = new Agent(app);
  const asked = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  const id = new URL(asked.url).searchParams.get('interaction') ?? '';
  notEqual(id, '');
  // The resume address, by the very cookie that it wants: the sign-in starts over, without a code.
  const resumed = await agent.get(`/oauth2/authorize/${id}`);
  equal(codeIn(resumed), '');
  for (const fields of [
    {},
    { code: '' },
    { action: 'continue' },
    { method: 'none', code: '1' },
    { step: 'codes' },
  ]) {
    const other = new Agent(app);
    const page = await other.submit(await authorize(other), { username: user.username, password: PASSWORD });
    equal(codeIn(await other.submit(page, fields)), '', JSON.stringify(fields));
  }
  const silent = await authorize(agent, { prompt: 'none' });
  match(silent.location ?? '', /error=login_required/);
  equal((await agent.get('/admin')).status, 303);
});

test('trusted device: skips the code for this user and browser, until a new password', async () => {
  const { user, phone } = await enrol(new Agent(app), 'trusts');
  const { user: other } = await enrol(new Agent(app), 'trusts-not');
  const agent = new Agent(app);
  const asked = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  await agent.submit(asked, { code: phone.code(), method: 'totp', trust_device: 'on' });

  const claims = await claimsAt(
    await agent.submit(await authorize(agent, { prompt: 'login' }), {
      username: user.username,
      password: PASSWORD,
    }),
  );
  // R103: a factor that was skipped is not reported.
  deepEqual(claims.amr, ['pwd']);
  const foreign = await agent.submit(await authorize(agent, { prompt: 'login' }), {
    username: other.username,
    password: PASSWORD,
  });
  equal(codeIn(foreign), '');

  const password = 'another battery staple horse';
  equal((await app.admin('PATCH', `/users/${user.id}`, { password })).status, 200);
  const after = await agent.submit(await authorize(agent, { prompt: 'login' }), {
    username: user.username,
    password,
  });
  equal(codeIn(after), '', 'the device is void after a password change');
});

test('step-up: acr_values raises a session by the code; without a factor, enrolment', async () => {
  const agent = new Agent(app);
  const { user, phone } = await enrol(new Agent(app), 'steps-up');
  const asked = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  await agent.submit(asked, { code: phone.code(), method: 'totp', trust_device: 'on' });
  // A later sign-in with the trusted device is worth one factor.
  await agent.submit(await authorize(agent, { prompt: 'login' }), {
    username: user.username,
    password: PASSWORD,
  });
  const raised = await agent.follow(await authorize(agent, { acr_values: MULTI_FACTOR }));
  equal(codeIn(raised), '');
  ok(!raised.body.includes('name="password"'), 'the password is not asked for again');
  const arrived = await agent.submit(raised, { code: phone.code(), method: 'totp' });
  equal((await claimsAt(arrived)).acr, MULTI_FACTOR);
});

test('second factor reset by an administrator: the next sign-in enrols again', async () => {
  const { user } = await enrol(new Agent(app), 'reset');
  equal((await app.admin('PUT', `/users/${user.id}`, { totp_verified: false })).status, 200);
  const agent = new Agent(app);
  const page = await agent.submit(await authorize(agent), { username: user.username, password: PASSWORD });
  match(page.body, /data:image\/png;base64/);
});
