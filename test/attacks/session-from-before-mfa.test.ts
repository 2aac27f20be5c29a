// Attack: using a session from before second factors were required (`mfa_mode`), which would give codes
// silently and open /account and /admin until it ends.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { oidcSessions } from '../../src/store/protocol-collections.ts';
import { change, postForm, sessionsOf } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields, type Page, requestTokens } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { enrolPhone, type Phone } from '../support/phone.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const partner = await app.register();
let people = 0;

beforeEach(() => change(app, { mfa_mode: 'optional' }));

async function person(fields: Record<string, unknown> = {}): Promise<{ id: string; username: string }> {
  people += 1;
  return app.createUser(`person-${people}`, fields);
}
const silently = async (agent: Agent, id = client.id): Promise<string | null> => {
  const { location = '' } = await agent.authorize({ ...codeRequest(id), prompt: 'none' });
  const { searchParams } = new URL(location);
  return searchParams.has('code') ? 'code' : searchParams.get('error');
};
const hasCode = ({ location = 'about:blank' }: Page): boolean => new URL(location).searchParams.has('code');

/** Has an authenticator. @returns it, and the browser that it was enrolled in, signed in with two factors */
async function withPhone(username: string): Promise<{ agent: Agent; phone: Phone }> {
  await change(app, { mfa_mode: 'required' });
  const agent = new Agent(app);
  const first = await agent.authorize(codeRequest(client.id));
  const { phone } = await enrolPhone(app, agent, first, username);
  return { agent, phone };
}

/** Signed in with the password alone, as it was possible then. */
async function fromBefore(user: { username: string }, mfa_mode = 'optional'): Promise<Agent> {
  await change(app, { mfa_mode });
  const agent = new Agent(app);
  await agent.signIn(client.id, user);
  deepEqual([await silently(agent), await silently(agent, partner.id)], ['code', 'code']);
  return agent;
}

test('session from before MFA was required: no code without the second step', async () => {
  const user = await person();
  const agent = await fromBefore(user);
  await change(app, { mfa_mode: 'required' });
  for (const id of [client.id, partner.id]) {
    equal(await silently(agent, id), 'login_required');
    const page = await agent.authorize(codeRequest(id));
    ok(!hasCode(page));
    match(page.body, /name="password"/);
  }
  // It has none to show, so one is enrolled: by whoever knows the password, not by whoever has the session.
  const { last } = await enrolPhone(app, agent, await agent.authorize(codeRequest(client.id)), user.username);
  ok(hasCode(last));
  deepEqual([await silently(agent), await silently(agent, partner.id)], ['code', 'code']);
  await change(app, { mfa_mode: 'optional' });
  await change(app, { mfa_mode: 'required' });
  equal(await silently(agent), 'code', 'the setting again asks nobody again');
});

test('session from before MFA was required: only the existing factor is asked for', async () => {
  const user = await person();
  const { phone } = await withPhone(user.username);
  const agent = await fromBefore(user, 'off');
  const [before] = (await sessionsOf(app, user.id)).map(({ id }) => id);
  await change(app, { mfa_mode: 'required' });
  equal(await silently(agent), 'login_required');
  const page = await agent.follow(await agent.authorize(codeRequest(client.id)));
  match(page.body, /name="code"/);
  ok(!page.body.includes('name="password"'));
  const wrong = await agent.submit(page, { code: '000000', method: 'totp' });
  equal(wrong.status, 401);
  equal(await silently(agent), 'login_required', 'a wrong code is none');
  ok(hasCode(await agent.submit(page, { code: phone.code(), method: 'totp' })));
  equal(await silently(agent, partner.id), 'code');
  ok((await sessionsOf(app, user.id)).some(({ id }) => id === before));
});

test('session from before MFA was required: self-service asks for the second step', async () => {
  const user = await person();
  const agent = await fromBefore(user);
  const page = await agent.get('/account');
  equal(page.status, 200);
  const csrf = hiddenFields(page.body).csrf ?? '';
  await change(app, { mfa_mode: 'required' });
  for (const path of ['/account', '/account/password', '/account/passkeys', '/account/second-factor']) {
    const { status, location = '' } = await agent.get(path);
    equal(status, 303, path);
    match(location, /\/oauth2\/authorize\?client_id=latchkey-admin/, path);
  }
  const fields = {
    csrf,
    current_password: PASSWORD,
    password: 'x'.repeat(20),
    confirm_password: 'x'.repeat(20),
  };
  const sent = await agent.post('/account/password', fields);
  match(sent.location ?? '', /\/oauth2\/authorize\?/);
  const first = await agent.follow(await agent.get('/account'));
  // With the password of before: it was not changed.
  await enrolPhone(app, agent, first, user.username);
  equal((await agent.get('/account')).status, 200);
});

