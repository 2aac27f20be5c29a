// Invitations over HTTP and the admin API, with mails read from a real SMTP server.
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { begin, codeOf, userNamed } from '../support/signup.ts';

// Signing up is off, as it is by default: an invitation opens the closed door.
const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register({ initiate_login_uri: 'https://rp.example/start?from=mail' });

async function invite(email: string, more: Record<string, unknown> = {}) {
  const { status, body } = await app.admin('POST', '/invitations', { email, ...more });
  equal(status, 201, JSON.stringify(body));
  return { id: String(body.data.id), url: String(body.data.url) };
}

const answers = (username: string): Record<string, string> => ({
  username,
  password: PASSWORD,
  confirm_password: PASSWORD,
});

const accept = async (url: string, username: string, agent = new Agent(app)): Promise<Page> =>
  agent.submit(await agent.get(url), answers(username));

test('mailed invitation: the invited address counts as verified; signed in at the client', async () => {
  await invite('ada@example.com', { client_id: client.id });
  const link = await mailbox.linkTo('ada@example.com');
  match(link, /\/oauth2\/signup\?token=/);
  const agent = new Agent(app);
  const form = await agent.get(link);
  equal(form.status, 200);
  match(form.body, /ada@example\.com/);
  ok(!form.body.includes('name="email"'));
  const done = await agent.submit(form, answers('ada'));
  equal(done.status, 200);
  match(done.body, /Your account is ready/);
  const next = new URL(
    /href="(https:\/\/rp\.example[^"]*)"/.exec(done.body)?.[1]?.replaceAll('&amp;', '&') ?? '',
  );
  deepEqual([next.pathname, next.searchParams.get('iss')], ['/start', app.issuer]);
  const user = await userNamed(app, 'ada');
  deepEqual([user?.email, user?.is_email_verified, user?.role], ['ada@example.com', true, 'user']);
  // What the application does then: nothing is asked.
  codeOf(await begin(agent, client.id));
});

test('invitation: opening the link has no effect and signs no one in', async () => {
  await invite('open@example.com', { client_id: client.id });
  const link = await mailbox.linkTo('open@example.com');
  const agent = new Agent(app);
  for (let times = 0; times < 3; times += 1) equal((await agent.get(link)).status, 200);
  equal((await agent.request(link, { method: 'HEAD' })).status, 200);
  equal(await userNamed(app, 'open'), undefined);
  match((await begin(agent, client.id)).body, /name="password"/);
});

test('invitation link from the API: works too, but verifies no address', async () => {
  const { url } = await invite('handed@example.com', { send_mail: false });
  equal(await mailbox.linkTo('handed@example.com'), '');
  const done = await accept(url, 'handed');
  match(done.body, /href="\/account"/);
  const user = await userNamed(app, 'handed');
  deepEqual([user?.email, user?.is_email_verified], ['handed@example.com', false]);
  // The address is asked to confirm itself.
  const agent = new Agent(app);
  const confirmation = await mailbox.linkTo('handed@example.com');
  match(confirmation, /\/oauth2\/verify-email\?/);
  await agent.submit(await agent.get(confirmation), {});
  equal((await userNamed(app, 'handed'))?.is_email_verified, true);
});

test('invitation list: without links; used ones show their account', async () => {
  const { id, url } = await invite('list@example.com', { expires_in: 3600, client_id: client.id });
  const find = async (): Promise<Record<string, unknown> | undefined> => {
    const { body } = await app.admin('GET', '/invitations?search=list@');
    return body.data.items?.find((item) => item.id === id);
  };
  const open = await find();
  deepEqual(Object.keys(open ?? {}).sort(), [
    'client_id',
    'created_at',
    'email',
    'expires_at',
    'id',
    'used_at',
    'user_id',
  ]);
  equal(Date.parse(String(open?.expires_at)) - Date.parse(String(open?.created_at)), 3_600_000);
  deepEqual([open?.client_id, open?.used_at, open?.user_id], [client.id, null, null]);
  await accept(url, 'listed');
  const used = await find();
  equal(used?.user_id, (await userNamed(app, 'listed'))?.id);
  notEqual(used?.used_at, null);
});

