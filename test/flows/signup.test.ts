// Signing up over HTTP, with mails read from a real SMTP server (decisions 0001 and 0014).
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import * as model from '../../src/store/collections.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { answersOf, begin, codeOf, codeTo, openSignup, tokensOf, userNamed } from '../support/signup.ts';

const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const DEFAULTS = {
  allow_self_signup: true,
  signup_require_verified_email: true,
  signup_username: 'required',
  signup_email: 'required',
  signup_given_name: 'optional',
  signup_family_name: 'optional',
  signup_nickname: 'hidden',
  signup_phone_number: 'hidden',
  signup_allowed_email_domains: '',
  signup_blocked_email_domains: '',
  terms_url: '',
  privacy_url: '',
};
const set = async (values: Record<string, unknown>): Promise<void> => {
  const { status, body } = await app.admin('PATCH', '/settings', { ...DEFAULTS, ...values });
  equal(status, 200, JSON.stringify(body));
};
await set({});
const client = await app.register();
const WITHOUT_MAIL = { signup_require_verified_email: false, signup_email: 'optional' };

test('sign-up with confirmation: no account before the code, then signed in', async () => {
  await set({});
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const page = await agent.submit(form, answersOf('ann', { given_name: 'Ann', family_name: 'Lee' }));
  equal(page.status, 200);
  match(page.url, /\/oauth2\/signup\/verify\?/);
  equal(await userNamed(app, 'ann'), undefined);

  const wrong = await agent.submit(page, { code: '000000' });
  equal(wrong.status, 401);
  match(wrong.body, /role="alert"/);
  const arrived = await agent.submit(wrong, { code: await codeTo(mailbox, 'ann@example.com') });
  const claims = decodeJwt((await tokensOf(app, client, arrived)).id_token);
  deepEqual(
    [claims.preferred_username, claims.email, claims.email_verified, claims.given_name, claims.amr],
    ['ann', 'ann@example.com', true, 'Ann', ['pwd']],
  );
  const user = await userNamed(app, 'ann');
  deepEqual([user?.role, user?.is_email_verified, user?.is_active], ['user', true, true]);
  // And again with the password that was chosen.
  ok((await new Agent(app).signIn(client.id, { username: 'ann' })).code);
});

test('sign-up without an address: signed in at once where none must be confirmed', async () => {
  await set(WITHOUT_MAIL);
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const arrived = await agent.submit(form, { ...answersOf('bob'), email: '' });
  const claims = decodeJwt((await tokensOf(app, client, arrived)).id_token);
  deepEqual([claims.preferred_username, claims.email], ['bob', undefined]);
});

test('sign-up with an optional address: kept when confirmed, dropped otherwise', async () => {
  await set(WITHOUT_MAIL);
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('cleo'));
  match(page.body, /value="skip"/);
  codeOf(await agent.submit(page, { action: 'skip' }));
  equal((await userNamed(app, 'cleo'))?.email, null);

  const other = new Agent(app);
  const asked = await other.submit(await openSignup(app, client.id, other), answersOf('carl'));
  codeOf(await other.submit(asked, { code: await codeTo(mailbox, 'carl@example.com') }));
  equal((await userNamed(app, 'carl'))?.is_email_verified, true);
});

test('attack: skipping the confirmation of a required address', async () => {
  await set({});
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('skipper'));
  ok(!page.body.includes('value="skip"'));
  const back = await agent.submit(page, { action: 'skip' });
  equal(back.location, undefined);
  equal(await userNamed(app, 'skipper'), undefined);
});

test('sign-up with a known address: same pages, and a mail to its owner', async () => {
  await set({});
  await app.createUser('owner', { email: 'owner@example.com', is_email_verified: true });
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const page = await agent.submit(form, answersOf('somebody', { email: 'Owner@Example.com' }));
  equal(page.status, 200);
  match(page.url, /\/oauth2\/signup\/verify\?/);
  await mailbox.deliver();
  const mail = mailbox.received.at(-1);
  deepEqual(mail?.to, ['Owner@example.com']);
  match(mail?.mail.subject ?? '', /already have/);
  match(mail?.mail.text ?? '', /\/oauth2\/forgot-password/);
  ok(!mail?.mail.text?.includes('somebody'), 'a name that a stranger chose');
  for (const code of ['000000', '123456']) equal((await agent.submit(page, { code })).status, 401);
  equal(await userNamed(app, 'somebody'), undefined);
});

