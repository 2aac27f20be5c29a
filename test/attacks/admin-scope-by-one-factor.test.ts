// Attacks on the admin API with fewer factors than the administrator has (decision 0002): a token of a password session,
// one issued before the factor was enrolled, and the setting admin_mfa.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AccountRecord, accounts } from '../../src/store/collections.ts';
import { bearer, call, change, claimsOf, introspect } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields, type Page, redeem, refresh, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createPhone, enrolPhone } from '../support/phone.ts';

const MULTI_FACTOR = 'urn:latchkey:acr:multi-factor';

let app: TestApp;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp();
  client = await app.register({ scope: 'openid profile admin admin:read' });
});
after(() => app.stop());

const authorize = async (agent: Agent, parameters: Record<string, string> = {}): Promise<Page> =>
  agent.follow(
    await agent.authorize({
      ...codeRequest(client.id),
      scope: 'openid admin',
      ...parameters,
    }),
  );

async function tokensAt(page: Page) {
  const code = new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';
  assert.notEqual(code, '', page.location ?? page.body.slice(0, 300));
  return (await redeem(app, client, { code, verifier: VERIFIER })).body;
}

const statusOf = async (token: string): Promise<number> =>
  (await call(app, 'GET', '/admin/api/users', { headers: bearer(token) })).status;

async function amend(id: string, members: Partial<AccountRecord>): Promise<void> {
  const records = app.store.collection(accounts);
  const found = await records.find(id);
  assert.ok(found);
  await records.put(id, { ...found.value, ...members });
}

test('attack: an administrator with TOTP, in a session that never used it', async () => {
  const { username } = await app.createUser('root-with-app', { role: 'admin' });
  const agent = new Agent(app);
  await change(app, { mfa_mode: 'required' });
  const { phone } = await enrolPhone(app, agent, await authorize(agent, { scope: 'openid' }), username);
  await change(app, { mfa_mode: 'off' });
  const weak = new Agent(app);
  await weak.submit(await authorize(weak, { scope: 'openid' }), { username, password: PASSWORD });
  await change(app, { mfa_mode: 'optional' });
  const silent = await authorize(weak, { prompt: 'none' });
  assert.match(silent.location ?? '', /error=login_required/);
  const step = await authorize(weak);
  assert.match(step.body, /name="code"/, 'the second factor is asked for');
  const tokens = await tokensAt(await weak.submit(step, { method: 'totp', code: phone.code() }));
  assert.equal(tokens.scope, 'openid admin');
  assert.equal(claimsOf(tokens.access_token).acr, MULTI_FACTOR);
  assert.equal(await statusOf(tokens.access_token), 200);
  const { body: told } = await introspect(app, tokens.access_token);
  assert.deepEqual([told.acr, told.auth_time], [MULTI_FACTOR, claimsOf(tokens.id_token).auth_time]);
});

test('attack: tokens issued before the second factor was enrolled grant no more access', async () => {
  const { id, username } = await app.createUser('root-adds-one', { role: 'admin' });
  const agent = new Agent(app);
  const tokens = await tokensAt(await agent.submit(await authorize(agent), { username, password: PASSWORD }));
  assert.equal(tokens.scope, 'openid admin');
  assert.equal(await statusOf(tokens.access_token), 200);
  await amend(id, { passkeys: [{ id: 'x', kind: 'passkey' }] });
  assert.equal(await statusOf(tokens.access_token), 403);
  assert.equal((await introspect(app, tokens.access_token)).body.scope, 'openid');
  const renewed = await refresh(app, client, tokens.refresh_token);
  assert.equal(renewed.body.scope, 'openid');
  assert.equal(await statusOf(renewed.body.access_token), 403);
});

