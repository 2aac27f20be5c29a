// Comforts of the Admin UI, over HTTP and so without scripts: undo, the own session, the first steps, and columns of lists.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  admin = await enter('root-admin');
});
after(() => app.stop());

async function enter(username: string): Promise<Agent> {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(signIn, { username, password: PASSWORD })).status, 200);
  return agent;
}

/** Presses the button of the form at that address. */
async function press(
  agent: Agent,
  page: Page,
  action: string,
  fields: Record<string, string> = {},
): Promise<Page> {
  const form = page.body.split('<form').find((part) => part.includes(`action="${action}"`));
  ok(form !== undefined, `no form for ${action}`);
  const [own = ''] = form.split('</form>');
  return agent.follow(await agent.post(action, { ...hiddenFields(own), ...fields }));
}

const undoOf = ({ body }: Page): string | undefined =>
  /class="notice undoable".*?action="([^"]*)"/s.exec(body)?.[1];
const isActive = async (id: string): Promise<unknown> =>
  (await app.admin('GET', `/users/${id}`)).body.data.is_active;

test('undo: a deactivated user is reactivated by the notice, and the other way round', async () => {
  const { id } = await app.createUser('grace');
  const ask = await admin.get(`/admin/users/${id}/deactivate`);
  const done = await press(admin, ask, `/admin/users/${id}/deactivate`);
  match(done.body, /Deactivated\. All sessions/);
  equal(await isActive(id), false);
  equal(undoOf(done), `/admin/users/${id}/reactivate`);
  const undone = await press(admin, done, `/admin/users/${id}/reactivate`);
  equal(await isActive(id), true);
  equal(undoOf(undone), `/admin/users/${id}/deactivate`);
});

test('undo: removing from a group, on the group’s page and on the user’s', async () => {
  const { id } = await app.createUser('mary');
  await app.admin('POST', '/groups', { name: 'crew' });
  await app.admin('POST', '/groups/crew/members', { user_id: id });
  const groupsOf = async () => (await app.admin('GET', `/users/${id}`)).body.data.groups;
  for (const [page, remove, back] of [
    ['/admin/groups/crew', `/admin/groups/crew/members/${id}/remove`, '/admin/groups/crew/members'],
    [`/admin/users/${id}`, `/admin/users/${id}/groups/crew/remove`, `/admin/users/${id}/groups`],
  ] as const) {
    const removed = await press(admin, await admin.get(page), remove);
    deepEqual(await groupsOf(), []);
    equal(undoOf(removed), back);
    const undo = removed.body.slice(removed.body.indexOf('notice undoable'));
    const added = await press(admin, { ...removed, body: `<form ${undo.split('<form')[1]}` }, back);
    deepEqual(await groupsOf(), ['crew']);
    match(added.url, new RegExp(`${page}\\?done=member-added~[^&]+$`));
  }
});

test('attack: a link offers to undo what was done long ago, or by another administrator', async () => {
  const { id } = await app.createUser('mallory');
  await app.admin('PATCH', `/users/${id}`, { is_active: false });
  equal(undoOf(await admin.get(`/admin/users/${id}?done=user-deactivated`)), undefined);
  // Undo of another act, and after its time.
  const { id: other } = await app.createUser('wally');
  const path = `/admin/users/${other}/deactivate`;
  const { url } = await press(admin, await admin.get(path), path);
  const address = url.replace(app.url, '');
  equal(undoOf(await admin.get(address.replace('user-deactivated', 'user-saved'))), undefined);
  equal(undoOf(await admin.get(address.replace(other, id))), undefined, 'on the page of another user');
  equal(undoOf(await admin.get(address)), `/admin/users/${other}/reactivate`);
  app.advance(61_000);
  equal(undoOf(await admin.get(address)), undefined);
});

test('attack: an auditor presses undo, dismisses first steps', async () => {
  await app.createUser('reader', { role: 'auditor' });
  const reader = await enter('reader');
  doesNotMatch((await reader.get('/admin')).body, /action="\/admin\/first-steps"/);
  equal((await reader.post('/admin/first-steps', { shown: 'no', csrf: 'x' })).status, 403);
});

