// PKCE in the Admin UI (decision 0008): the form that registers an application requires it unless told otherwise, and the page
// of an application offers the choice only where there is one.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RUN_TO_REQUIRE } from '../../src/clients/code-exchanges.ts';
import { Agent, hiddenFields, type Page, redeem, requestTokens } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('grace');
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const BOX = /<input type="checkbox" name="require_pkce"( checked)?>/;

const isRequired = async (id: string): Promise<unknown> =>
  (await app.admin('GET', `/clients/${id}`)).body.data.require_pkce;

/** @returns the id of what the form registered */
async function register({ type = 'web', ...fields }: Record<string, string>): Promise<string> {
  const path = `/admin/applications/new/${type}`;
  const page = await admin.get(path);
  equal(BOX.exec(page.body)?.[1], type === 'web' ? ' checked' : undefined);
  const typed = { name: 'Made by form', redirect_uris: REDIRECT_URI, ...fields };
  const sent = await admin.post(path, { ...hiddenFields(page.body), ...typed });
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
    'grant_types.authorization_code': 'on',
    rotate_refresh_tokens: 'auto',
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

const clientOf = async (id: string): Promise<{ id: string; secret: string }> => {
  const { body } = await app.admin('POST', `/clients/${id}/rotate-secret`);
  return { id, secret: String(body.data.client_secret) };
};

test('page of an application: in red while users sign in with neither PKCE nor a nonce', async () => {
  const client = await clientOf(await register({ type: 'web', first_party: 'on' }));
  const path = `/admin/applications/${client.id}`;
  const browser = new Agent(app);
  const request = {
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
  };
  const signIn = async (fields: Record<string, string>): Promise<void> => {
    const callback = await browser.finish(await browser.authorize({ ...request, ...fields }), {
      username: 'grace',
    });
    const { status } = await requestTokens(app, client, {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
    });
    equal(status, 200);
  };
  const red = /<div class="alert" id="unguarded">/;
  await signIn({ nonce: 'n-of-one' });
  doesNotMatch((await admin.get(path)).body, red);
  await signIn({});
  const page = await admin.get(path);
  match(page.body, red);
  match(page.body, /neither PKCE nor a nonce/);
  equal((await save(client.id, { require_pkce: 'on' })).status, 303);
  doesNotMatch((await admin.get(path)).body, red);
});

test('overview and page of an application: tell that it requires PKCE by itself, until undone', async () => {
  const client = await clientOf(await register({ type: 'web', name: 'Always with PKCE', first_party: 'on' }));
  const browser = new Agent(app);
  for (let time = 0; time < RUN_TO_REQUIRE; time += 1) {
    const { status } = await redeem(app, client, await browser.signIn(client.id, { username: 'grace' }));
    equal(status, 200);
  }
  const path = `/admin/applications/${client.id}`;
  const note = /id="pkce-required">Requires PKCE since/;
  match((await admin.get(path)).body, note);
  match((await admin.get('/admin')).body, /One application now requires PKCE[\s\S]*Always with PKCE/);
  match((await admin.get('/admin/audit')).body, /Application now requires PKCE/);
  equal((await save(client.id, {})).status, 303);
  doesNotMatch((await admin.get(path)).body, note);
  doesNotMatch((await admin.get('/admin')).body, /One application now requires PKCE/);
});
