// Mailed links over HTTP, read from a real SMTP server: password reset, sign-in, address verification.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLinks } from '../../src/recovery/links.ts';
import * as model from '../../src/store/collections.ts';
import { Agent, codeRequest, hiddenFields, type Page, redeem, refresh, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox, tokenIn } from '../support/mailbox.ts';
import { enrolPhone } from '../support/phone.ts';
import { change } from './support.ts';

const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register();
const NEW_PASSWORD = 'four purple kites over Lisbon';

const set = (values: Record<string, unknown>): Promise<void> => change(app, values);

const person = (username: string): Promise<{ id: string; username: string }> =>
  app.createUser(username, { email: `${username}@example.com`, is_email_verified: true });

const authorize = (agent: Agent, parameters: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({
    ...codeRequest(client.id),
    ...parameters,
  });

const codeIn = (page: Page): string => new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';

const askForReset = async (email: string, agent = new Agent(app)): Promise<Page> =>
  agent.submit(await agent.get('/oauth2/forgot-password'), { email });

/** Asks for a link and reads it from the mail. */
async function resetLink(username: string): Promise<string> {
  await askForReset(`${username}@example.com`);
  const link = await mailbox.linkTo(`${username}@example.com`);
  match(link, /\/oauth2\/reset-password\?/);
  return link;
}

const choose = (agent: Agent, page: Page, password: string): Promise<Page> =>
  agent.submit(page, { password, confirm_password: password });

async function canSignIn(username: string, password: string): Promise<boolean> {
  const agent = new Agent(app);
  const page = await agent.submit(await authorize(agent), { username, password });
  return codeIn(page) !== '' || page.url.includes('/oauth2/mfa');
}

const sendButtons = (page: Page): number =>
  [...page.body.matchAll(/<button[^>]*>/g)].filter(([tag]) => !tag.includes('type="button"')).length;

/** Of an answer, what may not differ; nonces and ids are new in every answer, and what was typed is shown again. */
function shapeOf({ status, headers, body }: Page, typed: string): unknown {
  const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1] ?? '-';
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  const plain = (text: string): string => text.replaceAll(nonce, '').replaceAll(typed, '');
  return { status, headers: kept.map(([name, value]) => [name, plain(value)]), body: plain(body) };
}