test('session from before MFA was required: the Admin UI asks for the second step', async () => {
  const admin = await person({ role: 'admin' });
  await change(app, { mfa_mode: 'optional' });
  const agent = new Agent(app);
  const login = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(login, { username: admin.username, password: PASSWORD })).status, 200);
  const form = await agent.get('/admin/groups/new');
  equal(form.status, 200);
  await change(app, { mfa_mode: 'required' });
  for (const path of ['/admin', '/admin/users', '/admin/settings/sign-in'])
    match((await agent.get(path)).location ?? '', /\/oauth2\/authorize\?client_id=latchkey-admin/, path);
  const sent = await agent.post('/admin/groups/new', { ...hiddenFields(form.body), name: 'made-by-attack' });
  equal(sent.status, 303);
  equal((await app.admin('GET', '/groups?search=made-by-attack')).body.data.total, 0);
  const first = await agent.follow(await agent.get('/admin'));
  await enrolPhone(app, agent, first, admin.username);
  equal((await agent.get('/admin/users')).status, 200);
});

test('trusted device: replaces the second step once per session, not per client', async () => {
  const user = await person();
  const { agent, phone } = await withPhone(user.username);
  for (const mfa_mode of ['required', 'optional'] as const) {
    await agent.get('/oauth2/logout');
    await change(app, { mfa_mode });
    const login = await agent.authorize(codeRequest(client.id));
    let page = await agent.submit(login, { username: user.username, password: PASSWORD });
    if (mfa_mode === 'required' && !hasCode(page)) {
      // The first time this browser becomes a trusted one, the second time it is.
      page = await agent.submit(page, { code: phone.code(), method: 'totp', trust_device: 'on' });
      await agent.get('/oauth2/logout');
      const again = await agent.authorize(codeRequest(client.id));
      page = await agent.submit(again, { username: user.username, password: PASSWORD });
    }
    ok(hasCode(page), `${mfa_mode}: the device is trusted`);
    // R103: a factor that was skipped is not reported.
    const amrs = (await sessionsOf(app, user.id)).filter(({ is_active }) => is_active).map(({ amr }) => amr);
    deepEqual(amrs, [['pwd']]);
    await change(app, { mfa_mode: 'required' });
    deepEqual([await silently(agent), await silently(agent, partner.id)], ['code', 'code'], mfa_mode);
    equal((await agent.get('/account')).status, 200, mfa_mode);
  }
});

test('session of an earlier version: evaluated by its recorded methods', async () => {
  const sessions = app.store.ephemeral(oidcSessions);
  const forgetTimes = async (accountId: string): Promise<void> => {
    for (const { id, value, version } of await sessions.findBy('account', accountId)) {
      const { methodTimes: _, ...old } = value;
      await sessions.replace(id, version, old, { expiresAt: app.now() + 3_600_000 });
    }
  };
  const [weak, strong] = [await person(), await person()];
  const { agent: complete } = await withPhone(strong.username);
  const agent = await fromBefore(weak);
  await Promise.all([forgetTimes(weak.id), forgetTimes(strong.id)]);
  await change(app, { mfa_mode: 'required' });
  deepEqual([await silently(agent), await silently(complete)], ['login_required', 'code']);
});

test('session from before MFA was required: approves no device', async () => {
  const grant = 'urn:ietf:params:oauth:grant-type:device_code';
  const television = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: [grant],
    response_types: [],
    redirect_uris: [],
  });
  const user = await person();
  const agent = await fromBefore(user);
  await change(app, { mfa_mode: 'required' });
  const asked = await postForm(app, '/oauth2/device_authorization', { client_id: television.id });
  const form = await agent.get('/oauth2/device');
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.body) ?? [];
  const question = await agent.post('/oauth2/device', { xsrf, user_code: String(asked.body.user_code) });
  const page = await agent.submit(question, { confirm: 'yes' });
  match(page.body, /name="password"/);
  const fields = { grant_type: grant, device_code: String(asked.body.device_code) };
  equal((await requestTokens(app, television, fields)).body.error, 'authorization_pending');
  await enrolPhone(app, agent, page, user.username);
});