test('invitation: deleted with the account created from it', async () => {
  const { id, url } = await invite('leaving@example.com');
  await accept(url, 'leaving');
  await app.admin('DELETE', `/users/${(await userNamed(app, 'leaving'))?.id}`);
  const { body } = await app.admin('GET', '/invitations?search=leaving@');
  deepEqual(body.data.items, [], id);
});

test('invitation: expires after exactly seven days by default', async () => {
  const { url } = await invite('week@example.com');
  app.advance(7 * 86_400_000 - 2000);
  equal((await new Agent(app).get(url)).status, 200);
  app.advance(2001);
  equal((await new Agent(app).get(url)).status, 410);
});

test('invitation: mistakes are reported and do not use it up', async () => {
  await app.createUser('occupied');
  const { url } = await invite('retry@example.com');
  const agent = new Agent(app);
  const form = await agent.get(url);
  const taken = await agent.submit(form, answers('Occupied'));
  equal(taken.status, 400);
  match(taken.body, /This username is already taken/);
  const short = await agent.submit(form, { ...answers('retry'), password: 'x', confirm_password: 'x' });
  match(short.body, /at least 8 characters/);
  match((await agent.submit(form, answers('retry'))).body, /Your account is ready/);
});

test('invitation: exempt from domain rules, but not from accepting the terms', async () => {
  await app.admin('PATCH', '/settings', {
    signup_blocked_email_domains: 'example.com',
    terms_url: 'https://acme.example/terms',
  });
  const { url } = await invite('terms@example.com');
  const agent = new Agent(app);
  const form = await agent.get(url);
  equal((await agent.submit(form, answers('terms'))).status, 400);
  equal((await agent.submit(form, { ...answers('terms'), accept_terms: 'on' })).status, 200);
  await app.admin('PATCH', '/settings', { signup_blocked_email_domains: '', terms_url: '' });
  ok(await userNamed(app, 'terms'));
});

test('invitation: where MFA is required the password alone gives no session', async () => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const { url } = await invite('factor@example.com', { client_id: client.id });
  const agent = new Agent(app);
  const done = await agent.submit(await agent.get(url), answers('factor'));
  match(done.body, /Your account is ready/);
  match((await begin(agent, client.id)).body, /name="password"/);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
});

test('invitation: another user’s session in this browser ends', async () => {
  const agent = new Agent(app);
  await app.createUser('before');
  await agent.signIn(client.id, { username: 'before' });
  const { url } = await invite('after@example.com');
  await agent.submit(await agent.get(url), answers('after'));
  const { body } = await app.admin('GET', '/sessions?limit=1000');
  const active = (body.data.items ?? []).filter(({ is_active: isActive }) => isActive === true);
  ok(!active.some(({ username }) => username === 'before'));
  ok(active.some(({ username }) => username === 'after'));
});

test('invitation API: names invalid fields', async () => {
  await app.createUser('member', { email: 'member@example.com' });
  const reason = async (input: Record<string, unknown>) => {
    const { status, body } = await app.admin('POST', '/invitations', input);
    return [status, body.error?.reason, Object.keys(body.error?.fields ?? {})];
  };
  deepEqual(await reason({ email: 'no address' }), [400, 'request.invalid', ['email']]);
  deepEqual(await reason({ email: 'Member@example.com' }), [409, 'account.email_taken', ['email']]);
  deepEqual(await reason({ email: 'x@example.com', client_id: 'nobody' }), [
    400,
    'request.invalid',
    ['client_id'],
  ]);
  deepEqual(await reason({ email: 'x@example.com', role: 'admin' }), [400, 'request.invalid', ['role']]);
  deepEqual(await reason({ email: 'x@example.com', expires_in: 1 }), [
    400,
    'request.invalid',
    ['expires_in'],
  ]);
  const gone = await app.admin('DELETE', '/invitations/00000000-0000-4000-8000-000000000000');
  deepEqual([gone.status, gone.body.error?.reason], [404, 'invitation.not_found']);
});

