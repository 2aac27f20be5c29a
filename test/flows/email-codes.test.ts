// E-mail codes as a second factor over HTTP, read from a real SMTP server: enrolment, use, and attacks.
import { equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { Agent, codeRequest, hiddenFields, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { change } from './support.ts';

const app = await startApp({ store: 'sqlite' });
const client = await app.register();
const MULTI_FACTOR = 'urn:latchkey:acr:multi-factor';
let mailbox: Mailbox;
before(async () => {
  mailbox = await openMailbox(app);
  await set({ mfa_mode: 'required' });
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

const set = (values: Record<string, unknown>): Promise<void> => change(app, values);

const addressOf = (username: string): string => `${username}@example.com`;

/** The page after the right password. */
async function passwordGiven(
  agent: Agent,
  username: string,
  parameters: Record<string, string> = {},
): Promise<Page> {
  const first = await agent.authorize({
    ...codeRequest(client.id),
    ...parameters,
  });
  return agent.submit(first, { username, password: PASSWORD });
}

const arrivedAt = (page: Page): string =>
  new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';

/** Delivers. @returns the codes mailed to this person, the latest last */
async function codesTo(username: string): Promise<string[]> {
  await mailbox.deliver();
  const mails = mailbox.received.filter(({ to }) => to.includes(addressOf(username)));
  return mails.flatMap(({ mail }) =>
    mail.subject?.startsWith('Your sign-in code') ? [/\b\d{6}\b/.exec(mail.text ?? '')?.[0] ?? ''] : [],
  );
}

const lastCodeTo = async (username: string): Promise<string> => (await codesTo(username)).at(-1) ?? '';

const notThis = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

const createUser = (username: string, fields: Record<string, unknown> = {}) =>
  app.createUser(username, { email: addressOf(username), is_email_verified: true, ...fields });

const offersEmail = (page: Page): boolean => /name="action" value="email"/.test(page.body);

/** Someone who has chosen codes by mail, and has signed in with one. */
async function createMailUser(username: string): Promise<void> {
  await createUser(username);
  const agent = new Agent(app);
  const asked = await agent.submit(await passwordGiven(agent, username), { action: 'email' });
  const arrived = await agent.submit(asked, { method: 'email', code: await lastCodeTo(username) });
  notEqual(arrivedAt(arrived), '');
  // Past the ten minutes in which only three codes are sent.
  app.advance(11 * 60_000);
}

test('e-mail code enrolment: instead of TOTP; the first code signs in, the owner is notified', async () => {
  await createUser('chooses');
  const agent = new Agent(app);
  const page = await passwordGiven(agent, 'chooses');
  ok(offersEmail(page));
  const asked = await agent.submit(page, { action: 'email' });
  equal(asked.status, 200);
  match(asked.body, /c•+@e•+/);
  const wrong = await agent.submit(asked, { method: 'email', code: notThis(await lastCodeTo('chooses')) });
  equal(wrong.status, 401);
  const arrived = await agent.submit(wrong, { method: 'email', code: await lastCodeTo('chooses') });
  const tokens = await redeem(app, client, { code: arrivedAt(arrived), verifier: VERIFIER });
  const claims = JSON.parse(Buffer.from(tokens.body.id_token.split('.')[1] ?? '', 'base64url').toString());
  equal(claims.acr, 'urn:latchkey:acr:email-code');
  equal((await codesTo('chooses')).length, 1);
  ok(
    mailbox.received.some(
      ({ to, mail }) => to[0] === addressOf('chooses') && /is on/.test(mail.subject ?? ''),
    ),
  );
  const { body } = await app.admin('GET', '/audit?event=mfa.enrolled');
  equal(JSON.stringify(body.data.items?.[0]?.details), '{"method":"email"}');
});

test('e-mail code: sent automatically at the next sign-in; a used one is invalid', async () => {
  await createMailUser('returns');
  const agent = new Agent(app);
  const asked = await passwordGiven(agent, 'returns');
  const code = await lastCodeTo('returns');
  notEqual(arrivedAt(await agent.submit(asked, { method: 'email', code })), '');
  const thief = new Agent(app);
  const again = await passwordGiven(thief, 'returns');
  equal((await thief.submit(again, { method: 'email', code })).status, 401);
});

test('e-mail code: resend after the cool-down only; the first stays valid', async () => {
  await createMailUser('resends');
  const agent = new Agent(app);
  const asked = await passwordGiven(agent, 'resends');
  const [before, first] = [await codesTo('resends'), await lastCodeTo('resends')];
  const resend = () => agent.post('/oauth2/mfa/email', hiddenFields(asked.body));
  equal((await resend()).status, 303);
  equal((await codesTo('resends')).length, before.length, 'within the cool-down nothing is sent');
  app.advance(61_000);
  equal((await resend()).status, 303);
  const second = await lastCodeTo('resends');
  equal((await codesTo('resends')).length, before.length + 1);
  notEqual(second, '');
  notEqual(arrivedAt(await agent.submit(asked, { method: 'email', code: first })), '');
});

test('attack: an e-mail code of another sign-in of the same user', async () => {
  await createMailUser('twofold');
  const [mine, other] = [new Agent(app), new Agent(app)];
  const page = await passwordGiven(mine, 'twofold');
  const own = await lastCodeTo('twofold');
  await passwordGiven(other, 'twofold');
  const foreign = await lastCodeTo('twofold');
  if (own !== foreign) equal((await mine.submit(page, { method: 'email', code: foreign })).status, 401);
  notEqual(arrivedAt(await mine.submit(page, { method: 'email', code: own })), '');
});

test('attack: an e-mail code that is ten minutes old', async () => {
  await createMailUser('late');
  const agent = new Agent(app);
  const page = await passwordGiven(agent, 'late');
  const code = await lastCodeTo('late');
  app.advance(600_000);
  equal((await agent.submit(page, { method: 'email', code })).status, 401);
});

test('e-mail code where not offered: refused even if sent', async () => {
  await createUser('unverified', { is_email_verified: false });
  await createUser('boss', { role: 'admin' });
  await app.createUser('mailless');
  await createUser('ordinary');
  const refused = async (username: string, parameters: Record<string, string> = {}): Promise<void> => {
    const agent = new Agent(app);
    const page = await passwordGiven(agent, username, parameters);
    match(page.body, /data:image\/png;base64/, username);
    ok(!offersEmail(page), username);
    const forced = await agent.submit(page, { action: 'email' });
    equal(forced.status, 400, username);
    match(forced.body, /data:image\/png;base64/, username);
    equal((await codesTo(username)).length, 0, username);
  };
  for (const username of ['unverified', 'boss', 'mailless']) await refused(username);
  const acr = { essential: true, value: MULTI_FACTOR };
  await refused('ordinary', { claims: JSON.stringify({ id_token: { acr } }) });
  await set({ allow_email_codes: false });
  await refused('ordinary');
  await set({ allow_email_codes: true });
});

test('attack: an old enrolment page replaces a newer factor by the password alone', async () => {
  await createUser('overtaken');
  const thief = new Agent(app);
  const stale = await passwordGiven(thief, 'overtaken');
  const owner = new Agent(app);
  const page = await passwordGiven(owner, 'overtaken');
  await owner.submit(page, { action: 'email' });
  for (const fields of [{ action: 'enrol', code: '000000' }, { action: 'email' }]) {
    const answer = await thief.submit(stale, fields);
    equal(answer.status, 400);
    ok(!answer.body.includes('otpauth'), 'no new secret to enrol');
  }
  equal((await thief.get(stale.url)).status, 400);
});

test('e-mail code after a mailed sign-in link: not sent and not accepted', async () => {
  await createMailUser('links');
  await set({ allow_magic_link: true });
  const agent = new Agent(app);
  const page = await agent.authorize({
    ...codeRequest(client.id),
  });
  const { interaction = '' } = hiddenFields(page.body);
  const asked = await agent.get(`/oauth2/forgot-password?interaction=${interaction}&action=magic_link`);
  await agent.submit(asked, { email: addressOf('links'), action: 'magic_link' });
  const link = await mailbox.linkTo(addressOf('links'));
  const before = (await codesTo('links')).length;
  const end = await agent.submit(await agent.get(link), {});
  equal(arrivedAt(end), '');
  equal((await codesTo('links')).length, before);
  match(end.body, /second factor/);
  await set({ allow_magic_link: false });
});
