// Agents in the Admin UI and the admin API (decision 0026): listed apart, with their last use, opened and deleted, also where the
// client id is the address of a metadata document.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent, hiddenFields, redeem } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { createApi } from './api-support.ts';
import { call, change, isActive } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root-admin', { role: 'admin' });
await app.createUser('grace');
await change(app, { agents: true });

const { body: made } = await call(app, 'POST', '/oauth2/register', {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ client_name: 'Notes agent', redirect_uris: [REDIRECT_URI] }),
});
const registered = String(made.client_id);
const address = 'https://agent.example/client.json';
await app.app.clients.create({
  clientId: address,
  metadata: { client_name: 'Published agent', redirect_uris: ['https://agent.example/cb'] },
  origin: 'registration',
  quarantine: { by: 'document', fetchedAt: app.now() },
});
await app.register({ client_name: 'Payroll' });

test('admin API: agents are listed apart, with their last use', async () => {
  const idsOf = async (query: string) =>
    ((await app.admin('GET', `/clients?${query}`)).body.data.items ?? [])
      .map(({ client_name: name }) => name)
      .sort();
  deepEqual(await idsOf('is_quarantined=true'), ['Notes agent', 'Published agent']);
  deepEqual(await idsOf('is_quarantined=false'), ['Latchkey', 'Payroll']);
  const lastUse = async () => (await app.admin('GET', `/clients/${registered}`)).body.data.last_used_at;
  equal(await lastUse(), null);
  const signedIn = await new Agent(app).signIn(registered, { username: 'grace' });
  const { body } = await redeem(app, { id: registered, secret: '' }, signedIn);
  match(String(await lastUse()), /^20\d\d-/);
  equal(await isActive(app, body.access_token), true);
  await app.admin('PATCH', `/clients/${registered}`, { is_active: false });
  equal(await isActive(app, body.access_token), false);
});

test('Admin UI: an agent is marked, its page opens, and it can be deleted', async () => {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
  const list = await admin.get('/admin/applications?is_quarantined=true');
  match(list.body, /Published agent[\s\S]*Agent<\/span>/);
  const [, path = ''] = /href="(\/admin\/applications\/https[^"]+)"/.exec(list.body) ?? [];
  const page = await admin.get(path);
  equal(page.status, 200, page.body.slice(0, 300));
  match(page.body, /Published agent/);
  equal((await app.admin('DELETE', `/clients/${encodeURIComponent(address)}`)).status, 204);
  equal((await admin.get(path)).status, 404);
  equal(typeof hiddenFields(page.body).csrf, 'string');
});

test('Agents page: what the switch opens, who came, with APIs, tokens and last use', async () => {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  await admin.submit(signIn, { username: 'root-admin', password: PASSWORD });
  await createApi(app, { name: 'Open notes', identifier: 'https://notes.example', is_open_to_agents: true });
  await createApi(app, { name: 'Closed ledger', identifier: 'https://ledger.example' });
  await app.admin('PATCH', `/clients/${registered}`, { is_active: true });
  const user = new Agent(app);
  const asked = { scope: 'openid offline_access read', resource: 'https://notes.example' };
  await redeem(
    app,
    { id: registered, secret: '' },
    await user.signIn(registered, { username: 'grace' }, asked),
  );
  const page = await admin.get('/admin/agents');
  equal(page.status, 200, page.body);
  match(page.body, /Open notes/);
  doesNotMatch(page.body, /Closed ledger|Payroll/);
  match(page.body, /Notes agent[\s\S]*<code>https:\/\/notes\.example<\/code>[\s\S]*>[1-9] refresh<\/a>/);
  const press = async (by: Agent, fields: object) =>
    by.post('/admin/agents', { csrf: hiddenFields(page.body).csrf ?? '', ...fields });
  equal((await admin.follow(await press(admin, {}))).status, 200);
  const off = await admin.get('/admin/agents');
  match(off.body, /registers applications for anyone who asks/);
  match(off.body, /Turn on/);
  equal((await admin.follow(await press(admin, { agents: 'on' }))).status, 200);
  match((await admin.get('/admin/agents')).body, /Turn off/);
});

test('audit page: a consent to an API names it', async () => {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  await admin.submit(signIn, { username: 'root-admin', password: PASSWORD });
  const { body } = await app.admin('GET', '/audit?event=consent.granted');
  const event = (body.data.items ?? []).find(({ details }) => JSON.stringify(details).includes('api_id'));
  match(
    (await admin.get(`/admin/audit/${event?.id}`)).body,
    /<dt>API<\/dt><dd><a href="[^"]+">[\s\S]*Open notes/,
  );
});

test('Admin UI search: APIs by name and identifier', async () => {
  const admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  await admin.submit(signIn, { username: 'root-admin', password: PASSWORD });
  for (const q of ['open notes', 'notes.example'])
    match((await admin.get(`/admin/search?q=${q}`)).body, /Open notes/);
});