test('invitation: creation, use and withdrawal are audited, without the link', async () => {
  const { id, url } = await invite('audited@example.com');
  await accept(url, 'audited');
  const other = await invite('withdrawn@example.com');
  const again = await app.admin('POST', `/invitations/${other.id}/resend`);
  deepEqual([again.status, again.body.data.id], [200, other.id]);
  equal((await new Agent(app).get(other.url)).status, 410, 'the link before');
  equal((await new Agent(app).get(String(again.body.data.url))).status, 200);
  equal((await app.admin('POST', `/invitations/${id}/resend`)).body.error?.reason, 'invitation.not_found');
  equal((await app.admin('DELETE', `/invitations/${other.id}`)).status, 204);
  const events = async (target: string): Promise<unknown[]> => {
    const { body } = await app.admin('GET', `/audit?target_id=${target}`);
    return (body.data.items ?? []).map(({ event }) => event).sort();
  };
  deepEqual(await events(id), ['invitation.created', 'invitation.used']);
  deepEqual(await events(other.id), ['invitation.created', 'invitation.renewed', 'invitation.revoked']);
  const { body } = await app.admin('GET', '/audit?limit=1000');
  ok(!JSON.stringify(body).includes(new URL(url).searchParams.get('token') ?? '-'));
  ok(!app.logged.join('').includes(new URL(url).searchParams.get('token') ?? '-'));
});

test('invitation without scripts or cookies: one form, one button', async () => {
  const { url } = await invite('plain@example.com');
  const page = await new Agent(app).get(url);
  equal([...page.body.matchAll(/<form/g)].length, 1);
  ok(hiddenFields(page.body).token);
});

const MANY = '/admin/invitations/many';

async function administrator(username: string, role = 'admin'): Promise<Agent> {
  await app.createUser(username, { role });
  const agent = new Agent(app);
  await agent.submit(await agent.follow(await agent.get('/admin')), { username, password: PASSWORD });
  return agent;
}

const words = ({ body }: Page): string =>
  (/<main[\s\S]*<\/main>/.exec(body)?.[0] ?? '').replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

const invitedCount = async () => (await app.admin('GET', '/invitations')).body.data.total;

test('invite many: each line is judged first, then sent, recorded and reported', async () => {
  const admin = await administrator('many-admin');
  await app.createUser('known', { email: 'known@example.com' });
  await invite('pending@example.com', { send_mail: false });
  const csrf = async () => hiddenFields((await admin.get(MANY)).body).csrf ?? '';
  const before = await invitedCount();
  const addresses = [
    'Name,E-mail',
    'Grace Hopper,<many-1@example.com>',
    'many-2@example.com; "MANY-3@example.com"',
    'known@example.com',
    'Pending@Example.com',
    'many-1@example.com',
    'not an address',
    'many-2@example.com, alan; ada',
    '<img src=x onerror=alert(1)>@example.com',
  ].join('\n');
  const form = { addresses, days: '3', client_id: client.id };
  const page = await admin.post(MANY, { csrf: await csrf(), ...form });
  const shown = words(page);
  match(shown, /3 to invite/);
  match(shown, /4 known@example.com There is a user with this e-mail address/);
  match(shown, /5 Pending@Example.com This person is invited already/);
  match(shown, /6 many-1@example.com This address is in line 2 already/);
  match(shown, /7 not an address This is not an e-mail address/);
  match(shown, /Left out as names: 5 .*2 Grace Hopper There is no @ in it\. 8 alan .* 8 ada There is no @/);
  ok(!page.body.includes('<img src=x'), 'escaped');
  equal(await invitedCount(), before, 'nothing is sent before it is confirmed');
  const refused = await admin.post(MANY, { csrf: await csrf(), ...form, days: '99', step: 'send' });
  equal(refused.status, 400);
  match(words(refused), /Must be 1 to 30 days/);
  ok(refused.body.includes('many-2@example.com'), 'what was typed is kept');
  const sent = await admin.post(MANY, { csrf: await csrf(), ...form, step: 'send' });
  equal(sent.status, 303);
  const report = words(await admin.get(sent.location ?? ''));
  match(report, /3 invited, 6 not invited Their e-mails leave as soon as the mail server accepts them/);
  match(report, /8 alan There is no @ in it/);
  equal(await invitedCount(), Number(before) + 3);
  for (const name of ['many-1', 'many-2', 'MANY-3'])
    match(await mailbox.linkTo(`${name}@example.com`), /\/oauth2\/signup\?token=/);
  const log = (await app.admin('GET', '/audit?event=invitation.created&limit=3')).body.data.items ?? [];
  equal(log.length, 3);
  ok(
    log.every(({ actor_kind }) => actor_kind === 'user'),
    'by the administrator',
  );
});

