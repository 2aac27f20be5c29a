// Session management (OIDC Session Management 1.0, decision 0026) over HTTP: the answer's `session_state`, the cookie without
// authority, and the one page that may be framed, by registered origins alone.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { bearer, call, change, introspect, sessionsOf, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');
await change(app, { legacy_profiles: true });
const client = await app.register({ profile: 'legacy', redirect_uris: [REDIRECT_URI] });
const modern = await app.register({ redirect_uris: ['https://modern.example/cb'] });
const NAME = 'latchkey_browser_state';
const FRAME = '/oauth2/check_session';
const ORIGIN = 'https://rp.example';

const stateIn = (agent: Agent): string | undefined =>
  new RegExp(`${NAME}=([^;]*)`).exec(agent.cookiesFor('/'))?.[1];

const sha = (text: string): string => createHash('sha256').update(text).digest('base64url');
const frame = (headers: Record<string, string>, path = FRAME) => call(app, 'GET', path, { headers });

test('session_state: computed from application, origin and cookie, as the specification has it', async () => {
  const agent = new Agent(app);
  const { response } = await agent.signIn(client.id, alice);
  const given = response.get('session_state') ?? '';
  const salt = given.split('.')[1];
  equal(given, `${sha(`${client.id} ${ORIGIN} ${stateIn(agent)} ${salt}`)}.${salt}`);
  const again = await agent.signIn(client.id, alice);
  notEqual(again.response.get('session_state'), given);
  // Another application's sign-in in the same session changes nothing.
  const before = stateIn(agent);
  const { response: plain } = await agent.signIn(modern.id, alice, {
    redirect_uri: 'https://modern.example/cb',
  });
  deepEqual([plain.has('session_state'), stateIn(agent)], [false, before]);
});

test('browser state: changes with the session, cleared where there is none', async () => {
  const agent = new Agent(app);
  await agent.signIn(client.id, alice);
  const first = stateIn(agent);
  ok(first);
  await agent.get('/oauth2/logout');
  equal(stateIn(agent), undefined);
  await agent.signIn(client.id, bob);
  notEqual(stateIn(agent), first);
  // Ended from elsewhere: the next silent request finds out.
  const [session] = await sessionsOf(app, bob.id);
  equal((await app.admin('DELETE', `/sessions/${session?.id}`)).status, 204);
  const { location } = await agent.authorize({ ...codeRequest(client.id), prompt: 'none' });
  equal(new URL(location ?? '').searchParams.get('error'), 'login_required');
  equal(stateIn(agent), undefined);
});

test('attack: the cookie is no session, opens nothing and says nothing of the session', async () => {
  const agent = new Agent(app);
  await agent.signIn(client.id, alice);
  const value = stateIn(agent) ?? '';
  const [session] = await sessionsOf(app, alice.id);
  ok(
    !JSON.stringify(session).includes(value) &&
      !agent.cookiesFor('/').replace(`${NAME}=${value}`, '').includes(value),
  );
  const thief = new Agent(app);
  thief.plant(`${NAME}=${value}; latchkey_session=${value}`);
  const page = await thief.authorize({ ...codeRequest(client.id), prompt: 'none' });
  equal(new URL(page.location ?? '').searchParams.get('error'), 'login_required');
  equal((await thief.get('/account')).status, 303);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(value) })).status, 401);
  equal((await introspect(app, value)).text, '{"active":false}');
  // A planted one is replaced, and what it carried is gone.
  const victim = new Agent(app);
  victim.plant(`${NAME}=planted~${'m'.repeat(16)}~%0d%0a`);
  await victim.signIn(client.id, alice);
  match(stateIn(victim) ?? '', /^[\w-]{43}$/);
});