suite('forgotten password', () => {
  test('known, unknown and deactivated addresses get one answer, and only the known one a mail', async () => {
    await person('known');
    await app.createUser('idle0', { email: 'idle0@example.com', is_email_verified: true, is_active: false });
    const names = ['known', 'ghost', 'idle0'];
    const answers: unknown[] = [];
    for (const name of names) answers.push(shapeOf(await askForReset(`${name}@example.com`), name));
    deepEqual(answers[1], answers[0]);
    deepEqual(answers[2], answers[0]);
    await mailbox.deliver();
    const counts = names.map(
      (name) => mailbox.received.filter(({ to }) => to.includes(`${name}@example.com`)).length,
    );
    deepEqual(counts, [1, 0, 0]);
  });

  test('an unverified address gets no link, nor does its username', async () => {
    await app.createUser('typo', { email: 'typo@example.com' });
    await askForReset('typo@example.com');
    await askForReset('typo');
    equal(await mailbox.linkTo('typo@example.com'), '');
  });

  test('opening the link changes nothing; its page has one form with one button', async () => {
    await person('opens');
    const link = await resetLink('opens');
    ok(link.startsWith(`${app.url}/oauth2/reset-password?token=`), link);
    for (const method of ['GET', 'HEAD', 'GET']) {
      equal((await new Agent(app).request(link, { method })).status, 200);
    }
    const page = await new Agent(app).get(link);
    equal([...page.body.matchAll(/<form/g)].length, 1);
    equal(sendButtons(page), 1);
    equal(page.headers.get('referrer-policy'), 'same-origin');
    equal(page.headers.get('cache-control'), 'no-store');
    ok(await canSignIn('opens', PASSWORD));
  });

  test('an unacceptable password does not use up the link', async () => {
    await person('chooses');
    await set({ product_name: 'Gatehouse' });
    const link = await resetLink('chooses');
    const agent = new Agent(app);
    for (const password of ['short', 'password1234', 'chooses-chooses', 'gatehouse-2026', 'x'.repeat(200)]) {
      const refused = await choose(agent, await agent.get(link), password);
      equal(refused.status, 400, password);
      ok(!refused.body.includes(password), 'the password is not sent back');
    }
    const differs = await agent.submit(await agent.get(link), {
      password: NEW_PASSWORD,
      confirm_password: PASSWORD,
    });
    equal(differs.status, 400);
    equal((await choose(agent, differs, NEW_PASSWORD)).status, 200);
    await set({ product_name: 'Latchkey' });
    ok(await canSignIn('chooses', NEW_PASSWORD));
    ok(!(await canSignIn('chooses', PASSWORD)));
  });

  test('afterwards sessions, tokens and trusted devices end, and no one is signed in', async () => {
    const user = await person('resets');
    const agent = new Agent(app);
    await set({ mfa_mode: 'required' });
    const { phone } = await enrolPhone(app, agent, await authorize(agent), user.username);
    await set({ mfa_mode: 'optional' });
    const enter = async (browser: Agent, password: string): Promise<Page> =>
      browser.submit(await authorize(browser, { prompt: 'login' }), { username: user.username, password });
    const trusting = { code: phone.code(), method: 'totp', trust_device: 'on' };
    const scope = { scope: 'openid offline_access' };
    const signedIn = await agent.submit(await enter(agent, PASSWORD), trusting);
    notEqual(codeIn(signedIn), '');
    notEqual(codeIn(await enter(agent, PASSWORD)), '', 'the device is trusted');
    const granted = await authorize(agent, scope);
    const tokens = await redeem(app, client, {
      code: codeIn(await agent.follow(granted)),
      verifier: VERIFIER,
    });
    equal(tokens.status, 200, JSON.stringify(tokens.body));
    ok(tokens.body.refresh_token);

    const link = await resetLink('resets');
    // In the very browser that was signed in: it gets no session by this.
    const done = await choose(agent, await agent.get(link), NEW_PASSWORD);
    equal(done.status, 200);
    match((await authorize(agent, { prompt: 'none' })).location ?? '', /error=login_required/);
    equal((await refresh(app, client, tokens.body.refresh_token)).body.error, 'invalid_grant');
    const authorization = `Bearer ${tokens.body.access_token}`;
    equal((await fetch(`${app.issuer}/userinfo`, { headers: { authorization } })).status, 401);
    const asked = await enter(agent, NEW_PASSWORD);
    equal(codeIn(asked), '', 'the device is trusted no more');
    match(asked.url, /\/oauth2\/mfa/);
    notEqual(codeIn(await agent.submit(asked, { code: phone.code(), method: 'totp' })), '');
    await mailbox.deliver();
    const last = mailbox.received.findLast(({ to }) => to.includes('resets@example.com'));
    match(last?.mail.subject ?? '', /password/i);
    ok(!last?.mail.text?.includes('token='), 'the owner is told, without another link');
  });

  test('the link works once, also with fifty uses at once', async () => {
    await person('races');
    const link = await resetLink('races');
    const agent = new Agent(app);
    const fields = hiddenFields((await agent.get(link)).body);
    const passwords = Array.from({ length: 50 }, (_, index) => `${NEW_PASSWORD} ${index}`);
    const pages = await Promise.all(
      passwords.map((password) =>
        agent.post('/oauth2/reset-password', { ...fields, password, confirm_password: password }),
      ),
    );
    deepEqual(pages.map(({ status }) => status).sort(), [303, ...Array.from({ length: 49 }, () => 410)]);
    const winner = passwords[pages.findIndex(({ status }) => status === 303)] ?? '';
    ok(await canSignIn('races', winner));
    equal((await agent.get(link)).status, 410);
  });

  test('the link ends with its expiry, a new password or a new address', async () => {
    const user = await person('waits');
    const expired = await resetLink('waits');
    const { value } = ((await app.admin('GET', '/settings')).body.data.items ?? []).find(
      ({ key }) => key === 'password_reset_link_seconds',
    ) ?? { value: 1800 };
    const agent = new Agent(app);
    const opened = await agent.get(expired);
    equal(opened.status, 200);
    app.advance(Number(value) * 1000);
    equal((await choose(agent, opened, NEW_PASSWORD)).status, 410);
    for (const change of [{ password: 'a wholly different one' }, { email: 'moved@example.com' }]) {
      const link = await resetLink('waits');
      const page = await agent.get(link);
      equal(page.status, 200);
      equal((await app.admin('PATCH', `/users/${user.id}`, change)).status, 200);
      equal((await agent.get(link)).status, 410, JSON.stringify(change));
      equal((await choose(agent, page, NEW_PASSWORD)).status, 410, JSON.stringify(change));
    }
    ok(await canSignIn('waits', 'a wholly different one'));
  });
});

