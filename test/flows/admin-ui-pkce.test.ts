// PKCE in the Admin UI (decisions §5): the form that registers an application requires it unless told otherwise, and the page
// of an application offers the choice only where there is one.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const BOX = /<input type="checkbox" name="require_pkce"( checked)?>/;

const isRequired = async (id: string): Promise<unknown> =>
  (await app.admin('GET', `/clients/${id}`)).body.data.require_pkce;

/** @returns the id of what the form registered */
async function register(fields: Record<string, string>): Promise<string> {
  const page = await admin.get('/admin/applications/new');
  equal(BOX.exec(page.body)?.[1], ' checked');
  const typed = { name: 'Made by form', redirect_uris: REDIRECT_URI, ...fields };
  const sent = await admin.post('/admin/applications', { ...hiddenFields(page.body), ...typed });
  equal(sent.status, 303, sent.body);
  return /applications\/([^/]+)\/secret/.exec(sent.location ?? '')?.[1] ?? '';
}

/** Sends the form of an application's page as it is, save for these fields. */
async function save(id: string, fields: Record<string, string>): Promise<Page> {
  const path = `/admin/applications/${id}`;
  const page = await admin.get(path);
  return admin.post(path, {
    ...hiddenFields(page.body),
    client_name: 'Saved',
    redirect_uris: REDIRECT_URI,
    scope: 'openid',
    'grant.authorization_code': 'on',
    ...fields,
  });
}

test('form that registers an application: PKCE is ticked, and can be unticked for a web app', async () => {
  equal(await isRequired(await register({ type: 'web', require_pkce: 'on' })), true);
  equal(await isRequired(await register({ type: 'web' })), false);
  equal(await isRequired(await register({ type: 'spa' })), true);
});

test('page of an application: the box is saved, and shown only where there is a choice', async () => {
  const id = await register({ type: 'web', require_pkce: 'on' });
  deepEqual([(await save(id, {})).status, await isRequired(id)], [303, false]);
  equal(BOX.exec((await admin.get(`/admin/applications/${id}`)).body)?.[1], undefined);
  deepEqual([(await save(id, { require_pkce: 'on' })).status, await isRequired(id)], [303, true]);

  const spa = await register({ type: 'spa' });
  const { body } = await admin.get(`/admin/applications/${spa}`);
  doesNotMatch(body, BOX);
  match(body, /PKCE is always required of it: it is public\./);
  deepEqual([(await save(spa, {})).status, await isRequired(spa)], [303, true]);
});

test('page of an application: unticked together with an admin scope is refused at the box', async () => {
  const id = await register({ type: 'web', require_pkce: 'on' });
  const refused = await save(id, { scope: 'openid admin' });
  equal(refused.status, 400);
  match(refused.body, /Must be true: it may request admin scopes/);
  equal(await isRequired(id), true);
});
