// People in the Admin UI: what cannot be mailed says why, many are added to a group, a session and its events lead to each other,
// and the audit log leaves as a file.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { audit } from '../../src/store/collections.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

const signedIn = async (username: string): Promise<Agent> => {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(page, { username, password: PASSWORD })).status, 200);
  return agent;
};

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('ann', { role: 'auditor' });
  await app.admin('POST', '/groups', { name: 'staff' });
  admin = await signedIn('root-admin');
});
after(() => app.stop());

const csrfOf = async (path: string): Promise<string> =>
  hiddenFields((await admin.get(`/admin${path}`)).body).csrf ?? '';

/** Of the page of a user: by the words on the button, why it cannot be pressed; '' where it can. */
async function mailedActs(id: string): Promise<Record<string, string>> {
  const { body } = await admin.get(`/admin/users/${id}`);
  return Object.fromEntries(
    ['Send reset link', 'Send set-up link', 'Send verification e-mail'].map((label) => {
      const [button = ''] = new RegExp(`<button[^>]*>${label}</button>`).exec(body) ?? [];
      ok(button !== '', `${label} is there`);
      const [, hint = ''] = /disabled aria-describedby="([^"]*)"/.exec(button) ?? [];
      const [, reason = ''] = new RegExp(`id="${hint}">([^<]*)<`).exec(body) ?? [];
      return [label, hint === '' ? '' : reason.trim()];
    }),
  );
}

test('mails to a user: each button says why it cannot work, and works where it says nothing', async () => {
  const bare = await app.createUser('no-address');
  const open = await app.createUser('unverified', { email: 'unverified@example.com' });
  const fine = await app.createUser('verified', { email: 'verified@example.com', is_email_verified: true });
  const gone = await app.createUser('gone', { email: 'gone@example.com' });
  await app.admin('POST', `/users/${gone.id}/deactivate`);
  const none = 'There is no e-mail address to send a link to.';
  deepEqual(Object.values(await mailedActs(bare.id)), [none, none, none]);
  const { body } = await admin.get(`/admin/users/${bare.id}`);
  equal(body.split(none).length, 2, 'said once');
  match(body, new RegExp(`${none} <a href="/admin/users/${bare.id}/edit#email">Add an e-mail address</a>`));
  const stranger = 'The e-mail address is not verified: a link could reach a stranger.';
  const unsent = 'This server can’t send e-mail, and nothing else shows whose the mailbox is.';
  deepEqual(Object.values(await mailedActs(open.id)), [stranger, '', unsent]);
  deepEqual(Object.values(await mailedActs(fine.id)), ['', '', 'The e-mail address is verified already.']);
  const off = 'The account is deactivated: reactivate it first.';
  deepEqual(Object.values(await mailedActs(gone.id)), [off, off, off]);
  for (const [id, act] of [
    [open.id, 'send-enrolment-link'],
    [fine.id, 'send-password-reset'],
  ] as const) {
    const sent = await admin.post(`/admin/users/${id}/${act}`, { csrf: await csrfOf(`/users/${id}`) });
    equal(sent.status, 303, act);
  }
  const page = await admin.get(`/admin/users/${fine.id}`);
  match(
    page.body,
    /This server can’t send e-mail: the links are in the <a href="\/admin\/outbox\?state=kept">/,
  );
});

