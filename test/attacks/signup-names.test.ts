// A username as a disguise: a stranger signs up, or renames the own account, as the system, its support, the product, or with letters
// of another alphabet that look like somebody else's name (UTS #39; decision 0014).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPerson } from '../flows/account-support.ts';
import { bearer, call } from '../flows/support.ts';
import { Agent, redeem } from '../support/agent.ts';
import { ADMIN_TOKEN, opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { answersOf, openSignup, userNamed } from '../support/signup.ts';

let app: TestApp;
let mailbox: Mailbox;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp();
  mailbox = await openMailbox(app);
  const { status } = await app.admin('PATCH', '/settings', {
    allow_self_signup: true,
    signup_require_verified_email: false,
    signup_email: 'optional',
    allow_username_change: true,
    product_name: 'Globex Identity',
    limit_register_ip: 0,
  });
  assert.equal(status, 200);
  client = await app.register(opensAccounts);
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

const RESERVED: Readonly<Record<string, string>> = {
  en: 'This name is reserved. Choose another one.',
  de: 'Dieser Name ist reserviert. Wählen Sie einen anderen.',
  fr: 'Ce nom est réservé. Choisissez-en un autre.',
  es: 'Este nombre está reservado. Elige otro.',
  pt: 'Este nome está reservado. Escolha outro.',
  ja: 'この名前は予約されています。別の名前を選んでください。',
  ar: 'هذا الاسم محجوز. اختر اسمًا آخر.',
};
const ALPHABET = 'Must have letters and digits of one alphabet in common use.';

/** @returns the page after the form of a new browser */
async function signUpAs(username: string, language = 'en') {
  const agent = new Agent(app);
  const page = await openSignup(app, client.id, agent, { ui_locales: language });
  return agent.submit(page, answersOf(username, { email: '' }));
}

test('attack: sign-up as the system or the product, taken or not: one answer, seven languages', async () => {
  // By an administrator any name may be given, and the account works.
  const root = await app.createUser('root');
  assert.match((await new Agent(app).signIn(client.id, root)).code, /./);
  for (const [language, text] of Object.entries(RESERVED)) {
    const pages = await Promise.all(['root', 'admin'].map((name) => signUpAs(name, language)));
    for (const page of pages) {
      assert.equal(page.status, 400);
      assert.ok(page.body.includes(text), `${language}: ${page.body}`);
    }
  }
  for (const name of ['R00T', 'support.team', 'globex-identity', 'globexidentity1', 'latchkey', 'ʀᴏᴏᴛ']) {
    const page = await signUpAs(name);
    assert.ok(page.status === 400 && page.body.includes(RESERVED.en ?? ''), name);
    assert.equal(await userNamed(app, name), undefined);
  }
});

test('attack: sign-up with a mixture of alphabets, taken or not', async () => {
  const name = 'рayroll';
  await app.createUser(name);
  for (const one of [name, 'рaylist']) {
    const page = await signUpAs(one);
    assert.ok(page.status === 400 && page.body.includes(ALPHABET), one);
    assert.doesNotMatch(page.body, /already taken/);
  }
  const page = await signUpAs('ольга');
  assert.match(page.location ?? '', /code=/, page.body);
  assert.match((await signUpAs('payroll')).location ?? '', /code=/);
});

test('attack: an invited person takes a reserved name; the invitation stays valid for another', async () => {
  const email = 'invited@example.com';
  await app.admin('POST', '/invitations', { email });
  const link = await mailbox.linkTo(email);
  const agent = new Agent(app);
  const { email: _none, ...answers } = answersOf('support');
  const refused = await agent.submit(await agent.get(link), answers);
  assert.ok(refused.status === 400 && refused.body.includes(RESERVED.en ?? ''), refused.body);
  const done = await agent.submit(refused, { ...answers, username: 'suzanne' });
  assert.equal(done.status, 200, done.body);
  assert.ok(await userNamed(app, 'suzanne'));
});

test('attack: the own account renamed to a reserved or mixed name, by the account API', async () => {
  const user = await newPerson(app);
  const { body } = await redeem(app, client, await new Agent(app).signIn(client.id, user));
  const rename = async (username: string) => {
    const headers = { ...bearer(String(body.access_token)), 'content-type': 'application/json' };
    const answer = await call(app, 'PATCH', '/account/api/profile', {
      headers,
      body: JSON.stringify({ username }),
    });
    return { status: answer.status, fields: answer.text === '' ? {} : JSON.parse(answer.text).error?.fields };
  };
  assert.deepEqual(await rename('admin'), { status: 400, fields: { username: RESERVED.en } });
  assert.deepEqual(await rename('аlice'), { status: 400, fields: { username: ALPHABET } });
  assert.equal((await rename('grace')).status, 204);
  // Who has such a name keeps it, in another spelling as well.
  await app.admin('PATCH', `/users/${user.id}`, { username: 'helpdesk' });
  assert.equal((await rename('HelpDesk')).status, 204);
  assert.equal((await rename('admin')).status, 400);
});

test('reserved names: administrators and imports may give them', async () => {
  for (const username of ['support', 'globexidentity', 'аdmin'])
    assert.equal((await app.admin('POST', '/users', { username, password: PASSWORD })).status, 201, username);
  const rows = [{ username: 'postmaster' }, { username: 'Ольгаolga' }];
  const { status, text } = await call(app, 'POST', '/admin/api/users/import', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  assert.equal(status, 200, text);
  for (const { username } of rows) assert.ok(await userNamed(app, username), text);
});