suite('sign-in link', () => {
  const askForLink = async (agent: Agent, username: string): Promise<string> => {
    const page = await authorize(agent);
    match(page.body, /value="magic_link"/, 'the sign-in page offers it');
    const asked = await agent.submit(page, { username: `${username}@example.com`, action: 'magic_link' });
    ok(!asked.url.includes(username), 'what was typed is in no address');
    const [, email = ''] = /name="email"[^>]* value="([^"]*)"/.exec(asked.body) ?? [];
    equal(email, `${username}@example.com`, 'what was typed went along');
    equal((await agent.submit(asked, { email, action: 'magic_link' })).status, 200);
    return mailbox.linkTo(`${username}@example.com`);
  };
  // The button of the page carries what is asked for; a form that does not come from it asks for nothing.
  before(() => set({ mfa_mode: 'optional' }));

  test('off by default: not offered, and a request sends none', async () => {
    await person('impatient');
    const agent = new Agent(app);
    const page = await authorize(agent);
    ok(!page.body.includes('magic_link'));
    const { interaction = '' } = hiddenFields(page.body);
    const asked = await agent.get(`/oauth2/forgot-password?interaction=${interaction}&action=magic_link`);
    ok(!asked.body.includes('magic_link'));
    await agent.submit(asked, { email: 'impatient@example.com', action: 'magic_link' });
    ok(!(await mailbox.linkTo('impatient@example.com')).includes('magic-link'));
  });

  test('signs in only in the requesting browser, once, by the button', async () => {
    await set({ allow_magic_link: true });
    await person('linked');
    const agent = new Agent(app);
    const link = await askForLink(agent, 'linked');
    match(link, /\/oauth2\/magic-link\?token=/);

    await person('thief');
    const thief = new Agent(app);
    equal(sendButtons(await thief.get(link)), 0);
    // With the form of a link of the thief's own.
    const own = hiddenFields((await thief.get(await askForLink(thief, 'thief'))).body);
    const stolen = await thief.post('/oauth2/magic-link', { ...own, token: tokenIn(link) });
    equal(codeIn(stolen), '');
    notEqual(stolen.status, 303);
    match((await authorize(thief, { prompt: 'none' })).location ?? '', /error=login_required/);

    const page = await agent.get(link);
    equal(sendButtons(page), 1);
    match((await authorize(agent, { prompt: 'none' })).location ?? '', /error=login_required/);
    const arrived = await agent.submit(page, {});
    const tokens = await redeem(app, client, { code: codeIn(arrived), verifier: VERIFIER });
    const [, payload = ''] = tokens.body.id_token.split('.');
    deepEqual(JSON.parse(Buffer.from(payload, 'base64url').toString()).amr, ['email_link']);
    equal((await agent.get(link)).status, 410);
    equal((await agent.submit(page, {})).status, 410);
  });

  test('still asks for the second factor', async () => {
    await set({ mfa_mode: 'required' });
    const { username } = await person('two-factors');
    const first = new Agent(app);
    const { phone } = await enrolPhone(app, first, await authorize(first), username);
    await set({ mfa_mode: 'optional' });
    const agent = new Agent(app);
    const asked = await agent.submit(await agent.get(await askForLink(agent, username)), {});
    equal(codeIn(asked), '');
    match(asked.url, /\/oauth2\/mfa/);
    notEqual(codeIn(await agent.submit(asked, { code: phone.code(), method: 'totp' })), '');
  });

  test('is void once the setting is off again', async () => {
    await person('too-late');
    const agent = new Agent(app);
    const link = await askForLink(agent, 'too-late');
    const page = await agent.get(link);
    await set({ allow_magic_link: false });
    equal((await agent.submit(page, {})).status, 410);
  });
});

suite('verification link', () => {
  const links = createLinks({
    collection: app.store.collection(model.links),
    accounts: app.store.collection(model.accounts),
    clock: app.now,
    settings: () => app.app.settings.current(),
  });

  async function verificationLink(id: string): Promise<string> {
    const account = await app.app.accounts.find(id);
    ok(account);
    const { token } = await links.create({ account, purpose: 'email_verification' });
    return `${app.url}/oauth2/verify-email?token=${token}`;
  }
  const isVerified = async (id: string): Promise<unknown> =>
    (await app.admin('GET', `/users/${id}`)).body.data.is_email_verified;

  test('verifies by the button, once, and signs no one in', async () => {
    const { id } = await app.createUser('verifies', { email: 'verifies@example.com' });
    const link = await verificationLink(id);
    const agent = new Agent(app);
    const page = await agent.get(link);
    match(page.body, /verifies@example\.com/);
    equal(sendButtons(page), 1);
    equal(await isVerified(id), false);
    equal((await agent.submit(page, {})).status, 200);
    equal(await isVerified(id), true);
    equal((await agent.submit(page, {})).status, 410);
    match((await authorize(agent, { prompt: 'none' })).location ?? '', /error=login_required/);
  });

  test('verifies only the address it was sent to', async () => {
    const { id } = await app.createUser('moves', { email: 'old@example.com' });
    const agent = new Agent(app);
    const link = await verificationLink(id);
    const page = await agent.get(link);
    equal((await app.admin('PATCH', `/users/${id}`, { email: 'new@example.com' })).status, 200);
    equal((await agent.get(link)).status, 410);
    equal((await agent.submit(page, {})).status, 410);
    equal(await isVerified(id), false);
    equal(tokenIn(link).length > 40, true);
  });
});
