// One-time links to accounts created by administrators: the owner sets the first password, the address counts as verified,
// and nothing else happens.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox, tokenIn } from '../support/mailbox.ts';
import { testOnSoundStore } from '../support/real-mongodb.ts';
import { begin } from '../support/signup.ts';

const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register();
const CHOSEN = 'four purple kites over Lisbon';
const chosen = { password: CHOSEN, confirm_password: CHOSEN };

async function newcomer(username: string) {
  const user = await app.createUser(username, { email: `${username}@example.com` });
  const { status } = await app.admin('POST', `/users/${user.id}/send-enrolment-link`);
  equal(status, 200);
  const link = await mailbox.linkTo(`${username}@example.com`);
  match(link, /\/oauth2\/enrol\?token=/);
  return { ...user, link };
}

const signsIn = async (username: string, password: string): Promise<boolean> => {
  const agent = new Agent(app);
  const page = await agent.submit(await begin(agent, client.id), { username, password });
  return page.location !== undefined;
};

test('enrolment link: sets the password once, verifies the address, signs no one in', async () => {
  const { id, link } = await newcomer('nora');
  const agent = new Agent(app);
  for (let times = 0; times < 2; times += 1) equal((await agent.get(link)).status, 200);
  const page = await agent.get(link);
  match(page.body, /nora/);
  const refused = await agent.submit(page, { ...chosen, confirm_password: 'another' });
  equal(refused.status, 400);
  equal((await agent.submit(page, { password: 'short', confirm_password: 'short' })).status, 400);
  match((await agent.submit(page, chosen)).body, /Your account is ready/);
  ok(!(await begin(agent, client.id)).location);
  equal((await agent.submit(page, chosen)).status, 410);
  equal((await agent.get(link)).status, 410);
  const { body } = await app.admin('GET', `/users/${id}`);
  equal(body.data.is_email_verified, true);
  deepEqual([await signsIn('nora', CHOSEN), await signsIn('nora', PASSWORD)], [true, false]);
  const events = (await app.admin('GET', `/audit?target_id=${id}`)).body.data.items ?? [];
  const names = events.map(({ event }) => String(event)).filter((name) => name.startsWith('enrolment'));
  deepEqual(names.sort(), ['enrolment.completed', 'enrolment.requested']);
});

test('enrolment link made without a mail server: it opens the account, and verifies no address', async () => {
  await app.admin('PATCH', '/settings', { smtp_url: '' });
  const user = await app.createUser('handed', { email: 'handed@example.com' });
  equal((await app.admin('POST', `/users/${user.id}/send-enrolment-link`)).status, 200);
  const [mail] = (await app.admin('GET', '/mails?to=handed@example.com')).body.data.items ?? [];
  const link = /https?:\/\/\S+\?token=[\w-]+/.exec(String(mail?.text))?.[0] ?? '';
  const agent = new Agent(app);
  match((await agent.submit(await agent.get(link), chosen)).body, /Your account is ready/);
  equal((await app.admin('GET', `/users/${user.id}`)).body.data.is_email_verified, false);
  ok(await signsIn('handed', CHOSEN));
  await app.admin('PATCH', '/settings', { smtp_url: mailbox.url });
});

test('enrolment link: void after expiry, new password, address change or deactivation', async () => {
  const endings: Record<string, (id: string) => Promise<unknown>> = {
    time: async () => app.advance(7 * 86_400_000 + 1),
    password: (id) => app.admin('PATCH', `/users/${id}`, { password: CHOSEN }),
    address: (id) => app.admin('PATCH', `/users/${id}`, { email: 'elsewhere@example.com' }),
    deactivation: (id) => app.admin('POST', `/users/${id}/deactivate`),
  };
  for (const [name, end] of Object.entries(endings)) {
    const { id, link } = await newcomer(`late-${name}`);
    const agent = new Agent(app);
    const page = await agent.get(link);
    await end(id);
    equal((await agent.get(link)).status, 410, name);
    equal((await agent.submit(page, chosen)).status, 410, name);
  }
});

testOnSoundStore('enrolment link: used many times at once sets one password', async () => {
  const { link } = await newcomer('many');
  const agent = new Agent(app);
  const hidden = hiddenFields((await agent.get(link)).body);
  const pages = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const password = `${CHOSEN} ${index}`;
      return agent.post('/oauth2/enrol', { ...hidden, password, confirm_password: password });
    }),
  );
  equal(pages.filter(({ status }) => status === 303).length, 1);
});

test('attack: enrolment links as other links, the reverse, and from another browser', async () => {
  const { id, link } = await newcomer('kinds');
  const agent = new Agent(app);
  for (const path of ['reset-password', 'verify-email', 'magic-link', 'signup'])
    equal((await agent.get(`/oauth2/${path}?token=${tokenIn(link)}`)).status, 410, path);
  const hidden = hiddenFields((await agent.get(link)).body);
  const other = new Agent(app);
  await other.get('/oauth2/forgot-password');
  equal((await other.post('/oauth2/enrol', { ...hidden, ...chosen })).status, 403);
  const invitation = await app.admin('POST', '/invitations', { email: 'x@example.com', send_mail: false });
  const token = tokenIn(String(invitation.body.data.url));
  equal((await agent.get(`/oauth2/enrol?token=${token}`)).status, 410);
  equal((await agent.submit(await agent.get(link), chosen)).status, 200);
  equal((await app.admin('GET', `/users/${id}`)).body.data.is_email_verified, true);
});

test('enrolment link: an enrolled second factor is still asked for', async () => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const { link } = await newcomer('factor');
  const agent = new Agent(app);
  await agent.submit(await agent.get(link), chosen);
  const page = await agent.submit(await begin(agent, client.id), { username: 'factor', password: CHOSEN });
  match(page.url, /\/oauth2\/mfa/);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
});

test('enrolment link: refused where it could reach no one', async () => {
  const nowhere = await app.createUser('nowhere');
  const idle = await app.createUser('idle', { email: 'idle@example.com', is_active: false });
  for (const { id } of [nowhere, idle]) {
    equal((await app.admin('POST', `/users/${id}/send-enrolment-link`)).status, 400);
  }
});
