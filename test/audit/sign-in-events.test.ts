// Attack: a password alone, found or guessed, reads as a sign-in in the log. A logged sign-in was complete, by whichever way,
// with client, factors, address and device.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PASSWORD_GRANT } from '../attacks/sign-in-form.ts';
import { Agent, codeRequest, type Page, requestTokens } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { enrol, goOn, openSignIn, originOf, usePasskey } from '../support/passkeys.ts';
import { enrolPhone, type Phone } from '../support/phone.ts';

let app: TestApp;
let client: { id: string; secret: string };
before(async () => {
  app = await startApp({ store: 'sqlite' });
  client = await app.register();
});
after(() => app.stop());

type Shown = Record<string, unknown>;
type Person = { readonly id: string; readonly username: string };

/** Of the event, the latest first. */
async function events(user: Person, event: string): Promise<Shown[]> {
  const parameters = new URLSearchParams({ event, target_id: user.id });
  const { status, body } = await app.admin('GET', `/audit?${parameters}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.items ?? [];
}
const namesOf = async (user: Person): Promise<unknown[]> => {
  const { body } = await app.admin('GET', `/audit?order=asc&sort=id&limit=1000&target_id=${user.id}`);
  return (body.data.items ?? [])
    .map(({ event }) => event)
    .filter((name) => /^(?:signin|mfa|passkey)\./.test(String(name)));
};
const lastLogin = async (user: Person): Promise<unknown> =>
  (await app.admin('GET', `/users/${user.id}`)).body.data.last_login_at;
const signInsInCharts = async (): Promise<number> => {
  app.advance(120_000);
  const { body } = await app.admin('GET', '/stats');
  const hours: unknown = body.data.hours;
  assert.ok(Array.isArray(hours));
  return hours.reduce((sum: number, hour) => sum + Number(Object(hour).sign_ins), 0);
};
const isSignedIn = ({ location }: Page): boolean => location?.includes('code=') === true;
const detailsOf = (event: Shown | undefined): Shown => Object(event?.details);

const request = (parameters: Record<string, string> = {}) => ({ ...codeRequest(client.id), ...parameters });
const withPassword = async (agent: Agent, { username }: Person, parameters = {}): Promise<Page> =>
  agent.submit(await agent.authorize(request(parameters)), { username, password: PASSWORD });

async function phoneOf(user: Person): Promise<Phone> {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const agent = new Agent(app);
  const { phone, last } = await enrolPhone(app, agent, await agent.authorize(request()), user.username);
  assert.ok(isSignedIn(last));
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  return phone;
}

test('password sign-in: one event with client, factors, address and device', async () => {
  const user = await app.createUser('plain');
  assert.ok(isSignedIn(await withPassword(new Agent(app), user)));
  assert.deepEqual(await namesOf(user), ['signin.success']);
  const [event] = await events(user, 'signin.success');
  assert.deepEqual(
    [event?.client_id, event?.actor_id, event?.ip_address, event?.outcome],
    [client.id, user.id, '127.0.0.1', 'success'],
  );
  assert.ok(event?.user_agent && event.request_id);
  assert.deepEqual(event?.details, { amr: ['pwd'], methods: ['password'] });
  assert.ok(await lastLogin(user));
});

test('attack: a stolen password without the second factor is logged as accepted, not signed in', async () => {
  const user = await app.createUser('guarded');
  const phone = await phoneOf(user);
  const [enrolled] = await events(user, 'signin.success');
  const [loginBefore, chartBefore] = [await lastLogin(user), await signInsInCharts()];
  const thief = new Agent(app);
  const asked = await withPassword(thief, user);
  assert.equal(asked.location, undefined);
  assert.equal((await thief.submit(asked, { code: '000000', method: 'totp' })).status, 401);
  assert.deepEqual([await lastLogin(user), await signInsInCharts()], [loginBefore, chartBefore]);
  assert.equal((await events(user, 'signin.success'))[0]?.id, enrolled?.id);
  const [accepted] = await events(user, 'signin.password_accepted');
  assert.deepEqual(
    [accepted?.client_id, accepted?.actor_kind, accepted?.ip_address],
    [client.id, 'anonymous', '127.0.0.1'],
  );
  assert.deepEqual(detailsOf(accepted), { amr: ['pwd'], methods: ['password'], next: 'verify' });

  const owner = new Agent(app);
  const page = await owner.submit(await withPassword(owner, user), { code: phone.code(), method: 'totp' });
  assert.ok(isSignedIn(page));
  const [complete, ...more] = await events(user, 'signin.success');
  assert.equal(more.length, 1, 'one more than at enrolment');
  assert.deepEqual(complete?.client_id, client.id);
  assert.deepEqual(detailsOf(complete), { amr: ['pwd', 'otp', 'mfa'], methods: ['password', 'totp'] });
  assert.notEqual(await lastLogin(user), loginBefore);
  assert.equal(await signInsInCharts(), chartBefore + 1);
});

test('sign-in events: every failure and factor names its client and reason', async () => {
  const user = await app.createUser('fumbles');
  const phone = await phoneOf(user);
  const agent = new Agent(app);
  const first = await agent.submit(await agent.authorize(request()), {
    username: 'fumbles',
    password: 'wrong',
  });
  const asked = await agent.submit(first, { username: 'fumbles', password: PASSWORD });
  const wrong = await agent.submit(asked, { code: '000000', method: 'totp' });
  assert.ok(isSignedIn(await agent.submit(wrong, { code: phone.code(), method: 'totp' })));
  for (const [name, reason, actor] of [
    ['signin.failure', 'wrong', null],
    ['mfa.failure', 'code_wrong', null],
    ['mfa.success', null, user.id],
  ] as const) {
    const [event] = await events(user, name);
    assert.deepEqual([event?.client_id, event?.reason, event?.actor_id], [client.id, reason, actor], name);
  }
});

test('consent: a denial is an event', async () => {
  const asking = await app.register({ skip_consent: false });
  const user = await app.createUser('refuses');
  const agent = new Agent(app);
  const page = await agent.submit(await agent.authorize({ ...request(), client_id: asking.id }), {
    username: user.username,
    password: PASSWORD,
  });
  await agent.submit(page, { action: 'deny' });
  const [event] = await events(user, 'consent.refused');
  assert.deepEqual([event?.client_id, event?.actor_id], [asking.id, user.id]);
});

test('session: a second client is no sign-in; a step-up is an event of its own', async () => {
  const user = await app.createUser('raised');
  const phone = await phoneOf(user);
  const agent = new Agent(app);
  assert.ok(
    isSignedIn(await agent.submit(await withPassword(agent, user), { code: phone.code(), method: 'totp' })),
  );
  const before = await namesOf(user);
  const other = await app.register();
  assert.ok(isSignedIn(await agent.authorize({ ...request(), client_id: other.id })));
  assert.deepEqual(await namesOf(user), before);
  // Asked again by the application: all of it is given again.
  const again = await withPassword(agent, user, { prompt: 'login' });
  assert.ok(isSignedIn(await agent.submit(again, { code: phone.code(), method: 'totp' })));
  assert.equal(detailsOf((await events(user, 'signin.success'))[0]).is_again, true);
  assert.deepEqual(await events(user, 'signin.stepped_up'), []);
});

test('step-up: a code in a password session is signin.stepped_up, not a sign-in', async () => {
  const user = await app.createUser('steps-up');
  const phone = await phoneOf(user);
  await app.admin('PATCH', '/settings', { mfa_mode: 'off' });
  const agent = new Agent(app);
  assert.ok(isSignedIn(await withPassword(agent, user)));
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  const before = await events(user, 'signin.success');
  const asked = await agent.authorize(request({ acr_values: 'urn:latchkey:acr:multi-factor' }));
  const page = await agent.submit(await agent.follow(asked), { code: phone.code(), method: 'totp' });
  assert.ok(isSignedIn(page), page.body.slice(0, 500));
  assert.equal((await events(user, 'signin.success')).length, before.length);
  const [stepped] = await events(user, 'signin.stepped_up');
  assert.deepEqual([stepped?.client_id, stepped?.actor_id], [client.id, user.id]);
  assert.deepEqual(detailsOf(stepped).methods, ['totp']);
});

test('passkey sign-in: one sign-in event beside the passkey event', async () => {
  const user = await app.createUser('keyholder');
  const key = new Authenticator({ origin: originOf(app) });
  await enrol(new Agent(app), client, user, key);
  const before = (await events(user, 'signin.success')).length;
  const agent = new Agent(app);
  assert.ok(isSignedIn(await goOn(agent, await usePasskey(agent, await openSignIn(agent, client), key))));
  const all = await events(user, 'signin.success');
  assert.equal(all.length, before + 1);
  assert.deepEqual([all[0]?.client_id, detailsOf(all[0]).methods], [client.id, ['passkey']]);
});

test('password grant: a sign-in event, unless refused after the password', async () => {
  const old = await app.register(PASSWORD_GRANT);
  const user = await app.createUser('by-program');
  const grant = (of: { id: string; secret: string }) =>
    requestTokens(app, of, {
      grant_type: 'password',
      username: user.username,
      password: PASSWORD,
      scope: 'openid',
    });
  assert.equal((await grant(old)).status, 200);
  const [event, ...more] = await events(user, 'signin.success');
  assert.deepEqual([event?.client_id, detailsOf(event).methods, more.length], [old.id, ['password'], 0]);
  await app.admin('POST', '/groups', { name: 'few' });
  const closed = await app.register({ ...PASSWORD_GRANT, allowed_groups: ['few'] });
  assert.equal((await grant(closed)).status, 400);
  assert.equal((await events(user, 'signin.success')).length, 1);
  const [refused] = await events(user, 'signin.password_accepted');
  assert.deepEqual([refused?.client_id, detailsOf(refused).next], [closed.id, 'refused']);
});
