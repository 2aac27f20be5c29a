// How mails name accounts: by the person's name, with the username where that says more, and never by a text of a stranger's.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { accountValues, readerValues } from '../../src/mail/request-values.ts';
import { safeValues } from '../../src/mail/values.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { open, press } from '../flows/account-support.ts';
import { plainTheme } from '../pages/server.ts';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { sampleValues } from './samples.ts';
import { baseUrl, start } from './support.ts';

const app = await startApp();
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});

const render = createMailViews({ theme: () => plainTheme, baseUrl });

/** The line about the account, in both forms. */
function accountIn(values: Record<string, string | number>, language = 'en') {
  const { name: _name, username: _username, ...others } = sampleValues('password_changed');
  const taken = safeValues('password_changed', { ...others, ...values }, { baseUrl, at: start });
  const { text, html } = render('password_changed', taken, language);
  const [, plain = ''] = /^Account: (.*)$/m.exec(text) ?? [];
  const [, rich = ''] = />Account:<\/span> (.*?)<br>/.exec(html) ?? [];
  return { plain, rich, text, html };
}

const person = (name: string | undefined, username = 'grace', email = 'grace@example.com') => ({
  username,
  email,
  isEmailVerified: true,
  profile: name === undefined ? {} : { name },
});

test('mail: the person’s name, with the username in brackets, in both forms', () => {
  const { plain, rich } = accountIn(readerValues(person('Grace Hopper')));
  equal(plain, 'Grace Hopper (grace)');
  equal(rich, '<bdi dir="auto">Grace Hopper</bdi> (<bdi dir="auto">grace</bdi>)');
  const parts = { ...person(undefined), profile: { given_name: 'Grace', family_name: 'Hopper' } };
  equal(accountIn(readerValues(parts)).plain, 'Grace Hopper (grace)');
});

test('mail: one name alone where the other is missing, the same, or the address of the mail', () => {
  const cases: [Parameters<typeof readerValues>[0], string][] = [
    [person(undefined), 'grace'],
    [person('GRACE'), 'GRACE'],
    [person('Grace Hopper', 'Grace@Example.com'), 'Grace Hopper'],
    [person(undefined, 'grace'), 'grace'],
    [person('\u200b\u2060'), 'grace'],
    [person('\u200b', 'grace@example.com'), 'grace@\u200bexample.\u200bcom'],
  ];
  for (const [reader, plain] of cases) equal(accountIn(readerValues(reader)).plain, plain);
  deepEqual(accountValues(person('Grace Hopper', 'grace@example.com')), {
    name: 'Grace Hopper',
    username: 'grace@example.com',
  });
});

test('mail: names in the direction of their script, beside the username, in a page of another', () => {
  const { html, text } = accountIn(readerValues(person('محمد الخوارزمي', 'khwarizmi')), 'ar');
  ok(html.includes('<bdi dir="auto">محمد الخوارزمي</bdi> (<bdi dir="auto">khwarizmi</bdi>)'));
  match(text, /محمد الخوارزمي \(khwarizmi\)/);
});

test('attack: a name that is a link, markup, a second line, or turns the text around it', () => {
  for (const name of ['evil1.com', 'see https://evil.com now', 'a@evil.com', '<a href="//evil.com">x</a>']) {
    const { html, text } = accountIn(readerValues(person(name)));
    doesNotMatch(html, /<a href="\/\/|href="[^"]*evil/);
    doesNotMatch(text, /evil1?\.com/);
    ok(text.includes('(grace)'), name);
  }
  const { plain } = accountIn(readerValues(person('Ann\r\nCall +1 555\u202e (admin)')));
  equal(plain, 'AnnCall +1 555 (admin) (grace)');
  equal(accountIn(readerValues(person('x'.repeat(500)))).plain, `${'x'.repeat(100)} (grace)`);
});

test('attack: words to a stranger by one’s own name, in mails to an address that is not proven', async () => {
  const words = 'Your bank: call +1 555 0100 at once';
  const mallory = await app.createUser('mallory', {
    name: words,
    email: 'mallory@example.com',
    is_email_verified: true,
  });
  const browser = new Agent(app);
  await press(browser, await open(browser, mallory, '/account/email'), '/account/email', {
    email: 'victim@example.com',
  });
  await app.createUser('trudy', { name: words, email: 'other-victim@example.com', is_email_verified: false });
  const trudy = new Agent(app);
  await press(trudy, await open(trudy, { username: 'trudy' }), '/account/email/verify');
  const form = await browser.get('/oauth2/forgot-password');
  await browser.submit(form, { email: 'mallory@example.com' });
  await mailbox.deliver();
  for (const [victim, username] of [
    ['victim@example.com', 'mallory'],
    ['other-victim@example.com', 'trudy'],
  ] as const) {
    const mails = mailbox.received.filter(({ to }) => to.includes(victim));
    ok(mails.length > 0, victim);
    for (const { mail } of mails) {
      doesNotMatch(`${mail.subject} ${mail.text} ${mail.html}`, /555 0100/, victim);
      match(mail.text ?? '', new RegExp(`^Account: ${username}$`, 'm'));
    }
  }
  const own = mailbox.received.filter(({ to }) => to.includes('mallory@example.com'));
  match(own.map(({ mail }) => mail.text).join('\n'), /^Account: Your bank: .* \(mallory\)$/m);
});

test('mail to administrators about a report: the owner’s name, not the administrator’s', async () => {
  await app.createUser('root', {
    role: 'admin',
    name: 'Ruth Root',
    email: 'root@example.com',
    is_email_verified: true,
  });
  const owner = await app.createUser('olga', { name: 'Olga Owner' });
  const nameless = await app.createUser('nina');
  for (const one of [owner, nameless]) {
    const browser = new Agent(app);
    await press(browser, await open(browser, one, '/account/not-me'), '/account/not-me');
  }
  await mailbox.deliver();
  const told = mailbox.received
    .filter(({ to }) => to.includes('root@example.com'))
    .map(({ mail }) => /^Account: (.*)$/m.exec(mail.text ?? '')?.[1]);
  deepEqual(told.sort(), ['Olga Owner (olga)', 'nina']);
});
