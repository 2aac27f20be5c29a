// Front-channel logout (OIDC Front-Channel Logout 1.0, decision 0026): the page after the sign-out tells applications in frames.
// And what it must not open: other origins, other applications, frames before the session has ended.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { bearer, call, change, claimsOf, tokensOf, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const BACK = 'https://rp.example/bye';
const OUT = 'https://rp.example/out?tenant=1';
await change(app, { legacy_profiles: true });
const client = await app.register({
  redirect_uris: [REDIRECT_URI],
  post_logout_redirect_uris: [BACK],
  frontchannel_logout_uri: OUT,
  frontchannel_logout_session_required: true,
});
const silent = await app.register({ post_logout_redirect_uris: [BACK] });

const unescaped = (text: string): string => text.replaceAll('&amp;', '&');
const framesIn = (page: Page): string[] =>
  [...page.body.matchAll(/<iframe[^>]* src="([^"]*)"/g)].map(([, src = '']) => unescaped(src));
const logout = (agent: Agent, parameters: Record<string, string> = {}): Promise<Page> =>
  agent.get(`/oauth2/logout?${new URLSearchParams(parameters)}`);

async function signedIn(...clients: { id: string; secret: string }[]) {
  const agent = new Agent(app);
  const tokens: Awaited<ReturnType<typeof tokensOf>>[] = [];
  for (const one of clients) tokens.push(await tokensOf(app, one, alice, {}, agent));
  return { agent, tokens };
}

test('sign-out: the frame has issuer and session, the session has ended, the page goes on', async () => {
  const { agent, tokens } = await signedIn(client, silent);
  const [{ id_token: hint = '', access_token: token = '' } = {}] = tokens;
  const page = await logout(agent, { id_token_hint: hint, post_logout_redirect_uri: BACK, state: 'x' });
  equal(page.status, 200);
  const [frame = '', ...others] = framesIn(page);
  deepEqual(others, []);
  const url = new URL(frame);
  deepEqual(
    [url.origin, url.pathname, Object.fromEntries(url.searchParams)],
    ['https://rp.example', '/out', { tenant: '1', iss: app.issuer, sid: claimsOf(hint).sid }],
  );
  match(page.body, /<iframe[^>]* sandbox="allow-scripts allow-same-origin" referrerpolicy="no-referrer"/);
  const policy = page.headers.get('content-security-policy') ?? '';
  match(policy, /(?:^|; )frame-src https:\/\/rp\.example(?:;|$)/);
  match(policy, /frame-ancestors 'none'/);
  const [, refresh = ''] = /<meta http-equiv="refresh" content="([^"]*)"/.exec(page.body) ?? [];
  equal(unescaped(refresh), `2; url=${BACK}?state=x`);
  equal((await userinfo(app, token)).status, 401);
  // Once: the session is gone, and nobody is told again.
  deepEqual(framesIn(await logout(agent)), []);
});

test('sign-out without an address to return to: the frames are on the page that stays', async () => {
  const { agent } = await signedIn(client);
  const page = await logout(agent);
  deepEqual([page.status, framesIn(page).length], [200, 1]);
  ok(!page.body.includes('http-equiv="refresh"'));
});

test('sign-out: no frame of applications not signed in to, inactive or without address', async () => {
  const gone = await app.register({ frontchannel_logout_uri: 'https://rp.example/gone' });
  const { agent, tokens } = await signedIn(silent);
  const [{ id_token: hint = '' } = {}] = tokens;
  const page = await logout(agent, { id_token_hint: hint, post_logout_redirect_uri: BACK });
  deepEqual([page.status, page.location], [303, BACK]);
  const second = await signedIn(silent, gone);
  equal((await app.admin('PATCH', `/clients/${gone.id}`, { is_active: false })).status, 200);
  deepEqual(framesIn(await logout(second.agent)), []);
});

test('attack: a program or a subresource gets no frames, and a wrong request none either', async () => {
  const { tokens, agent } = await signedIn(client);
  const [{ id_token: hint = '', access_token: token = '' } = {}] = tokens;
  const framed = await agent.get('/oauth2/logout', {
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' },
  });
  deepEqual([framed.status, framesIn(framed)], [403, []]);
  equal((await userinfo(app, token)).status, 200);
  const program = await call(app, 'GET', `/oauth2/logout?${new URLSearchParams({ id_token_hint: hint })}`);
  ok(!program.text.includes('<iframe'));
});

