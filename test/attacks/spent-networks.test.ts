// Attack: strangers of an office or a carrier use up the limits of its network, and who has the password, a passkey, a known browser, a
// link or an invitation is shut out (decision 0012).
import { equal, match, ok } from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { newPerson } from '../flows/account-support.ts';
import { change } from '../flows/support.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { enrol, openSignIn, originOf, usePasskey } from '../support/passkeys.ts';
import { enrolPhone } from '../support/phone.ts';

let app: TestApp;
let mailbox: Mailbox;
let client: { id: string; secret: string };
const LIMITS = { limit_mfa_ip: 5, limit_mail_ip: 5, limit_register_ip: 5, limit_holder: 4 };
const NONE = { limit_mfa_ip: 0, limit_mail_ip: 0, limit_register_ip: 0 };

before(async () => {
  app = await startApp({ store: 'sqlite' });
  mailbox = await openMailbox(app);
  client = await app.register();
});
beforeEach(() => change(app, { ...NONE, mfa_mode: 'optional', auth_mode: 'password_and_passkey' }));
after(async () => {
  await app.stop();
  await mailbox.close();
});

/** Everybody here is at one address. */
async function spend(path: string, fields: Record<string, string> = {}): Promise<void> {
  await change(app, LIMITS);
  const stranger = new Agent(app);
  const { body } = await openSignIn(stranger, client);
  let status = 0;
  for (let time = 0; time < 7; time += 1)
    status = (await stranger.post(path, { ...hiddenFields(body), ...fields })).status;
  equal(status, 429, path);
}
const spendCodes = () => spend('/oauth2/mfa', { method: 'totp', code: '000000' });

test('attack: wrong codes of strangers; a right one after the password is accepted', async () => {
  const { username } = await newPerson(app);
  await change(app, { mfa_mode: 'required' });
  const first = new Agent(app);
  const { phone } = await enrolPhone(app, first, await openSignIn(first, client), username);
  await spendCodes();
  const guess = new Agent(app);
  const asked = await guess.submit(await openSignIn(guess, client), { username, password: PASSWORD });
  for (let time = 0; time < 4; time += 1)
    equal((await guess.submit(asked, { method: 'totp', code: '000000' })).status, 401);
  equal((await guess.submit(asked, { method: 'totp', code: '000000' })).status, 429, 'its own are spent');
  const owner = new Agent(app);
  const page = await owner.submit(await openSignIn(owner, client), { username, password: PASSWORD });
  const done = await owner.submit(page, { method: 'totp', code: phone.code() });
  match(done.location ?? '', /code=/, done.body);
  const stranger = new Agent(app);
  const nothing = await openSignIn(stranger, client);
  equal((await stranger.post('/oauth2/mfa', { ...hiddenFields(nothing.body), code: '1' })).status, 429);
});

test('attack: refused codes of strangers; a passkey signs in', async () => {
  const user = await newPerson(app);
  const key = new Authenticator({ origin: originOf(app) });
  await enrol(new Agent(app), client, user, key);
  await spendCodes();
  const owner = new Agent(app);
  const { status, body } = await usePasskey(owner, await openSignIn(owner, client), key);
  equal(status, 200, JSON.stringify(body));
});

test('attack: recovery codes tried by strangers; a browser that the account knows goes on', async () => {
  const user = await newPerson(app);
  const known = new Agent(app);
  await known.signIn(client.id, user);
  await spend('/oauth2/recover', { username: 'nobody-here', code: '0000-0000-0000-0000' });
  const answers: number[] = [];
  for (const [agent, username] of [
    [known, user.username],
    [new Agent(app), user.username],
    [new Agent(app), 'nobody-at-all'],
    [known, 'nobody-at-all'],
  ] as const) {
    const page = await openSignIn(agent, client, { prompt: 'login' });
    const { interaction = '' } = hiddenFields(page.body);
    const shown = await agent.get(`/oauth2/recover?interaction=${interaction}`);
    answers.push((await agent.submit(shown, { username, code: '0000-0000-0000-0000' })).status);
  }
  equal(answers.join(' '), '401 429 429 429');
});

test('attack: mails requested by strangers; a browser that the account knows asks for a reset', async () => {
  const user = await newPerson(app);
  const known = new Agent(app);
  await known.signIn(client.id, user);
  const stranger = new Agent(app);
  const page = await stranger.get('/oauth2/forgot-password');
  await change(app, LIMITS);
  for (let time = 0; time < 6; time += 1)
    await stranger.submit(page, { email: `nobody-${time}@example.com` });
  const ask = async (agent: Agent, email: string) =>
    (await agent.submit(await agent.get('/oauth2/forgot-password'), { email })).status;
  equal(await ask(known, user.email), 200);
  match(await mailbox.linkTo(user.email), /reset-password\?token=/);
  // Whether there is such an account is the same answer.
  equal(await ask(stranger, user.email), 429);
  equal(await ask(stranger, 'nobody@example.com'), 429);
  equal(await ask(known, 'nobody@example.com'), 429);
  const other = await newPerson(app);
  equal(await ask(known, other.email), 429, 'known to one account, not to another');
  equal(await mailbox.linkTo(other.email), '');
});

test('attack: sign-ups of strangers; invitations and set-up links are accepted', async () => {
  const invited = await app.admin('POST', '/invitations', { email: 'guest@example.com', send_mail: false });
  const set = await app.createUser('newcomer', { email: 'newcomer@example.com' });
  equal((await app.admin('POST', `/users/${set.id}/send-enrolment-link`)).status, 200);
  const link = await mailbox.linkTo('newcomer@example.com');
  await change(app, LIMITS);
  const stranger = new Agent(app);
  const shown = await stranger.get(link);
  const made = { csrf: hiddenFields(shown.body).csrf ?? '', token: 'made-up', password: PASSWORD };
  let last = 0;
  for (let time = 0; time < 7; time += 1)
    last = (await stranger.post('/oauth2/enrol', { ...made, confirm_password: PASSWORD })).status;
  equal(last, 429);
  const answers = { password: PASSWORD, confirm_password: PASSWORD };
  const guest = new Agent(app);
  const form = await guest.get(String(invited.body.data.url));
  const done = await guest.submit(form, { ...answers, username: 'guest' });
  equal(done.status, 200, done.body);
  const newcomer = new Agent(app);
  const ready = await newcomer.submit(await newcomer.get(link), answers);
  match(ready.body, /Your account is ready/);
  ok(ready.status === 200);
});