test('sign-up errors: shown at their field; valid input stays, passwords are cleared', async () => {
  await set({ signup_phone_number: 'optional' });
  await app.createUser('taken');
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const cases: [Record<string, string>, RegExp][] = [
    [answersOf('TAKEN'), /This username is already taken/],
    [answersOf('x'), /3 to 64 characters/],
    [answersOf('dora', { email: 'dora@' }), /Must be an e-mail address/],
    [answersOf('dora', { email: '' }), /This field is required/],
    [answersOf('dora', { password: 'short', confirm_password: 'short' }), /at least 8 characters/],
    [answersOf('dora', { confirm_password: 'another' }), /don’t match/],
    [answersOf('dora', { phone_number: 'x' }), /telephone number/],
    [answersOf('dora', { given_name: 'a\u202eb' }), /control characters/],
    [answersOf('dora@example.com', { email: 'other@example.com' }), /must be the e-mail address/],
  ];
  for (const [answers, problem] of cases) {
    const page = await agent.submit(form, answers);
    equal(page.status, 400, JSON.stringify(answers));
    match(page.body, problem);
    ok(!page.body.includes(PASSWORD));
    if (answers.username) ok(page.body.includes(`value="${answers.username}"`));
  }
  const done = await agent.submit(form, answersOf('dora'));
  match(done.url, /\/signup\/verify/);
});

test('sign-up errors: in the language of the page', async () => {
  await set({ signup_phone_number: 'optional' });
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent, { ui_locales: 'de' });
  const cases: [Record<string, string>, RegExp][] = [
    [answersOf('x'), /Nötig sind 3 bis 64 Zeichen\./],
    [answersOf('dora', { email: 'dora@' }), /Nötig ist eine E-Mail-Adresse wie alice@example\.com\./],
    [
      answersOf('dora', { password: 'short', confirm_password: 'short' }),
      /Nötig sind mindestens \d+ Zeichen\./,
    ],
    [answersOf('dora', { phone_number: 'x' }), /Nötig ist eine Telefonnummer/],
    [answersOf('dora', { given_name: 'a\u202eb' }), /Möglich ist nur eine Zeile ohne Steuerzeichen\./],
  ];
  for (const [answers, problem] of cases) {
    const page = await agent.submit(form, answers);
    equal(page.status, 400, JSON.stringify(answers));
    match(page.body, problem);
    doesNotMatch(page.body, /\b(?:Must|May)\b/);
  }
});

test('sign-up: the e-mail address as the username', async () => {
  await set({ signup_username: 'hidden' });
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  ok(!form.body.includes('name="username"'));
  const { username: _, ...answers } = answersOf('eve');
  const page = await agent.submit(form, answers);
  codeOf(await agent.submit(page, { code: await codeTo(mailbox, 'eve@example.com') }));
  equal((await userNamed(app, 'eve@example.com'))?.email, 'eve@example.com');

  await set({ signup_username: 'optional' });
  const other = new Agent(app);
  const asked = await other.submit(await openSignup(app, client.id, other), {
    ...answersOf('finn'),
    username: '',
  });
  codeOf(await other.submit(asked, { code: await codeTo(mailbox, 'finn@example.com') }));
  ok(await userNamed(app, 'finn@example.com'));
});

test('sign-up: terms must be accepted; version and time are recorded', async () => {
  await set({ terms_url: 'https://acme.example/terms/3', privacy_url: 'https://acme.example/privacy' });
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  match(form.body, /href="https:\/\/acme.example\/terms\/3"/);
  const refused = await agent.submit(form, answersOf('gina'));
  equal(refused.status, 400);
  match(refused.body, /Select the box/);
  const page = await agent.submit(form, answersOf('gina', { accept_terms: 'on' }));
  codeOf(await agent.submit(page, { code: await codeTo(mailbox, 'gina@example.com') }));
  const id = String((await userNamed(app, 'gina'))?.id);
  const accepted = (await app.store.collection(model.accounts).find(id))?.value.acceptedTerms;
  equal(accepted?.termsUrl, 'https://acme.example/terms/3');
  equal(accepted?.privacyUrl, 'https://acme.example/privacy');
  ok(Math.abs((accepted?.at ?? 0) - app.now()) < 60_000);
  const { body } = await app.admin('GET', `/audit?event=signup.completed&target_id=${id}`);
  const [event] = body.data.items ?? [];
  equal(event?.client_id, client.id);
  deepEqual(event?.details, {
    via: 'signup',
    username: 'gina',
    is_email_verified: true,
    terms_url: 'https://acme.example/terms/3',
    privacy_url: 'https://acme.example/privacy',
  });
});