test('attack: a frame on another origin than the redirect URIs, or with another scheme', async () => {
  for (const uri of [
    'https://evil.example/out',
    'http://rp.example/out',
    'https://rp.example:8443/out',
    'https://rp.example.evil.example/out',
    'https://rp.example@evil.example/out',
    'https://user:secret@rp.example/out',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://rp.example/out\'"><script>',
    'https://rp.example/out#fragment',
    'https://[::1]/out',
    '/out',
  ]) {
    const { status, body } = await app.admin('PATCH', `/clients/${client.id}`, {
      frontchannel_logout_uri: uri,
    });
    const fields = Object.keys(body.error?.fields ?? {});
    deepEqual([status, fields], [400, ['frontchannel_logout_uri']], uri);
  }
  // Once registered, it goes with the redirect URI that it belonged to.
  const moved = await app.register({
    frontchannel_logout_uri: 'https://rp.example/out',
    redirect_uris: [REDIRECT_URI],
  });
  const { agent } = await signedIn(moved);
  const elsewhere = { redirect_uris: ['https://other.example/cb'] };
  equal((await app.admin('PATCH', `/clients/${moved.id}`, elsewhere)).status, 400);
  await change(app, { legacy_profiles: false });
  equal((await app.admin('PATCH', `/clients/${moved.id}`, elsewhere)).status, 200);
  await change(app, { legacy_profiles: true });
  deepEqual(framesIn(await logout(agent)), []);
});

test('attack: native and admin applications and ordinary registrants have no frames', async () => {
  const uri = 'https://rp.example/out';
  const native = { application_type: 'native', token_endpoint_auth_method: 'none' };
  for (const metadata of [native, { scope: 'openid admin' }]) {
    const { status, body } = await app.admin('POST', '/clients', {
      redirect_uris: [REDIRECT_URI],
      frontchannel_logout_uri: uri,
      ...metadata,
    });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['frontchannel_logout_uri']]);
  }
  for (const change of [{ application_type: 'native' }, { scope: 'openid admin' }]) {
    const { status } = await app.admin('PATCH', `/clients/${client.id}`, change);
    equal(status, 400, JSON.stringify(change));
  }
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'ordinary', uses: 2 });
  const register = (metadata: object) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { ...bearer(String(body.data.token)), 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...metadata }),
    });
  const made = await register({ frontchannel_logout_uri: uri });
  deepEqual([made.status, made.body.frontchannel_logout_uri], [201, undefined]);
  // What an administrator gave it, it may keep and not change.
  const path = `/clients/${made.body.client_id}`;
  equal((await app.admin('PATCH', path, { frontchannel_logout_uri: uri })).status, 200);
  const put = (to: string) =>
    call(app, 'PUT', `/oauth2/register/${made.body.client_id}`, {
      headers: { ...bearer(String(made.body.registration_access_token)), 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: made.body.client_id,
        redirect_uris: [REDIRECT_URI],
        frontchannel_logout_uri: to,
      }),
    });
  equal((await put(uri)).body.frontchannel_logout_uri, uri);
  equal((await put('https://rp.example/else')).body.frontchannel_logout_uri, undefined);
});

test('setting off: a sign-out is the redirect that it was, and discovery says so', async () => {
  const { agent, tokens } = await signedIn(client);
  const [{ id_token: hint = '' } = {}] = tokens;
  const on = await call(app, 'GET', '/.well-known/openid-configuration');
  deepEqual(
    [on.body.frontchannel_logout_supported, on.body.frontchannel_logout_session_supported],
    [true, true],
  );
  await change(app, { legacy_profiles: false });
  const page = await logout(agent, { id_token_hint: hint, post_logout_redirect_uri: BACK });
  deepEqual([page.status, page.location, framesIn(page)], [303, BACK, []]);
  const off = await call(app, 'GET', '/.well-known/openid-configuration');
  ok(!('frontchannel_logout_supported' in off.body));
  const refused = await app.admin('PATCH', `/clients/${client.id}`, { frontchannel_logout_uri: `${OUT}&x` });
  match(refused.body.error?.fields?.frontchannel_logout_uri ?? '', /legacy_profiles/);
});