test('invitations without a mail server: their links prove no address, and none is called sent', async () => {
  const smtp_url = mailbox.url;
  await app.admin('PATCH', '/settings', { smtp_url: '' });
  const admin = await administrator('mailless-admin');
  const csrf = hiddenFields((await admin.get(MANY)).body).csrf ?? '';
  const form = { addresses: 'unmailed@example.com', days: '3', step: 'send' };
  const report = words(await admin.follow(await admin.post(MANY, { csrf, ...form })));
  match(report, /1 invited This server can’t send e-mail, so nobody gets the invitations/);
  const list = await admin.get('/admin/invitations?search=unmailed');
  match(list.body, /New link<.*for <?[^>]*>?.*unmailed@example\.com/);
  const [, path = ''] = /action="(\/admin\/invitations\/[\w-]+\/again)"/.exec(list.body) ?? [];
  const shown = await admin.follow(await admin.post(path, { csrf: hiddenFields(list.body).csrf ?? '' }));
  match(words(shown), /nobody gets the invitation: share this link.*It does not prove the e-mail address/);
  doesNotMatch(words(shown), /Unlike the one in the mail/);
  const [mail] = (await app.admin('GET', '/mails?to=unmailed@example.com')).body.data.items ?? [];
  const link = /https?:\/\/\S+\?token=[\w-]+/.exec(String(mail?.text))?.[0] ?? '';
  await accept(link, 'unmailed');
  const user = await userNamed(app, 'unmailed');
  deepEqual([user?.email, user?.is_email_verified], ['unmailed@example.com', false]);
  // The mail that would verify it is not for administrators to read.
  const mails = (await app.admin('GET', '/mails?to=unmailed@example.com')).body.data.items ?? [];
  deepEqual(
    mails.map(({ template, state, text }) => [template, state, text === null]),
    [
      ['email_verification', 'kept', true],
      ['invitation', 'kept', false],
      ['invitation', 'kept', false],
    ],
  );
  await app.admin('PATCH', '/settings', { smtp_url });
});

test('attack: many invitations by an auditor, by a forged form, and too many at once', async () => {
  const admin = await administrator('many-admin-2');
  const auditor = await administrator('many-auditor', 'auditor');
  const before = await invitedCount();
  const form = { addresses: 'victim@example.com', days: '3', step: 'send' };
  equal((await auditor.get(MANY)).status, 403);
  equal((await auditor.post(MANY, form)).status, 403);
  equal((await admin.post(MANY, form)).status, 403, 'without its token');
  const csrf = hiddenFields((await admin.get(MANY)).body).csrf ?? '';
  const addresses = Array.from({ length: 501 }, (_, at) => `spam-${at}@example.com`).join(',');
  const tooMany = await admin.post(MANY, { csrf, ...form, addresses });
  equal(tooMany.status, 400);
  match(words(tooMany), /These are 501 addresses. Invite at most 500 at a time/);
  equal(await invitedCount(), before);
});
