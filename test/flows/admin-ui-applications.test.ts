// Adding an application in the Admin UI, step by step over HTTP and so without scripts; its guides; attack by attack.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { guides } from '../../src/admin/guides/list.ts';
import { templates } from '../../src/admin/resources/clients/application-templates.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
const NEW = '/admin/applications/new';

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

async function send(start: string, fields: Record<string, string>): Promise<Page> {
  const page = await admin.get(`${NEW}/${start}`);
  equal(page.status, 200, start);
  return admin.post(`${NEW}/${start}`, { ...hiddenFields(page.body), ...fields });
}

const idIn = ({ location = '' }: Page): string => /applications\/([^/]+)\/secret/.exec(location)?.[1] ?? '';

async function added(start: string, fields: Record<string, string>) {
  const sent = await send(start, fields);
  equal(sent.status, 303, `${start}: ${sent.body}`);
  const { data } = (await app.admin('GET', `/clients/${idIn(sent)}`)).body;
  return { client: data, done: await admin.get(sent.location ?? '') };
}

test('adding an application, step 1: every kind and every guide leads to its form', async () => {
  const { body } = await admin.get(NEW);
  for (const { kind } of templates) {
    if (kind === 'product') continue;
    ok(body.includes(`href="/admin/applications/new/${kind}"`), kind);
  }
  for (const { id } of guides) {
    ok(body.includes(`href="/admin/applications/new/${id}"`), id);
    equal((await admin.get(`${NEW}/${id}`)).status, 200, id);
  }
  equal((await admin.get(`${NEW}/no-such-kind`)).status, 404);
});

test('adding an application: each kind gets the metadata that it needs', async () => {
  const uri = { redirect_uris: 'https://app.example.com/callback' };
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  const code = 'authorization_code';
  const expected: Readonly<Record<string, readonly [Record<string, string>, Record<string, unknown>]>> = {
    web: [uri, { client_type: 'confidential', grant_types: [code, 'refresh_token'] }],
    spa: [uri, { client_type: 'public', application_type: 'web', require_pkce: true }],
    native: [
      { redirect_uris: 'com.example.app:/callback' },
      { client_type: 'public', application_type: 'native', grant_types: [code, 'refresh_token', device] },
    ],
    machine: [{}, { client_type: 'confidential', grant_types: ['client_credentials'], redirect_uris: [] }],
    device: [{}, { client_type: 'public', grant_types: [device, 'refresh_token'], response_types: [] }],
    agent: [
      { redirect_uris: 'http://localhost:8090/callback\ncursor://anysphere.cursor-mcp/callback' },
      { client_type: 'public', application_type: 'native', grant_types: [code, 'refresh_token'] },
    ],
  };
  for (const [kind, [fields, members]] of Object.entries(expected)) {
    const { client, done } = await added(kind, { name: `Kind ${kind}`, ...fields });
    for (const [name, value] of Object.entries(members)) deepEqual(client[name], value, `${kind} ${name}`);
    if (kind === 'machine' || kind === 'device') match(done.body, /Next: connect (?:Service|Device)/);
    equal(/id="client-secret"/.test(done.body), client.client_type === 'confidential', kind);
    match(done.body, /aria-current="step"><span>Connect/);
  }
});

test('adding a product: its address gives the redirect URIs, its guide what else it needs', async () => {
  const { client, done } = await added('nextcloud', {
    name: 'Files',
    address: 'https://files.example.com/cloud/',
  });
  deepEqual(client.redirect_uris, [
    'https://files.example.com/cloud/apps/user_oidc/code',
    'https://files.example.com/cloud/index.php/apps/user_oidc/code',
  ]);
  deepEqual(client.post_logout_redirect_uris, ['https://files.example.com/cloud/']);
  equal(client.token_endpoint_auth_method, 'client_secret_post');
  match(String(client.scope), /\bgroups\b/);
  match(done.body, /--clientid=/);
  ok(done.body.includes(String(client.client_id)));
  const { client: home } = await added('home-assistant', {
    name: 'Home',
    address: 'https://home.example.com:8123',
  });
  deepEqual(
    [home.client_type, home.redirect_uris],
    ['public', ['https://home.example.com:8123/auth/oidc/callback']],
  );
});

