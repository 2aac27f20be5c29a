// The plans Back-channel, Front-channel and Session Management of the OpenID Foundation's suite, one row per distinct behaviour. What
// the suite's page asks of the frame between windows is tested in Chromium (test/browser/session-management.test.ts).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { call, change, claimsOf, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';

const receiver = await startReceiver();
const app = await startApp({ store: 'sqlite', env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` } });
after(async () => {
  await app.stop();
  receiver.close();
});
await change(app, { legacy_profiles: true });
const BYE = 'https://rp.example/bye';
const person = await app.createUser('connie');
const register = (metadata: object) =>
  app.register({ skip_consent: true, post_logout_redirect_uris: [BYE], ...metadata });
const backChannel = await register({
  backchannel_logout_uri: `http://127.0.0.1:${receiver.port}/backchannel_logout`,
  backchannel_logout_session_required: true,
});
const frontChannel = await register({
  frontchannel_logout_uri: 'https://rp.example/frontchannel_logout',
  frontchannel_logout_session_required: true,
});
const watching = await register({ profile: 'legacy', redirect_uris: [REDIRECT_URI] });

for (const [plan, members] of [
  ['backchannel', { backchannel_logout_supported: true, backchannel_logout_session_supported: true }],
  ['frontchannel', { frontchannel_logout_supported: true, frontchannel_logout_session_supported: true }],
  ['session-management', { check_session_iframe: `${app.url}/oauth2/check_session` }],
] as const)
  test(`oidcc-${plan}-discovery-endpoint-verification`, async () => {
    const { body } = await call(app, 'GET', '/oauth2/.well-known/openid-configuration');
    deepEqual(Object.fromEntries(Object.keys(members).map((name) => [name, body[name]])), members);
    equal(body.end_session_endpoint, `${app.url}/oauth2/logout`);
  });

/** Signs in, and leaves with the hint and an address to return to, as each plan's module does. */
async function leave(client: typeof backChannel): Promise<{ page: Page; idToken: string; token: string }> {
  const agent = new Agent(app);
  const { id_token: idToken, access_token: token } = await tokensOf(app, client, person, {}, agent);
  const query = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: 's' };
  const page = await agent.get(`/oauth2/logout?${new URLSearchParams(query)}`);
  equal((await userinfo(app, token)).status, 401);
  return { page, idToken, token };
}

test('oidcc-backchannel-rp-initiated-logout: a signed logout token with sub, sid and jti', async () => {
  const { page, idToken } = await leave(backChannel);
  equal(page.location, `${BYE}?state=s`);
  // The application that sent the user is told last, when the browser is back there (logout-deliveries.ts).
  app.advance(15_000);
  await app.app.jobs.tick();
  const [delivery] = receiver.received;
  const token = new URLSearchParams(delivery?.body).get('logout_token') ?? '';
  const keys = createLocalJWKSet(JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text));
  const expected = { issuer: app.issuer, audience: backChannel.id, typ: 'logout+jwt' };
  const { payload } = await jwtVerify(token, keys, expected);
  deepEqual(
    [payload.sub, payload.sid, typeof payload.jti, payload.nonce, payload.events],
    [
      person.id,
      claimsOf(idToken).sid,
      'string',
      undefined,
      { 'http://schemas.openid.net/event/backchannel-logout': {} },
    ],
  );
});

test('oidcc-frontchannel-rp-initiated-logout: a frame with iss and sid, then the address', async () => {
  const { page, idToken } = await leave(frontChannel);
  const [, frame = ''] = /<iframe[^>]* src="([^"]*)"/.exec(page.body) ?? [];
  const { pathname, searchParams } = new URL(frame.replaceAll('&amp;', '&'));
  deepEqual(
    [pathname, searchParams.get('iss'), searchParams.get('sid')],
    ['/frontchannel_logout', app.issuer, claimsOf(idToken).sid],
  );
  match(page.body, /<meta http-equiv="refresh" content="2; url=https:\/\/rp\.example\/bye\?state=s"/);
});

test('oidcc-session-management-rp-initiated-logout: session_state is another afterwards', async () => {
  const agent = new Agent(app);
  const { response } = await agent.signIn(watching.id, person);
  const before = response.get('session_state') ?? '';
  match(before, /^[\w-]+\.[\w-]+$/);
  const frame = await agent.get('/oauth2/check_session', { headers: { referer: REDIRECT_URI } });
  deepEqual([frame.status, frame.headers.get('x-frame-options')], [200, null]);
  await agent.get('/oauth2/logout');
  const silent = await agent.authorize({ ...codeRequest(watching.id), prompt: 'none' });
  const answer = new URL(silent.location ?? '').searchParams;
  deepEqual([answer.get('error'), answer.has('session_state')], ['login_required', false]);
  const { response: again } = await agent.signIn(watching.id, person);
  ok(again.has('session_state') && again.get('session_state') !== before);
});
