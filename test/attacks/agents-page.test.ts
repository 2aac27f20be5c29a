// The pages that list agents, under what agents say about themselves and by those who may not change them.
import { doesNotMatch, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { call, change } from '../flows/support.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root-admin', { role: 'admin' });
await app.createUser('reader', { role: 'auditor' });
await change(app, { agents: true });

async function signedIn(username: string): Promise<Agent> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(page, { username, password: PASSWORD })).status, 200);
  return agent;
}
const admin = await signedIn('root-admin');
const reader = await signedIn('reader');

const published = (clientId: string, fields: object = {}) =>
  app.app.clients.create({
    clientId,
    metadata: { client_name: 'Published', redirect_uris: ['https://agent.example/cb'], ...fields },
    origin: 'registration',
    quarantine: { by: 'document', fetchedAt: app.now() },
  });

test('attack: a document with the longest address takes the pages of agents and tokens down', async () => {
  const address = `https://agent.example/${'a'.repeat(200 - 22)}`;
  await published(address);
  const page = await admin.get('/admin/agents');
  equal(page.status, 200, page.body);
  const [, tokens = ''] = /href="(\/admin\/tokens\?client_id=[^"]+)"/.exec(page.body) ?? [];
  equal((await admin.get(tokens)).status, 200);
  for (const list of ['tokens', 'audit'])
    equal((await app.admin('GET', `/${list}?client_id=${encodeURIComponent(address)}`)).status, 200, list);
});

test('attack: markup in what agents say about themselves', async () => {
  const script = '<img src=x onerror=alert(1)>';
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: `${script}"'>`,
      redirect_uris: [`${REDIRECT_URI}?"><script>alert(1)</script>`],
      logo_uri: 'https://evil.example/"onload="alert(1)',
      client_uri: 'javascript:alert(1)',
    }),
  });
  // Refused or without what it may not have; never shown as it came.
  if (status === 201) {
    const shown = await admin.get(`/admin/applications/${String(body.client_id)}`);
    doesNotMatch(shown.body, /<img src=x|<script>alert|javascript:alert|evil\.example/);
  }
  await published('https://agent.example/markup', { client_name: `${script}"'>` });
  for (const path of ['/agents', '/applications', '/search?q=onerror', '/tokens']) {
    const page = await admin.get(`/admin${path}`);
    equal(page.status, 200, path);
    doesNotMatch(page.body, /<img src=x|<script>alert|javascript:alert|evil\.example/, path);
  }
  match((await admin.get('/admin/agents')).body, /&lt;img src=x/);
});

test('attack: an auditor turns the switch or removes an agent', async () => {
  const address = 'https://agent.example/kept';
  await published(address);
  const page = await reader.get('/admin/agents');
  equal(page.status, 200);
  doesNotMatch(page.body, /Turn off|Turn on|>Remove/);
  const csrf = hiddenFields((await admin.get('/admin/agents')).body).csrf ?? '';
  const own = hiddenFields(page.body).csrf ?? csrf;
  const id = encodeURIComponent(address);
  for (const path of ['/agents', `/applications/${id}/delete`, `/applications/${id}/deactivate`]) {
    const { status } = await reader.post(`/admin${path}`, { csrf: own });
    equal(status, 403, `${path} ${status}`);
  }
  equal((await app.admin('GET', `/clients/${id}`)).status, 200);
  match((await admin.get('/admin/agents')).body, /Turn off/);
});

test('attack: agents registered while the setting is off', async () => {
  await change(app, { agents: false });
  const { status } = await call(app, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Late', redirect_uris: [REDIRECT_URI] }),
  });
  equal(status, 401);
  const page = await admin.get('/admin/agents');
  equal(page.status, 200);
  match(page.body, /Turn on/);
  doesNotMatch(page.body, /Late/);
  match(page.body, /Published/);
  equal((await new Agent(app).get('/admin/agents')).status, 303);
});