test('adding what has a guide: its lines have the secret and can be run as they are', async () => {
  const shop = { name: 'Shop', redirect_uris: 'https://shop.example/callback' };
  const { client, done } = await added('express', shop);
  const [, secret = ''] = /id="client-secret"[^>]*>([^<]+)</.exec(done.body) ?? [];
  ok(secret.length >= 40, secret);
  ok(done.body.includes(`export OIDC_CLIENT_SECRET=&#39;${secret}&#39;`));
  // express-openid-connect leaves out the slash at the end.
  deepEqual(client.post_logout_redirect_uris, ['https://shop.example/', 'https://shop.example']);
  const elsewhere = await added('express', { ...shop, redirect_uris: 'https://shop.example/other' });
  deepEqual(elsewhere.client.post_logout_redirect_uris, ['https://shop.example/']);
  const phone = await added('ios', { name: 'Phone', redirect_uris: 'com.example.app:/callback' });
  deepEqual(phone.client.post_logout_redirect_uris, ['com.example.app:/signed-out']);
});

test('environment variables: all without a guide; with one, what its lines read and do not have', async () => {
  const shop = { name: 'Shop', redirect_uris: 'https://shop.example/callback' };
  const product = { name: 'Charts', address: 'https://charts.example.com' };
  const shown = async (start: string, fields: Record<string, string>): Promise<string[]> => {
    const [, block] =
      /<code id="environment"[^>]*>([^<]*)</.exec((await added(start, fields)).done.body) ?? [];
    return (block ?? '').split('\n').flatMap((line) => line.split('=')[0] || []);
  };
  deepEqual(await shown('web', shop), [
    'OIDC_ISSUER',
    'OIDC_CLIENT_ID',
    'OIDC_CLIENT_SECRET',
    'OIDC_REDIRECT_URI',
    'OIDC_SCOPE',
  ]);
  deepEqual(await shown('express', shop), []);
  deepEqual(await shown('nextcloud', product), []);
  deepEqual(await shown('grafana', product), ['OIDC_CLIENT_SECRET']);
  deepEqual(await shown('react', shop), []);
});

test('adding a product: an address that is none, or is plain http, is refused at its field', async () => {
  for (const address of ['', 'files', 'javascript:alert(1)', 'ftp://files.example.com']) {
    const refused = await send('grafana', { name: 'Charts', address });
    equal(refused.status, 400, address);
    match(refused.body, /id="address-error" class="problem">Enter the address/);
    match(refused.body, /value="Charts"/);
  }
  const plain = await send('grafana', { name: 'Charts', address: 'http://charts.example.com' });
  match(plain.body, /id="address-error" class="problem">Entry 1 must start with https/);
});

test('adding an application, refused: each line has its verdict and nothing typed is lost', async () => {
  const typed = {
    name: 'Shop',
    redirect_uris: 'https://a.example/cb\nhttp://b.example/cb\nhttps://c.example/*\nhttps://a.example/cb',
    post_logout_redirect_uris: 'https://a.example/',
    first_party: 'on',
  };
  const { status, body } = await send('express', typed);
  equal(status, 400);
  const verdicts = [...body.matchAll(/<li class="(yes|no)">/g)].map(([, one]) => one);
  deepEqual(verdicts, ['yes', 'no', 'no', 'no']);
  match(body, /Is listed twice\./);
  match(body, /value="Shop"/);
  ok(body.includes(typed.redirect_uris));
  ok(body.includes('>https://a.example/</textarea>'));
  match(body, /name="first_party" checked/);
  doesNotMatch(body, /name="require_pkce" checked/);
});