test('own session: ending it asks first, in the list, on the own page and everywhere', async () => {
  const own = await enter('root-admin');
  const { id } = await (async () => {
    const page = await own.get('/admin/users?search=root-admin');
    return { id: /\/admin\/users\/([\w-]+)"/.exec(page.body.slice(page.body.indexOf('<tbody>')))?.[1] ?? '' };
  })();
  const list = await own.get('/admin/sessions?is_active=true');
  match(list.body, /your session here/);
  match(list.body, /<small title="[^"]*">Password<\/small>/);
  const row = list.body.split('<tr>').find((part) => part.includes('your session here'));
  const [, action = ''] = /action="([^"]*\/end)"/.exec(row ?? '') ?? [];
  const asked = await press(own, list, action);
  equal(asked.status, 200);
  match(asked.body, /<h1>This is the session you are using<\/h1>/);
  equal((await own.get('/admin/sessions')).status, 200, 'nothing has ended');
  const everywhere = await press(own, await own.get(`/admin/users/${id}`), `/admin/users/${id}/sign-out`);
  match(everywhere.body, /This is the session you are using/);
  match(everywhere.body, /Sign me out everywhere/);
  const ended = await press(own, asked, action);
  match(ended.body, /name="password"/, 'the sign-in');
});

test('session of others: ends at once; an unknown browser is said to be one', async () => {
  const { id } = await app.createUser('ada');
  const client = await app.register();
  await new Agent(app).signIn(client.id, { username: 'ada' });
  const list = await admin.get('/admin/sessions?is_active=true');
  const row = list.body.split('<tr>').find((part) => part.includes(`/admin/users/${id}"`)) ?? '';
  match(row, />Unknown device</);
  const [, action = ''] = /action="([^"]*\/end)"/.exec(row) ?? [];
  const done = await press(admin, list, action);
  match(done.body, /Session ended, and its tokens revoked\./);
});

test('first steps: dismissed for this administrator, undone, and brought back', async () => {
  const page = await admin.get('/admin');
  match(page.body, /class="steps panel"/);
  const gone = await press(admin, page, '/admin/first-steps');
  match(gone.body, /First steps dismissed/);
  match(gone.body, /<h1>Overview<\/h1>/);
  doesNotMatch(gone.body, /class="steps panel"/);
  equal(undoOf(gone), '/admin/first-steps');
  match((await press(admin, gone, '/admin/first-steps', { shown: 'yes' })).body, /class="steps panel"/);
  await press(admin, await admin.get('/admin'), '/admin/first-steps');
  const later = await admin.get('/admin');
  doesNotMatch(later.body, /class="steps panel"/);
  match((await press(admin, later, '/admin/first-steps')).body, /class="steps panel"/);
  // Another administrator decides anew.
  await app.createUser('second-admin', { role: 'admin' });
  await press(admin, await admin.get('/admin'), '/admin/first-steps');
  match((await (await enter('second-admin')).get('/admin')).body, /class="steps panel"/);
});

test('overview of a new installation: words on what will be there, no empty charts', async () => {
  const fresh = await startApp();
  try {
    await fresh.createUser('boss', { role: 'admin' });
    const agent = new Agent(fresh);
    const signIn = await agent.follow(await agent.get('/admin'));
    const page = await agent.submit(signIn, { username: 'boss', password: PASSWORD });
    match(page.body, /are drawn here once users sign in/);
    doesNotMatch(page.body, /<svg class="chart"/);
  } finally {
    await fresh.stop();
  }
});

