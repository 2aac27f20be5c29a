// /account/applications and GET /account/api/launcher: what the person may open, and nothing else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clients } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent } from '../support/agent.ts';
import { opensAccounts, startApp, type TestApp } from '../support/app.ts';
import { accessTokenOf, newPerson, open } from './account-support.ts';
import { change } from './support.ts';

const LAUNCHER = '/account/applications';

let app: TestApp;
let client: { id: string; secret: string };
before(async () => {
  app = await startApp();
  client = await app.register({ client_name: 'Plain', ...opensAccounts });
  await app.admin('POST', '/groups', { name: 'staff' });
});
after(() => app.stop());

async function seenBy(person: { id: string; username: string }) {
  const page = await open(new Agent(app), person, LAUNCHER);
  assert.equal(page.status, 200);
  const headers = { authorization: `Bearer ${await accessTokenOf(app, client, person)}` };
  const answer = await fetch(`${app.url}/account/api/launcher`, { headers });
  const { data } = JSON.parse(await answer.text());
  const items: { client_name: string; url: string | null; host: string | null; logo_uri: string | null }[] =
    data.items;
  // Both say the same.
  for (const { client_name: name, host } of items) {
    assert.ok(page.body.includes(name), name);
    if (host !== null) assert.ok(page.body.includes(`<bdi dir="ltr">${host}</bdi>`), host);
  }
  return { page, items, names: items.map(({ client_name: name }) => name) };
}

test('launcher: addresses, logos of this server alone, those without an address last', async () => {
  await app.register({ client_name: 'Zeta Home', client_uri: 'https://zeta.example/' });
  await app.register({
    client_name: 'Beta Start',
    client_uri: 'https://beta.example/',
    initiate_login_uri: 'https://beta.example/start?from=idp',
    logo_uri: 'https://beta.example/logo.png',
  });
  const { page, items, names } = await seenBy(await newPerson(app));
  assert.deepEqual(names, ['Beta Start', 'Zeta Home', 'Plain']);
  assert.deepEqual(
    items.map(({ url }) => url),
    [
      `https://beta.example/start?${new URLSearchParams({ from: 'idp', iss: app.issuer })}`,
      'https://zeta.example/',
      null,
    ],
  );
  assert.deepEqual(
    items.map(({ host }) => host),
    ['beta.example', 'zeta.example', null],
  );
  assert.deepEqual(new Set(items.map(({ logo_uri: logo }) => logo)), new Set([null]));
  assert.doesNotMatch(page.body, /<img/, 'nothing is loaded from elsewhere');
  assert.match((await open(new Agent(app), await newPerson(app))).body, /href="\/account\/applications"/);
});

test('launcher: two of one name are told apart by their hosts, as they are, with their ports', async () => {
  for (const client_uri of [
    'https://wiki.example/a',
    'https://xn--bcher-kva.example:8443/?q=1',
    'https://wiki.example.evil.example/',
  ])
    await app.register({ client_name: 'Twin', client_uri });
  const { items } = await seenBy(await newPerson(app));
  const hosts = items.filter(({ client_name: name }) => name === 'Twin').map(({ host }) => host);
  assert.deepEqual(hosts.sort(), ['wiki.example', 'wiki.example.evil.example', 'xn--bcher-kva.example:8443']);
});

test('attack: applications that the person may not use, seen in the launcher', async () => {
  const restricted = { client_name: 'Payroll of Staff', allowed_groups: ['staff'] };
  await app.register(restricted);
  const off = await app.register({ client_name: 'Switched Off' });
  await app.admin('PATCH', `/clients/${off.id}`, { is_active: false });
  await app.register({
    client_name: 'Nightly Job',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  const person = await newPerson(app);
  const stranger = await seenBy(person);
  for (const name of ['Payroll of Staff', 'Switched Off', 'Nightly Job']) {
    assert.ok(!stranger.names.includes(name), name);
    assert.ok(!stranger.page.body.includes(name), name);
  }
  assert.ok(!stranger.page.body.includes('latchkey-admin'));
  await app.admin('POST', '/groups/staff/members', { user_id: person.id });
  assert.ok((await seenBy(person)).names.includes('Payroll of Staff'));
});

test('attack: a stranger registers "Your Bank" to be in the launcher of everyone', async () => {
  await change(app, { agents: true });
  const metadata = { client_name: 'Your Bank', client_uri: 'https://evil.example/' };
  const answer = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...metadata, redirect_uris: ['https://evil.example/cb'] }),
  });
  assert.equal(answer.status, 201);
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'partner' });
  const invited = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${String(body.data.token)}` },
    body: JSON.stringify({ ...metadata, redirect_uris: ['https://evil.example/cb'] }),
  });
  assert.equal(invited.status, 201);
  assert.ok(!(await seenBy(await newPerson(app))).names.includes('Your Bank'));
});

test('attack: javascript: and data: addresses of an application in the launcher', async () => {
  for (const bad of ['javascript:alert(1)', 'data:text/html,<script>alert(1)</script>']) {
    const made = await app.register({ client_name: `Trap ${bad.length}` });
    // The rules refuse it; in the store, as if an older version had let it in.
    await update(app.store.collection(clients), made.id, (value) => ({
      value: { ...value, metadata: { ...value.metadata, client_uri: bad, initiate_login_uri: bad } },
    }));
    const { page, items } = await seenBy(await newPerson(app));
    assert.equal(items.find(({ client_name: name }) => name === `Trap ${bad.length}`)?.url, null);
    assert.ok(!page.body.includes(bad.slice(0, 11)));
  }
});

test('attack: stored XSS by the name of an application in the launcher', async () => {
  await app.register({
    client_name: '"><img src=x onerror=alert(1)>',
    client_uri: 'https://x.example/?a=%22onclick=%22b',
  });
  const page = await open(new Agent(app), await newPerson(app), LAUNCHER);
  assert.doesNotMatch(page.body, /<img src=x|onclick="b/);
  assert.match(page.body, /&lt;img/);
});

test('launcher: nothing without a sign-in', async () => {
  const page = await new Agent(app).get(LAUNCHER);
  assert.match(page.location ?? '', /authorize/);
  assert.equal((await fetch(`${app.url}/account/api/launcher`)).status, 401);
});