test('check of redirect URIs while typing: by the rules of a registration, without one', async () => {
  const page = await admin.get(`${NEW}/web`);
  const { csrf = '' } = hiddenFields(page.body);
  const count = async (): Promise<unknown> => (await app.admin('GET', '/clients')).body.data.total;
  const before = await count();
  const ask = (fields: Record<string, string>): Promise<Page> =>
    admin.post('/admin/applications/check-redirect-uris', { csrf, ...fields });
  const uris = `https://a.example/cb\ncom.example.app:/cb\njavascript:alert(1)\n${app.url}/admin/callback`;
  const web = await ask({ redirect_uris: uris, application_type: 'web' });
  const classes = ({ body }: Page): (string | undefined)[] =>
    [...body.matchAll(/<li class="(yes|no)">/g)].map(([, one]) => one);
  deepEqual(classes(web), ['yes', 'no', 'no', 'no']);
  match(web.body, /Must not be an address of this server\./);
  deepEqual(classes(await ask({ redirect_uris: uris, application_type: 'native' })), [
    'yes',
    'yes',
    'no',
    'no',
  ]);
  deepEqual(classes(await ask({ redirect_uris: '', application_type: 'web' })), []);
  deepEqual(classes(await ask({ redirect_uris: 'https://a.example/\n'.repeat(400) })).length, 50);
  equal(await count(), before);
  const hostile = await ask({ redirect_uris: '</code><script>alert(1)</script>' });
  doesNotMatch(hostile.body, /<script>alert/);
});

test('admin API: redirect URIs are checked, 50 at most', async () => {
  const check = async (query: Record<string, string>) =>
    app.admin('GET', `/redirect-uris/check?${new URLSearchParams(query)}`);
  const { body } = await check({ uris: 'https://a.example/cb\nhttps://a.example/#x' });
  deepEqual(body.data.items, [
    { uri: 'https://a.example/cb', is_valid: true },
    { uri: 'https://a.example/#x', is_valid: false, problem: 'Must not contain a fragment.' },
  ]);
  equal((await check({ uris: 'x\n'.repeat(51) })).status, 400);
  deepEqual((await check({})).body.data.items, []);
  equal((await check({ uris: 'x', application_type: 'spy' })).status, 400);
});

test('a link fills in the form of its kind', async () => {
  const query = new URLSearchParams({ name: 'Sample', type: 'spa', redirect_uris: 'http://localhost:9/cb' });
  const sent = await admin.get(`${NEW}?${query}`);
  equal(sent.status, 303);
  equal(new URL(sent.location ?? '', app.url).pathname, `${NEW}/spa`);
  const page = await admin.follow(sent);
  match(page.body, /A link filled in this form/);
  match(page.body, /value="Sample"/);
  // One that names no kind, or none that there is, is for a web application.
  for (const type of ['', '//evil.example', '../../users', 'no-kind']) {
    const other = await admin.get(`${NEW}?${new URLSearchParams({ name: 'Sample', type })}`);
    equal(new URL(other.location ?? '', app.url).pathname, `${NEW}/web`, type);
  }
});

test('guides of an application: its values, what is not registered, none of its secret', async () => {
  const { id, secret } = await app.register({
    client_name: 'Ledger',
    redirect_uris: ['https://ledger.example/callback'],
  });
  const list = await admin.get(`/admin/applications/${id}/connect`);
  for (const { id: guide } of guides) {
    ok(list.body.includes(`/admin/applications/${id}/connect/${guide}"`), guide);
    const page = await admin.get(`/admin/applications/${id}/connect/${guide}`);
    equal(page.status, 200, guide);
    ok(page.body.includes(id), guide);
    ok(!page.body.includes(secret), guide);
  }
  const express = await admin.get(`/admin/applications/${id}/connect/express`);
  match(express.body, /&quot;https:\/\/ledger\.example&quot;/);
  doesNotMatch(express.body, /which is not registered/);
  const grafana = await admin.get(`/admin/applications/${id}/connect/grafana`);
  match(grafana.body, /https:\/\/ledger\.example\/login\/generic_oauth<\/code>, which is not registered/);
  equal((await admin.get(`/admin/applications/${id}/connect/no-such-guide`)).status, 404);
});