test('columns: chosen by a form in the address, kept for this browser, reset', async () => {
  const offered = (await admin.get('/admin/sessions')).body;
  const [, all = ''] = /name="columns" value="([^"]*)"/.exec(offered) ?? [];
  deepEqual(all.split(',').filter(Boolean), ['device', 'applications', 'address', 'active']);
  doesNotMatch(offered, /nth-child\(2\)\{display:/);
  const kept = 'is_active=true';
  const chosen = await admin.get(`/admin/sessions?${kept}&columns=${all}&show=device&show=active`);
  deepEqual([chosen.status, chosen.location], [303, `${app.url}/admin/sessions?${kept}`]);
  const { body } = await admin.follow(chosen);
  for (const [column, display] of [
    [2, 'table-cell'],
    [3, 'none'],
    [4, 'none'],
    [5, 'table-cell'],
  ])
    ok(body.includes(`tr>:nth-child(${column}){display:${display}}`), `${column}`);
  doesNotMatch(body, /nth-child\([16]\)\{/, 'what names the line and what ends it are no choice');
  match(body, /value="applications"><span>/);
  doesNotMatch((await admin.get('/admin/tokens')).body, /nth-child\(\d\)\{display/);
  await admin.get(`/admin/sessions?columns=${all}&reset_columns=yes`);
  doesNotMatch((await admin.get('/admin/sessions')).body, /nth-child\(\d\)\{display/);
});

test('attack: names of columns as style sheets or markup, or thousands of them', async () => {
  const evil = encodeURIComponent('</style><script>alert(1)</script>,device,a{}b,');
  const answer = await admin.follow(await admin.get(`/admin/sessions?columns=${evil}&show=x`));
  doesNotMatch(answer.body, /<script>alert|a\{\}b/);
  const many = Array.from({ length: 900 }, (_, index) => `c${index}`).join(',');
  equal((await admin.follow(await admin.get(`/admin/sessions?columns=${many}`))).status, 200);
  const cookie = admin
    .cookiesFor('/admin')
    .split('; ')
    .find((one) => one.startsWith('latchkey_admin_view='));
  ok((cookie?.length ?? 9999) < 1000, `${cookie?.length}`);
});

test('an invitation on a server without mail: “Send by e-mail” is off, and the link is shown', async () => {
  const box = ({ body }: Page) => /<input type="checkbox" name="send_mail"[^>]*>/.exec(body)?.[0];
  const page = await admin.get('/admin/invitations');
  equal(box(page), '<input type="checkbox" name="send_mail" disabled>');
  const made = await press(admin, page, '/admin/invitations', { email: 'guest@example.com', days: '3' });
  match(made.body, /\/oauth2\/signup\?token=/);
  await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  equal(box(await admin.get('/admin/invitations')), '<input type="checkbox" name="send_mail" checked>');
  await app.admin('PATCH', '/settings', { smtp_url: '' });
});

test('sign-up without mail: a warning only while new accounts need a confirmed address', async () => {
  const warnings = async () => {
    const { body } = await admin.get('/admin/settings/signing-up');
    return [/nobody can sign up until/.test(body), /the form asks for none/.test(body)];
  };
  deepEqual(await warnings(), [true, false]);
  await app.admin('PATCH', '/settings', { signup_require_verified_email: false });
  deepEqual(await warnings(), [true, false], 'an address is required, and cannot be confirmed');
  await app.admin('PATCH', '/settings', { signup_email: 'optional' });
  deepEqual(await warnings(), [false, true]);
  await app.admin('PATCH', '/settings', { signup_email: 'hidden' });
  deepEqual(await warnings(), [false, false]);
  await app.admin('PATCH', '/settings', { signup_require_verified_email: true, signup_email: 'required' });
});

test('a user with neither password nor passkey: the page does not say that they can sign in', async () => {
  const row = JSON.stringify({
    username: 'newcomer',
    email: 'newcomer@example.com',
    is_email_verified: true,
  });
  const answer = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: `${row}\n`,
  });
  const [id] = /(?<="id":")[^"]+/.exec(await answer.text()) ?? [''];
  const shown = async (): Promise<string> =>
    /<section class="panel verdict.*?<\/section>/s.exec((await admin.get(`/admin/users/${id}`)).body)?.[0] ??
    '';
  match(await shown(), /Cannot sign in<.*neither a password nor a passkey/s);
  await app.admin('PATCH', '/settings', { allow_magic_link: true });
  match(await shown(), /Can sign in</);
  await app.admin('PATCH', '/settings', { allow_magic_link: false });
  await app.admin('PATCH', `/users/${id}`, { password: PASSWORD });
  match(await shown(), /Can sign in</);
});
