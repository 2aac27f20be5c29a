// Attack: the id under which an application is tried ("Try it" in the Admin UI), named by others than this server: whoever could
// use it would have a client that asks for no secret (src/oidc/test-sign-in.ts).
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { passingId } from '../../src/client-ids.ts';
import { grants } from '../../src/store/protocol-collections.ts';
import { createApi } from '../flows/api-support.ts';
import { Agent, challengeOf, codeRequest, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let callback: string;

before(async () => {
  app = await startApp();
  callback = `${app.url}/admin/applications/try/callback`;
  await app.createUser('root', { role: 'admin' });
  await app.createUser('auditor', { role: 'auditor' });
  admin = await enter('root');
});
after(() => app.stop());

async function enter(username: string): Promise<Agent> {
  const agent = new Agent(app);
  await agent.submit(await agent.follow(await agent.get('/admin')), { username, password: PASSWORD });
  return agent;
}

async function begin(clientId: string, fields: Record<string, string> = {}): Promise<Page> {
  const csrf = hiddenFields((await admin.get('/admin/users/new')).body).csrf ?? '';
  return admin.post(`/admin/applications/${clientId}/try`, { csrf, ...fields });
}

async function untilBack(first: Page): Promise<string> {
  let page = first;
  while (page.location !== undefined && !page.location.startsWith(callback))
    page = await admin.get(page.location);
  ok(page.location, page.body.slice(0, 600));
  return page.location;
}

test('attack: a passing id named at the authorization endpoint', async () => {
  const { id } = await app.register();
  const other = await app.register();
  const started = new URL((await begin(id)).location ?? '');
  const requests = [
    { ...codeRequest(passingId(id)), redirect_uri: callback },
    codeRequest(passingId(id)),
    { ...Object.fromEntries(started.searchParams), client_id: passingId(id) },
    { ...codeRequest(passingId(passingId(id))), redirect_uri: callback },
    { ...codeRequest(passingId('latchkey-admin')), redirect_uri: callback },
  ];
  for (const agent of [admin, new Agent(app), await enter('auditor')]) {
    for (const request of requests) {
      const [got, posted] = [await agent.authorize(request), await agent.post('/oauth2/authorize', request)];
      for (const { status, location, body } of [got, posted]) {
        deepEqual([status, location], [400, undefined], JSON.stringify(request));
        match(body, /invalid_client|invalid_redirect_uri/);
      }
    }
  }
  // Beside the id that an administrator has just started.
  started.searchParams.append('client_id', passingId(other.id));
  const twice = await admin.get(started.href);
  deepEqual([twice.status, twice.location], [400, undefined]);
});

test('attack: a passing id at every endpoint where clients authenticate', async () => {
  const { id, secret } = await app.register();
  const code = new URL(await untilBack(await begin(id))).searchParams.get('code') ?? '';
  ok(code.length > 20);
  const verifier = 'v'.repeat(43);
  const forms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    token: { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier },
    par: {
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    },
    device_authorization: { scope: 'openid' },
    introspect: { token: code },
    revoke: { token: code },
  };
  for (const [path, form] of Object.entries(forms)) {
    for (const more of [{}, { client_secret: secret }]) {
      const response = await fetch(`${app.url}/oauth2/${path}`, {
        method: 'POST',
        body: new URLSearchParams({ ...form, client_id: passingId(id), ...more }),
      });
      const text = await response.text();
      // RFC 7009 §2.2: nothing is revoked of what is no token.
      if (path !== 'revoke' || response.status !== 200) match(text, /invalid_client/, `${path} ${text}`);
      doesNotMatch(text, /access_token|request_uri|device_code|"active":true/);
    }
  }
});

test('attack: grants of a test sign-in left half-way, in what its user is shown', async () => {
  const { id } = await app.register({ skip_consent: false });
  const form = await admin.follow(await begin(id));
  match(form.body, /\/oauth2\/consent/);
  await untilBack(await admin.post('/oauth2/consent', { ...hiddenFields(form.body), action: 'allow' }));
  const root = (await app.admin('GET', '/users?search=root')).body.data.items?.[0]?.id ?? '';
  const [grant] = await app.store.collection(grants).findBy('client', passingId(id));
  equal(grant?.value.accountId, root);
  equal((await app.store.collection(grants).findBy('client', id)).length, 0);
  const shown = await admin.get('/account/applications');
  equal(shown.status, 200);
  ok(!shown.body.includes(id));
  const { items = [] } = (await app.admin('GET', `/users/${root}/sessions`)).body.data;
  ok(!JSON.stringify(items).includes(id));
  // Administrators see it as what it is, for as long as it is there.
  const granted = (await app.admin('GET', `/users/${root}/grants`)).body.data.items ?? [];
  equal(granted.filter(({ client_id }) => client_id === id).length, 1);
});

test('test sign-in: the page, its requests and its events name the application by its own id', async () => {
  const { id } = await app.register({ keycloak_tokens: true, userinfo_signed_response_alg: 'RS256' });
  const api = await createApi(app, { clients: [id] });
  for (const fields of [{}, { chosen: 'on', 'api_scope.read': 'on', resource: api.identifier }]) {
    const page = await admin.follow(await begin(id, fields));
    match(page.body, /Signed in as/);
    doesNotMatch(page.body, /test-sign-in:/);
  }
  const events = JSON.stringify((await app.admin('GET', '/audit?limit=1000')).body.data);
  doesNotMatch(events, /test-sign-in:/);
});

test('test sign-in: who agreed to the application already is not asked, and a test adds nothing', async () => {
  const { id } = await app.register({ skip_consent: false });
  const own = await admin.authorize(codeRequest(id));
  await admin.submit(own, { action: 'allow' });
  const events = async () =>
    (await app.admin('GET', `/audit?event=consent.granted&client_id=${id}`)).body.data.items?.length;
  equal(await events(), 1);
  match((await admin.follow(await begin(id, { chosen: 'on' }))).body, /Signed in as/);
  equal(await events(), 1);
});