test('the frame: for the origin of an application with the profile, and no other', async () => {
  const allowed = await frame({ referer: `${ORIGIN}/` });
  equal(allowed.status, 200);
  const policy = allowed.headers.get('content-security-policy') ?? '';
  match(policy, /frame-ancestors https:\/\/rp\.example;/);
  deepEqual(
    [allowed.headers.get('x-frame-options'), allowed.headers.get('cache-control')],
    [null, 'no-store'],
  );
  match(allowed.headers.get('vary') ?? '', /referer/i);
  equal(allowed.headers.get('set-cookie'), null);
  for (const referer of [
    undefined,
    '',
    'https://evil.example/',
    'https://rp.example.evil.example/',
    'https://rp.example@evil.example/',
    'http://rp.example/',
    'https://rp.example:444/',
    'https://modern.example/',
    'https://rp.example;script-src/',
    'null',
    'data:text/html,https://rp.example/',
    app.url,
  ]) {
    const refused = await frame(referer === undefined ? {} : { referer });
    deepEqual([refused.status, refused.headers.get('x-frame-options')], [403, 'DENY'], String(referer));
    match(refused.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  }
  const posted = await call(app, 'POST', FRAME, { headers: { referer: `${ORIGIN}/` } });
  deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET']);
  // No other page of ours is framed by it.
  for (const path of ['/oauth2/login', '/account', '/admin', '/oauth2/check_session/']) {
    const page = await frame({ referer: `${ORIGIN}/` }, path);
    equal(page.headers.get('x-frame-options'), 'DENY', path);
  }
});

test('the frame: gone with an inactive application, its profile, or the setting', async () => {
  const status = async () => (await frame({ referer: `${ORIGIN}/` })).status;
  equal((await app.admin('PATCH', `/clients/${client.id}`, { is_active: false })).status, 200);
  equal(await status(), 403);
  equal((await app.admin('PATCH', `/clients/${client.id}`, { is_active: true, profile: null })).status, 200);
  equal(await status(), 403);
  equal((await app.admin('PATCH', `/clients/${client.id}`, { profile: 'legacy' })).status, 200);
  equal(await status(), 200);
  const on = await call(app, 'GET', '/.well-known/openid-configuration');
  equal(on.body.check_session_iframe, `${app.url}${FRAME}`);
  await change(app, { legacy_profiles: false });
  equal(await status(), 404);
  equal((await call(app, 'POST', FRAME)).status, 404);
  const agent = new Agent(app);
  const { response } = await agent.signIn(client.id, alice);
  deepEqual([response.has('session_state'), stateIn(agent)], [false, undefined]);
  await change(app, { legacy_profiles: true });
});

test('keycloak-js: its frame for its applications, and cookies only in frames of the same site', async () => {
  const realm = '/realms/any/protocol/openid-connect';
  const referer = 'https://keycloak.example/';
  await app.register({ profile: 'legacy', keycloak_tokens: true, redirect_uris: [`${referer}cb`] });
  equal((await frame({ referer }, `${realm}/login-status-iframe.html`)).status, 200);
  equal((await frame({ referer: `${ORIGIN}/` }, `${realm}/login-status-iframe.html`)).status, 403);
  const step = (site: string) => frame({ referer, 'sec-fetch-site': site }, `${realm}/3p-cookies/step1.html`);
  // Node's fetch writes its own Sec-Fetch headers over some; what counts is that anything but "same" is a no.
  ok((await step('cross-site')).text.includes("'unsupported'"));
});

test('https: the cookie goes to frames of other sites, and to https alone', async () => {
  await withApp({ env: { BASE_URL: 'https://id.example' } }, async (secure) => {
    await change(secure, { legacy_profiles: true });
    const rp = await secure.register({ profile: 'legacy', redirect_uris: [REDIRECT_URI] });
    await secure.createUser('alice');
    const agent = new Agent(secure, { publicUrl: 'https://id.example' });
    await agent.signIn(rp.id, alice);
    const { headers } = await agent.authorize(codeRequest(rp.id));
    const [cookie = ''] = headers.getSetCookie().filter((line) => line.includes(NAME));
    match(cookie, /^__Secure-latchkey_browser_state=[\w-]{43}; path=\/; samesite=none; secure$/i);
  });
});