test('sign-up domains: allowed ones only, blocked ones with subdomains, any spelling', async () => {
  const outcome = async (email: string): Promise<boolean> => {
    const agent = new Agent(app);
    const page = await agent.submit(
      await openSignup(app, client.id, agent),
      answersOf('domain-tester', { email }),
    );
    if (page.status === 400) match(page.body, /can’t be used here/);
    return page.url.includes('/verify');
  };
  await set({ signup_allowed_email_domains: 'Example.COM, *.bücher.example' });
  const { body } = await app.admin('GET', '/settings');
  match(JSON.stringify(body), /example\.com \*\.xn--bcher-kva\.example/);
  deepEqual(
    [
      await outcome('a@EXAMPLE.com'),
      await outcome('a@ｅxample.com'),
      await outcome('a@mail.example.com'),
      await outcome('a@notexample.com'),
      await outcome('a@example.com.evil.example'),
      await outcome('a@shop.BÜCHER.example'),
      await outcome('a@bücher.example'),
    ],
    [true, true, false, false, false, true, false],
  );
  await set({
    signup_allowed_email_domains: '*.trash.example',
    signup_blocked_email_domains: 'spam.example bad.trash.example',
  });
  deepEqual(
    [
      await outcome('a@good.trash.example'),
      await outcome('a@bad.trash.example'),
      await outcome('a@very.bad.trash.example'),
      await outcome('a@spam.example'),
    ],
    [true, false, false, false],
  );
  const { status } = await app.admin('PATCH', '/settings', { signup_blocked_email_domains: 'no domain!' });
  equal(status, 400);
});

test('prompt=create: opens the form with the address from login_hint', async () => {
  await set({});
  const agent = new Agent(app);
  const form = await begin(agent, client.id, { prompt: 'create', login_hint: 'hanna@example.com' });
  equal(form.status, 200);
  match(form.body, /name="confirm_password"/);
  match(form.body, /value="hanna@example.com"/);
  const page = await agent.submit(form, answersOf('hanna'));
  codeOf(await agent.submit(page, { code: await codeTo(mailbox, 'hanna@example.com') }));
  // Signed in, and asked for another account: the form comes all the same; who has one signs in instead.
  const again = await begin(agent, client.id, { prompt: 'create' });
  match(again.body, /name="confirm_password"/);
  const [, href = ''] = /href="([^"]*\/oauth2\/login\?[^"]*)"/.exec(again.body) ?? [];
  const login = await agent.get(new URL(href.replaceAll('&amp;', '&'), app.url).href);
  codeOf(await agent.submit(login, { username: 'hanna', password: PASSWORD }));
});

test('prompt=create: combined with other values; with none it is refused', async () => {
  await set({});
  const both = await begin(new Agent(app), client.id, { prompt: 'create consent' });
  match(both.body, /name="confirm_password"/);
  const none = await begin(new Agent(app), client.id, { prompt: 'none create' });
  match(none.location ?? '', /error=invalid_request/);
});

test('sign-up: a client’s own setting overrides the general one', async () => {
  await set({ allow_self_signup: false });
  const open = await app.register({ allow_self_signup: true });
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, open.id, agent), answersOf('ines'));
  match(page.url, /\/verify/);
  await set({ allow_self_signup: true });
  const shut = await app.register({ allow_self_signup: false });
  ok(!(await begin(new Agent(app), shut.id)).body.includes('/oauth2/signup'));
});

test('sign-up code: resend after a minute only; the first stays valid', async () => {
  await set({});
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('jane'));
  const first = await codeTo(mailbox, 'jane@example.com');
  const count = mailbox.received.length;
  const hidden = hiddenFields(page.body);
  await agent.follow(await agent.post('/oauth2/signup/email', hidden));
  await mailbox.deliver();
  equal(mailbox.received.length, count);
  app.advance(61_000);
  await agent.follow(await agent.post('/oauth2/signup/email', hidden));
  const second = await codeTo(mailbox, 'jane@example.com');
  equal(mailbox.received.length, count + 1);
  notEqual(second, '');
  codeOf(await agent.submit(page, { code: first }));
});

test('sign-up code: ends after five wrong ones, and by time', async () => {
  await set({});
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('kim'));
  const code = await codeTo(mailbox, 'kim@example.com');
  const wrong = code === '111111' ? '222222' : '111111';
  for (let tries = 0; tries < 5; tries += 1) equal((await agent.submit(page, { code: wrong })).status, 401);
  const late = await agent.submit(page, { code });
  match(late.body, /has expired/);
  equal(await userNamed(app, 'kim'), undefined);

  const other = new Agent(app);
  const asked = await other.submit(await openSignup(app, client.id, other), answersOf('kira'));
  const good = await codeTo(mailbox, 'kira@example.com');
  app.advance(600_001);
  match((await other.submit(asked, { code: good })).body, /has expired/);
});

test('sign-up: a username taken meanwhile is reported with the code and can be changed', async () => {
  await set({});
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), answersOf('lena'));
  const code = await codeTo(mailbox, 'lena@example.com');
  await app.createUser('Lena');
  const refused = await agent.submit(page, { code });
  equal(refused.status, 400);
  match(refused.body, /This username is already taken/);
  notEqual(hiddenFields(refused.body).interaction, undefined);
});

test('sign-up: where two factors are required they are enrolled right after', async () => {
  await set(WITHOUT_MAIL);
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const agent = new Agent(app);
  const page = await agent.submit(await openSignup(app, client.id, agent), {
    ...answersOf('mona'),
    email: '',
  });
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  match(page.url, /\/oauth2\/mfa\?/);
});