test('admin_mfa offered: the Admin UI asks for a factor; "not now" lasts a day', async () => {
  const { username } = await app.createUser('root-puts-off', { role: 'admin' });
  const agent = new Agent(app);
  const open = async (): Promise<Page> => {
    const page = await agent.follow(await agent.get('/admin/users'));
    return page.body.includes('name="password"')
      ? agent.submit(page, { username, password: PASSWORD })
      : page;
  };
  const asked = await open();
  assert.match(asked.body, /Set up an authenticator app/);
  const { csrf = '' } = hiddenFields(asked.body);
  assert.equal((await agent.post('/admin/second-factor/later', { csrf })).status, 303);
  assert.doesNotMatch((await open()).body, /Set up an authenticator app/);
  app.advance(23 * 3_600_000);
  assert.doesNotMatch((await open()).body, /Set up an authenticator app/);
  app.advance(2 * 3_600_000);
  assert.match((await open()).body, /Set up an authenticator app/);
  // Whoever accepts sets one up, and is not asked any more.
  const login = await agent.follow(await agent.get('/admin/second-factor'));
  const enrolment = await agent.submit(login, { username, password: PASSWORD });
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolment.body)?.[1] ?? '';
  const shown = await agent.submit(enrolment, { action: 'enrol', code: createPhone(secret, app).code() });
  const done = await agent.submit(shown, { action: 'continue' });
  assert.equal(new URL(done.url).pathname, '/admin', done.body.slice(0, 300));
  assert.doesNotMatch(done.body, /Set up an authenticator app/);
});

test('admin_mfa required: the Admin UI needs two factors', async () => {
  const { username } = await app.createUser('root-at-the-door', { role: 'admin' });
  const agent = new Agent(app);
  const first = await agent.follow(await agent.get('/admin'));
  assert.equal((await agent.submit(first, { username, password: PASSWORD })).status, 200);
  await change(app, { admin_mfa: 'required' });
  try {
    const login = await agent.follow(await agent.get('/admin/users'));
    assert.match(login.body, /name="password"/);
    const enrolment = await agent.submit(login, { username, password: PASSWORD });
    const secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolment.body)?.[1] ?? '';
    assert.notEqual(secret, '');
    const shown = await agent.submit(enrolment, { action: 'enrol', code: createPhone(secret, app).code() });
    const done = await agent.submit(shown, { action: 'continue' });
    assert.equal(new URL(done.url).pathname, '/admin/users');
    assert.equal(done.status, 200);
  } finally {
    await change(app, { admin_mfa: 'offered' });
  }
});

test('admin_mfa required: scope admin needs two factors; without one, enrolment comes first', async () => {
  const { username } = await app.createUser('root-without', { role: 'admin' });
  const auditor = await app.createUser('auditor-without', { role: 'auditor' });
  const agent = new Agent(app);
  const before = await tokensAt(await agent.submit(await authorize(agent), { username, password: PASSWORD }));
  await change(app, { admin_mfa: 'required' });
  try {
    assert.equal(await statusOf(before.access_token), 403);
    const login = await authorize(agent);
    const enrolment = await agent.submit(login, { username, password: PASSWORD });
    const secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolment.body)?.[1] ?? '';
    assert.notEqual(secret, '', 'an old session adds no factor; the password does');
    const shown = await agent.submit(enrolment, { action: 'enrol', code: createPhone(secret, app).code() });
    const tokens = await tokensAt(await agent.submit(shown, { action: 'continue' }));
    assert.equal(tokens.scope, 'openid admin');
    assert.equal(await statusOf(tokens.access_token), 200);
    const reader = new Agent(app);
    const asked = await reader.submit(await authorize(reader, { scope: 'openid admin:read' }), {
      username: auditor.username,
      password: PASSWORD,
    });
    assert.match(asked.body, /data:image\/png;base64/);
    const person = await app.createUser('nobody-special');
    const plain = new Agent(app);
    const tokensOfPlain = await tokensAt(
      await plain.submit(await authorize(plain), { username: person.username, password: PASSWORD }),
    );
    assert.equal(tokensOfPlain.scope, 'openid', 'nobody else is asked');
  } finally {
    await change(app, { admin_mfa: 'offered' });
  }
});