test('bulk add to group: asks which, tells of each, adds again without harm, ignores the forged', async () => {
  const people = await Promise.all(['one', 'two', 'three'].map((name) => app.createUser(`bulk-${name}`)));
  const chosen = Object.fromEntries(people.map(({ id }) => [`user.${id}`, 'on']));
  const csrf = await csrfOf('/users');
  const asked = await admin.post('/admin/users/selected', { csrf, act: 'add-to-group', ...chosen });
  equal(asked.status, 200);
  match(asked.body, /Add 3 users to a group/);
  match(asked.body, /<option[^>]* value="staff"/);
  const confirm = (fields: Record<string, string>): Promise<Page> =>
    admin.post('/admin/users/selected/confirmed', { ...hiddenFields(asked.body), ...chosen, ...fields });
  for (const [group, problem] of [
    ['', 'Select a group.'],
    ['nowhere', 'There is no such group.'],
  ] as const) {
    const refused = await confirm({ act: 'add-to-group', group });
    equal(refused.status, 400, group);
    ok(refused.body.includes(problem), problem);
  }
  for (let times = 0; times < 2; times += 1) {
    const done = await confirm({ act: 'add-to-group', group: 'staff' });
    equal(done.status, 303);
    match((await admin.get(done.location ?? '')).body, /3 users added to the group/);
  }
  const { items = [] } = (await app.admin('GET', '/groups/staff/members')).body.data;
  deepEqual(items.map(({ username }) => username).toSorted(), ['bulk-one', 'bulk-three', 'bulk-two']);
  const { items: events = [] } = (await app.admin('GET', '/audit?event=group.member_added')).body.data;
  ok(events.length >= 3);
  const auditor = await signedIn('ann');
  const forged = await auditor.post('/admin/users/selected/confirmed', {
    act: 'add-to-group',
    group: 'staff',
  });
  equal(forged.status, 403);
});

test('bulk set-up links: to each who has an address, with the reason for the others', async () => {
  const people = await Promise.all([
    app.createUser('new-a', { email: 'new-a@example.com' }),
    app.createUser('new-b', { email: 'new-b@example.com' }),
    app.createUser('new-c'),
  ]);
  const chosen = Object.fromEntries(people.map(({ id }) => [`user.${id}`, 'on']));
  const asked = await admin.post('/admin/users/selected', {
    csrf: await csrfOf('/users'),
    act: 'send-set-up-link',
    ...chosen,
  });
  match(asked.body, /Create set-up links for 3 users\?/);
  const act = 'send-set-up-link';
  const fields = { ...hiddenFields(asked.body), ...chosen, act };
  const done = await admin.post('/admin/users/selected/confirmed', fields);
  equal(done.status, 303);
  const { body } = await admin.get(done.location ?? '');
  match(body, /Set-up links created for 2 users/);
  match(body, /href="\/admin\/outbox">Outbox/, 'where the links are, since nobody gets them');
  match(body, /new-c[\s\S]*No link can be sent: this user has no e-mail address\./);
  const { items = [] } = (await app.admin('GET', '/mails?search=new-')).body.data;
  deepEqual(items.map(({ to, template }) => `${template} ${to}`).toSorted(), [
    'enrolment new-a@example.com',
    'enrolment new-b@example.com',
  ]);
});

