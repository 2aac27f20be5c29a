// The device flow (RFC 8628) with openid-client as the device and a user in another browser.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import test, { after } from 'node:test';
import * as oidc from 'openid-client';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';
import { call, claimsOf, introspect, isActive, later, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const staying = { ...television, grant_types: [DEVICE_GRANT, 'refresh_token'] };
const client = await app.register(staying);
const config = await oidc.discovery(new URL(app.issuer), client.id, undefined, oidc.None(), {
  execute: [oidc.allowInsecureRequests],
});

type Started = Awaited<ReturnType<typeof oidc.initiateDeviceAuthorization>>;
const start = (scope = 'openid profile offline_access'): Promise<Started> =>
  oidc.initiateDeviceAuthorization(config, { scope });
const poll = (device: Started) =>
  postForm(app, '/oauth2/token', {
    grant_type: DEVICE_GRANT,
    device_code: device.device_code,
    client_id: client.id,
  });

/** The person types the code. @returns the page that asks whether this is the code on the device */
async function enter(agent: Agent, code: string): Promise<Page> {
  const page = await agent.get('/oauth2/device');
  equal(page.status, 200);
  return agent.submit(page, { user_code: code });
}

/** Compares and confirms it, and signs in where that is needed. @returns the last page */
async function confirm(agent: Agent, code: string): Promise<Page> {
  const page = await agent.submit(await enter(agent, code), { confirm: 'yes' });
  if (!page.body.includes('name="password"')) return page;
  return agent.submit(page, { username: 'alice', password: 'correct horse battery staple' });
}

test('device flow: the user confirms the code and the device gets tokens', async () => {
  const device = await start();
  match(device.user_code, /^[A-Z]{4}-[A-Z]{4}$/);
  equal(device.verification_uri, `${app.url}/oauth2/device`);
  equal(device.verification_uri_complete, `${app.url}/oauth2/device?user_code=${device.user_code}`);
  equal((await poll(device)).body.error, 'authorization_pending');

  const agent = new Agent(app);
  const question = await enter(agent, device.user_code.toLowerCase().replace('-', ' '));
  ok(question.body.includes(device.user_code), 'the code is shown for comparison');
  ok(question.body.includes('Television'));
  const done = await confirm(agent, device.user_code);
  equal(done.status, 200);
  ok(done.body.includes('Television'), done.body);
  ok(!done.body.includes('<form'), 'nothing is left to do');

  const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
  equal(tokens.claims()?.sub, alice.id);
  deepEqual(tokens.claims()?.amr, ['pwd']);
  const claims = claimsOf(tokens.access_token);
  deepEqual([claims.sub, claims.username, claims.client_id], [alice.id, 'alice', client.id]);
  equal(typeof claims.auth_time, 'number');
  equal(typeof claims.sid, 'string');
  equal((await introspect(app, tokens.access_token)).body.active, true);
  ok((await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')).access_token);

  // One use: the second poll gets nothing and, as with a code, takes back what was given (RFC 8628 §3.5, RFC 6749 §4.1.2).
  equal((await poll(device)).body.error, 'invalid_grant');
  equal(await isActive(app, tokens.access_token), false);
});

test('device flow: says its interval, and slow_down to who asks sooner (RFC 8628 §3.5)', async () => {
  const device = await start();
  equal(device.interval, 5);
  const errors: unknown[] = [];
  for (let time = 0; time < 3; time += 1) {
    errors.push((await poll(device)).body.error);
    // Set back: on a slow machine the window of four seconds would be over meanwhile.
    app.advance(-1000);
  }
  app.advance(3000);
  deepEqual(errors, ['authorization_pending', 'slow_down', 'slow_down']);
  app.advance(5000);
  equal((await poll(device)).body.error, 'authorization_pending');
  equal((await poll(await start())).body.error, 'authorization_pending', 'each device by itself');
  await confirm(new Agent(app), device.user_code);
  equal((await poll(device)).status, 200, 'who is answered is never too early');
});

test('device flow: a link fills in the code but submits nothing', async () => {
  const device = await start();
  const agent = new Agent(app);
  const page = await agent.get(device.verification_uri_complete ?? '');
  equal(page.status, 200);
  ok(page.body.includes(`value="${device.user_code}"`));
  equal(hiddenFields(page.body).user_code, undefined, 'to be seen, not hidden');
  ok(!page.body.includes('Television'), 'the person has not confirmed anything yet');
  equal((await poll(device)).body.error, 'authorization_pending');
});

test('device flow: a signed-in user confirms directly; logout ends the device too', async () => {
  const agent = new Agent(app);
  const first = await start();
  ok(!(await confirm(agent, first.user_code)).body.includes('<form'));
  const device = await start();
  const page = await agent.submit(await enter(agent, device.user_code), { confirm: 'yes' });
  ok(!page.body.includes('name="password"'));
  const { status, body } = await poll(device);
  equal(status, 200);
  const token = String(body.access_token);
  equal(await isActive(app, token), true);
  await agent.get('/oauth2/logout');
  equal(await isActive(app, token), false);
  equal(await isActive(app, String(body.refresh_token)), false);
});

test('device flow: refused on the page, the device gets access_denied', async () => {
  const device = await start();
  const agent = new Agent(app);
  const page = await agent.submit(await enter(agent, device.user_code), { abort: 'yes' });
  ok(page.body.includes('role="alert"'), page.body);
  await rejects(oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 }), {
    error: 'access_denied',
  });
});

test('device flow: consent for third-party clients; a denial reaches the device', async () => {
  const theirs = await app.register({ ...staying, skip_consent: false });
  const started = await postForm(app, '/oauth2/device_authorization', {
    client_id: theirs.id,
    scope: 'openid email',
  });
  equal(started.status, 200, started.text);
  const agent = new Agent(app);
  const page = await confirm(agent, String(started.body.user_code));
  ok(page.body.includes('/oauth2/consent'), page.body);
  await agent.submit(page, { action: 'deny' });
  const answer = await postForm(app, '/oauth2/token', {
    grant_type: DEVICE_GRANT,
    device_code: String(started.body.device_code),
    client_id: theirs.id,
  });
  deepEqual([answer.status, answer.body.error], [400, 'access_denied']);
});

test('device flow: an unknown, expired or used code shows the form and the reason', async () => {
  const agent = new Agent(app);
  const used = await start();
  await confirm(agent, used.user_code);
  for (const code of ['BCDF-GHJK', '', '<script>alert(1)</script>', used.user_code]) {
    const page = await enter(agent, code);
    ok(page.status < 500, String(page.status));
    ok(page.body.includes('name="user_code"'), page.body);
    ok(!page.body.includes('<script>alert'), 'escaped');
  }
  const device = await start();
  await later(601_000, async () => {
    const page = await enter(new Agent(app), device.user_code);
    ok(page.body.includes('name="user_code"') && !page.body.includes('name="confirm"'), page.body);
    ok(['expired_token', 'invalid_grant'].includes(String((await poll(device)).body.error)));
  });
});

test('attack: the device form in another browser (CSRF)', async () => {
  const device = await start();
  const [own, other] = [new Agent(app), new Agent(app)];
  const page = await own.get('/oauth2/device');
  await other.get('/oauth2/device');
  const hidden = hiddenFields(page.body);
  ok(hidden.xsrf);
  const fields = { ...hidden, user_code: device.user_code, confirm: 'yes' };
  for (const answer of [
    await other.post('/oauth2/device', fields),
    await new Agent(app).post('/oauth2/device', fields),
    await own.post('/oauth2/device', { ...fields, xsrf: 'guessed' }),
  ]) {
    deepEqual([answer.status, answer.location], [400, undefined]);
    ok(!answer.body.includes('name="password"'), answer.body);
  }
  equal((await poll(device)).body.error, 'authorization_pending');
});

test('device flow: only clients registered for it can start one', async () => {
  const web = await app.register();
  const refused = await postForm(app, '/oauth2/device_authorization', { client_id: web.id, scope: 'openid' });
  deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
  const open = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
  const wrong = await postForm(app, '/oauth2/device_authorization', { client_id: open.id, scope: 'openid' });
  deepEqual([wrong.status, wrong.body.error], [400, 'unauthorized_client']);
  const unknown = await postForm(app, '/oauth2/device_authorization', { client_id: 'nobody' });
  deepEqual([unknown.status, unknown.body.error], [401, 'invalid_client']);
  const get = await call(app, 'GET', '/oauth2/device_authorization');
  deepEqual([get.status, get.headers.get('allow')], [405, 'POST, OPTIONS']);
});
