// Attack: the preview of tokens as a way to tokens, to data of users that the caller may not read, or into the page. It runs the code
// that issues tokens, so nothing of it may be signed, stored, recorded as issued, or be of use anywhere.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { dumpAnyStore } from './store-dump.ts';

let app: TestApp;
let shop: { id: string; secret: string };
let alice: { id: string; username: string };
const MARK = `"><img src=x onerror=alert(1)>'{{7*7331}}`;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('reader', { role: 'auditor' });
  alice = await app.createUser('alice', { name: MARK, nickname: MARK, email: 'alice@acme.example' });
  shop = await app.register({ client_name: MARK, scope: 'openid profile email offline_access' });
});
after(() => app.stop());

const scope = 'openid profile email offline_access';
const pathOf = (more: Record<string, string> = {}, userId = alice.id) =>
  `/clients/${shop.id}/token-preview/${userId}?${new URLSearchParams({ scope, ...more })}`;
const signedIn = async (username: string): Promise<Agent> => {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  await agent.submit(signIn, { username, password: PASSWORD });
  return agent;
};

test('attack: a token out of a preview: nothing is signed, stored, or in the lists of tokens', async () => {
  const before = await dumpAnyStore(app);
  const { status, body } = await app.admin('GET', pathOf());
  equal(status, 200);
  const text = JSON.stringify(body);
  // No compact JWS, no opaque token, no code.
  doesNotMatch(text, /eyJ[\w-]+\.[\w-]+/);
  doesNotMatch(text, /refresh_token|"code"|signature/);
  match(text, /differs in each token/);
  deepEqual(await dumpAnyStore(app), before);
  equal((await app.admin('GET', `/tokens?user_id=${alice.id}`)).body.data.total, 0);
  equal((await app.admin('GET', '/audit?class=tokens')).body.data.total, 0);
  // What it shows, put together: header and payload without a signature.
  const { header, payload } = Object(Object(body.data).access_token);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const token of [`${part(header)}.${part(payload)}.`, `${part(header)}.${part(payload)}.AAAA`]) {
    const answer = await fetch(`${app.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    equal(answer.status, 401);
  }
  // Real sign-ins are signed as ever afterwards, also at the same time.
  const [page] = await Promise.all([new Agent(app).signIn(shop.id, alice), app.admin('GET', pathOf())]);
  ok(page.code);
});

test('attack: a token out of a machine’s preview: nothing of it is signed, stored or counted', async () => {
  const machine = await app.register({
    client_name: MARK,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'openid admin admin:read',
  });
  const before = await dumpAnyStore(app);
  const url = `/clients/${machine.id}/token-preview?scope=admin`;
  const { status, body } = await app.admin('GET', url);
  equal(status, 200);
  equal(body.data.scope, 'admin');
  doesNotMatch(JSON.stringify(body), /eyJ[\w-]+\.[\w-]+|signature/);
  ok(!JSON.stringify(body).includes(machine.secret));
  deepEqual(await dumpAnyStore(app), before);
  equal((await app.admin('GET', `/audit?class=tokens&client_id=${machine.id}`)).body.data.total, 0);
  const { header, payload } = Object(Object(body.data).access_token);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const forged = { authorization: `Bearer ${part(header)}.${part(payload)}.AAAA` };
  equal((await fetch(`${app.url}/admin/api/users`, { headers: forged })).status, 401);

  equal((await fetch(`${app.url}/admin/api${url}`)).status, 401);
  equal((await app.admin('GET', `${url}&user_id=${alice.id}`)).status, 400);
  equal((await app.admin('GET', '/clients/nobody/token-preview')).status, 404);
  const plain = await signedIn('alice');
  ok((await plain.get(`/admin/applications/${machine.id}/claims?itself=1`)).status !== 200);
  const page = await (await signedIn('reader')).get(
    `/admin/applications/${machine.id}/claims?itself=1&scope=${encodeURIComponent(MARK)}&resource=${encodeURIComponent(MARK)}`,
  );
  equal(page.status, 200);
  doesNotMatch(page.body, /<img src=x|51317/);
});

test('attack: hashes and secrets of a user or of the application in a preview', async () => {
  const { body } = await app.admin('GET', pathOf());
  doesNotMatch(JSON.stringify(body), /argon2|\$scrypt|totp_secret|password|client_secret|recovery/i);
  ok(!JSON.stringify(body).includes(shop.secret));
});

test('attack: a preview by those who may not read users; an auditor may', async () => {
  const url = `${app.url}/admin/api${pathOf()}`;
  equal((await fetch(url)).status, 401);
  equal((await fetch(url, { headers: { authorization: 'Bearer nonsense' } })).status, 401);
  const plain = await signedIn('alice');
  ok((await plain.get(`/admin/applications/${shop.id}/claims?asked=1&user=alice`)).status !== 200);
  const page = await (await signedIn('reader')).get(
    `/admin/applications/${shop.id}/claims?asked=1&user=alice&scope=email`,
  );
  equal(page.status, 200);
  match(page.body, /alice@acme\.example/);
  doesNotMatch(page.body, /action="[^"]*\/claims" data-guard[\s\S]*<button class="button primary">Save/);
  const forged = await (await signedIn('reader')).post(`/admin/applications/${shop.id}/claims`, {
    'scope.roles': 'on',
  });
  equal(forged.status, 403);
});

test('attack: claims of another user by a forged or added id; an unknown one is a plain 404', async () => {
  const bob = await app.createUser('bob', { email: 'bob@acme.example' });
  for (const more of [{ user_id: bob.id }, { sub: bob.id }, { claims: '{}' }, { login_hint: 'bob' }])
    equal((await app.admin('GET', pathOf(more))).status, 400, JSON.stringify(more));
  equal((await app.admin('GET', `${pathOf()}&scope=roles`)).status, 400);
  for (const forged of ['nobody', '*', `${alice.id}%00`, `${alice.id}%2f..%2f${bob.id}`, 'x'.repeat(200)]) {
    const { status, body } = await app.admin('GET', pathOf({}, forged));
    ok(status === 404 || status === 400, forged);
    doesNotMatch(JSON.stringify(body), /acme\.example/);
  }
  // The page resolves names by itself: what looks like an id is none of another kind.
  const page = await (await signedIn('root-admin')).get(
    `/admin/applications/${shop.id}/claims?asked=1&user=${shop.id}`,
  );
  match(page.body, /Nobody is called/);
});

test('attack: scopes past the application and the user by a preview', async () => {
  for (const scope of [
    'openid admin admin:read',
    'openid roles groups',
    'openid https://x.example/.default',
  ]) {
    const { status, body } = await app.admin('GET', pathOf({ scope }));
    equal(status, 200);
    equal(body.data.scope ?? 'openid', 'openid', scope);
    doesNotMatch(JSON.stringify(body.data.access_token ?? ''), /"roles?":|"groups":/);
  }
  for (const scope of [`openid ${'x'.repeat(3000)}`, 'openid\nadmin', '"quoted"', ''])
    ok((await app.admin('GET', pathOf({ scope }))).status < 500, scope);
});

test('attack: markup in names, claims, scopes and the address of the page (XSS)', async () => {
  const admin = await signedIn('root-admin');
  const text = encodeURIComponent(MARK);
  const path = `/admin/applications/${shop.id}/claims?asked=1`;
  for (const query of [
    `&user=alice&scope=profile`,
    `&user=${text}`,
    `&user=alice&scope=${text}`,
    `&user=alice&resource=${text}&scope=profile`,
  ]) {
    const page = await admin.get(path + query);
    equal(page.status, 200, query);
    doesNotMatch(page.body, /<img src=x|onerror=alert\(1\)>(?!&|')|51317/, query);
  }
});