test('session and audit log: each leads to the other', async () => {
  const user = await app.createUser('linked');
  const client = await app.register();
  await new Agent(app).signIn(client.id, user);
  const list = await admin.get(`/admin/sessions?user_id=${user.id}`);
  const [, path = ''] = /href="(\/admin\/audit\?search=[^"]*)"/.exec(list.body) ?? [];
  const events = await admin.get(path.replaceAll('&amp;', '&'));
  equal(events.status, 200);
  match(events.body, /Signed in/);
  const [, event = ''] = /href="(\/admin\/audit\/[0-9a-f-]{36})"/.exec(events.body) ?? [];
  const [, back = ''] = /href="([^"]*\/sessions\/[^"]*)"/.exec((await admin.get(event)).body) ?? [];
  const session = await admin.get(back);
  equal(session.status, 200);
  match(session.body, /Events in this session[\s\S]*Signed in[\s\S]*What this user did while it ran/);
  const [, meanwhile = ''] = /href="(\/admin\/audit\?actor_id=[^"]*)"/.exec(session.body) ?? [];
  match((await admin.get(meanwhile.replaceAll('&amp;', '&'))).body, /Signed in/);
  // What the user does on the account pages is in the session, too; another session has its own events.
  const elsewhere = new Agent(app);
  await elsewhere.signIn(client.id, user);
  const sign = (await app.admin('GET', `/audit?event=signin.success&target_id=${user.id}`)).body.data.items;
  const ids = (sign ?? []).map(({ session_id: id }) => String(id));
  deepEqual([ids.length, new Set(ids).size], [2, 2]);
  const running = (await app.admin('GET', `/users/${user.id}/sessions`)).body.data.items ?? [];
  deepEqual(running.map(({ id }) => String(id)).sort(), ids.toSorted());
  match((await elsewhere.get('/account/profile')).body, /Linked|linked/);
  // The user's page leads to each of them.
  const page = await admin.get(`/admin/users/${user.id}`);
  for (const id of ids) match(page.body, new RegExp(`href="/admin/sessions/${id}"`));
  // One that was ended is named by its person.
  const [, ended = ''] = /action="\/admin(\/sessions\/[^"]*\/end)"/.exec(list.body) ?? [];
  equal((await admin.post(`/admin${ended}`, { csrf: await csrfOf('/sessions') })).status, 303);
  const { items = [] } = (await app.admin('GET', '/audit?event=session.revoked')).body.data;
  // It happened in the administrator's session, and is about the other.
  const own = (await app.admin('GET', '/audit?event=signin.success&sort=id&order=asc&limit=1')).body.data
    .items;
  deepEqual([items[0]?.session_id, ids.includes(String(items[0]?.target_id))], [own?.[0]?.session_id, true]);
  match(
    (await admin.get(`/admin/audit/${items[0]?.id}`)).body,
    /href="\/admin\/sessions\/[^"]*"[^>]*>(?:<bdi>)?linked/,
  );
});

test('audit export: CSV and JSON lines of what is filtered, recorded, never by an old sign-in', async () => {
  await app.createUser('=cmd-free', {}).catch(() => undefined);
  await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'none' }),
  });
  const csv = await admin.get('/admin/audit/export?event=user.created');
  equal(csv.status, 200);
  match(csv.headers.get('content-disposition') ?? '', /^attachment; filename="audit-[\d-]+\.csv"$/);
  const [head = '', ...rows] = csv.body.trimEnd().split('\r\n');
  match(head, /^at,event,outcome,/);
  ok(rows.length > 3 && rows.every((row) => row.includes('user.created')));
  const lines = (await admin.get('/admin/audit/export?event=user.created&format=jsonl')).body
    .trimEnd()
    .split('\n');
  equal(lines.length, rows.length);
  ok(lines.every((line) => JSON.parse(line).event === 'user.created'));
  equal((await admin.get('/admin/audit/export?format=exe')).status, 400);
  const { items = [] } = (await app.admin('GET', '/audit?event=audit.exported')).body.data;
  equal(items.length, 2);
  deepEqual(items[0]?.details, { format: 'jsonl', rows: lines.length, filters: { event: 'user.created' } });
  const auditor = await signedIn('ann');
  equal((await auditor.get('/admin/audit/export')).status, 200, 'auditors read');
  app.advance(15 * 60_000);
  const stale = await auditor.get('/admin/audit/export');
  ok(stale.status === 303 && stale.headers.get('content-disposition') === null, 'signs in again first');
  equal((await new Agent(app).get('/admin/audit/export')).status, 303);
});

if (process.env.LONG === '1')
  test('audit export: more rows than a file has are refused', async () => {
    const log = app.store.collection(audit);
    const one = { event: 'signin.failure', outcome: 'failure', actorKind: 'anonymous' } as const;
    const flood = Array.from({ length: 100_001 }, (_, at) => at);
    const insert = (at: number): Promise<unknown> => log.insert(`flood-${at}`, { ...one, at });
    for (let from = 0; from < flood.length; from += 1000)
      await Promise.all(flood.slice(from, from + 1000).map(insert));
    admin = await signedIn('root-admin');
    const refused = await admin.get('/admin/audit/export?event=signin.failure');
    equal(refused.status, 400);
    match(refused.body, /a file has at most 100000: narrow the filters/);
  });
