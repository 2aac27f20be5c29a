// People are called by their names in the Admin UI, in lists, buttons, titles and events; usernames only stand beside them.
import { doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let grace: { id: string };

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin', name: 'Ada Lovelace' });
  const user = await app.createUser('xgrace', { given_name: 'Grace', family_name: 'Hopper' });
  grace = user;
  const client = await app.register({ client_name: 'Ledger' });
  await new Agent(app).signIn(client.id, user);
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const open = async (path: string): Promise<Page> => {
  const page = await admin.get(`/admin${path}`);
  equal(page.status, 200, path);
  return page;
};

/** What is read out of the page, without what stands in attributes. */
const wordsOf = ({ body }: Page): string =>
  body
    .replaceAll(/<(?:script|style)[\s\S]*?<\/(?:script|style)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('sessions: by the names of their users, in the list, on buttons, in events of their end', async () => {
  const words = wordsOf(await open('/sessions'));
  match(words, /Grace Hopper.*Events of Grace Hopper.*End session of Grace Hopper/);
  doesNotMatch(words, /xgrace/);
  const { items = [] } = (await app.admin('GET', `/sessions?user_id=${grace.id}`)).body.data;
  const { csrf = '' } = hiddenFields((await open('/sessions')).body);
  equal((await admin.post(`/admin/sessions/${items[0]?.id}/end`, { csrf })).status, 303);
  const trail = wordsOf(await open('/audit'));
  match(trail, /Session ended.{0,80}Ada Lovelace.{0,80}Grace Hopper/);
  doesNotMatch(trail, /xgrace/);
});

test('who is signed in is called by name, too', async () => {
  const [, own = ''] = /<a class="me".*?<bdi>(.*?)<\/bdi>/s.exec((await open('/users')).body) ?? [];
  equal(own, 'Ada Lovelace');
});

test('a group: its buttons say the members’ names', async () => {
  await app.admin('POST', '/groups', { name: 'crew' });
  const { csrf = '' } = hiddenFields((await open('/groups/crew')).body);
  equal((await admin.post('/admin/groups/crew/members', { csrf, who: 'xgrace' })).status, 303);
  const words = wordsOf(await open('/groups/crew'));
  match(words, /Remove Grace Hopper from this group/);
});

test('titles that ask first say the name, and the username where it is to be typed', async () => {
  for (const act of ['deactivate', 'reset-mfa', 'password', 'role', 'delete']) {
    const page = await open(`/users/${grace.id}/${act}`);
    const [, heading = ''] = /<h1[^>]*>(.*?)<\/h1>/s.exec(page.body) ?? [];
    ok(heading.includes('Grace Hopper') && !heading.includes('xgrace'), `${act}: ${heading}`);
    if (act === 'delete') match(wordsOf(page), /Type “xgrace” to continue/);
  }
});
