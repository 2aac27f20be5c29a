// Agents (decision 0026, setting `agents`): registered without a token, asked for consent, signed in, changed, forgotten.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { type Answer, bearer, call, change, claimsOf, isActive, type Json, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('alice', { email: 'alice@example.com' });
await change(app, { agents: true });

const LOOPBACK = 'http://127.0.0.1:33418/callback';
const asked = { client_name: 'Notes agent', redirect_uris: [LOOPBACK], application_type: 'native' };

const register = (metadata: Json = asked, to = app, headers = {}): Promise<Answer> =>
  call(to, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(metadata),
  });

const idOf = ({ body }: Answer): string => String(body.client_id);
const manage = (client: Json, method: string, body?: Json): Promise<Answer> =>
  call(app, method, new URL(String(client.registration_client_uri)).pathname, {
    headers: { ...bearer(String(client.registration_access_token)), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

const VERIFIER = 'v'.repeat(43);
const ask = (agent: Agent, clientId: string, more: Record<string, string> = {}) =>
  agent.authorize({
    client_id: clientId,
    redirect_uri: LOOPBACK,
    response_type: 'code',
    scope: 'openid profile',
    state: 's',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...more,
  });

const codeIn = (location: string | undefined): string =>
  new URL(location ?? 'https://none.example').searchParams.get('code') ?? '';

/** With the redirect URI of these tests. */
async function tokensFor(id: string, location: string | undefined) {
  const response = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: id,
      redirect_uri: LOOPBACK,
      code: codeIn(location),
      code_verifier: VERIFIER,
    }),
  });
  const body: Json = Object(await response.json());
  equal(response.status, 200, JSON.stringify(body));
  return { access: String(body.access_token), refresh: String(body.refresh_token), scope: body.scope };
}

test('agents off: no registration_endpoint, registration needs a token, no CORS', async () => {
  await withApp({}, async (off) => {
    const { body } = await call(off, 'GET', '/oauth2/.well-known/openid-configuration');
    equal(body.registration_endpoint, undefined);
    const answer = await register(asked, off, { origin: 'https://inspector.example' });
    deepEqual([answer.status, answer.body.error], [401, 'invalid_token']);
    equal(answer.headers.get('access-control-allow-origin'), null);
  });
});

test('agents on: registration_endpoint is announced, any origin may register', async () => {
  const { body } = await call(app, 'GET', '/oauth2/.well-known/openid-configuration');
  equal(body.registration_endpoint, `${app.url}/oauth2/register`);
  const answer = await register(asked, app, { origin: 'https://inspector.example' });
  equal(answer.status, 201, answer.text);
  equal(answer.headers.get('access-control-allow-origin'), 'https://inspector.example');
  equal(answer.headers.get('access-control-allow-credentials'), null);
  equal((await register(asked, app, bearer('guessed'))).status, 401, 'a wrong token is no missing one');
});

test('open registration: what an agent asks for is replaced by what it may have', async () => {
  const { status, body } = await register({
    ...asked,
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    scope: 'openid email roles groups admin mcp:tools',
    logo_uri: 'https://bank.example/logo.png',
    post_logout_redirect_uris: ['https://evil.example/'],
    backchannel_logout_uri: 'https://evil.example/spam',
  });
  equal(status, 201, JSON.stringify(body));
  deepEqual(
    [body.token_endpoint_auth_method, body.grant_types, body.scope, body.client_secret, body.require_pkce],
    ['none', ['authorization_code', 'refresh_token'], 'openid email', undefined, true],
  );
  for (const name of ['logo_uri', 'post_logout_redirect_uris', 'backchannel_logout_uri'])
    ok(!Object.hasOwn(body, name), name);
  const shown = await app.admin('GET', `/clients/${String(body.client_id)}`);
  deepEqual([shown.body.data.quarantine, shown.body.data.origin], ['registration', 'registration']);
});

const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback';
const withoutType: readonly (readonly [readonly string[], string | undefined])[] = [
  [['http://localhost:8787/callback', 'http://127.0.0.1/', 'http://[::1]:1/cb'], 'native'],
  [[CURSOR], 'native'],
  [['http://localhost:8787/callback', CURSOR, 'https://www.cursor.com/agents/mcp/oauth/callback'], 'native'],
  [['https://agent.example/cb', 'http://localhost:8787/callback'], 'web'],
  [['http://app.localhost:8787/callback'], 'web'],
  [['cursor://anysphere.cursor-mcp/oauth/callback2'], undefined],
  [['cursor://evil/anysphere.cursor-mcp/oauth/callback'], undefined],
  [[`${CURSOR}?x=y`], undefined],
  [['Cursor://anysphere.cursor-mcp/oauth/callback'], undefined],
  [['vscode://anysphere.cursor-mcp/oauth/callback'], undefined],
];
for (const [redirect_uris, type] of withoutType)
  test(`open registration without a type: ${redirect_uris.at(-1)}`, async () => {
    const { status, body } = await register({ client_name: 'Editor', redirect_uris });
    deepEqual([status, body.application_type], [type === undefined ? 400 : 201, type], JSON.stringify(body));
    if (type === undefined) return;
    const sent = redirect_uris[0]?.replace(/:\d+\//, ':50123/') ?? '';
    const { status: answered } = await ask(new Agent(app), String(body.client_id), { redirect_uri: sent });
    // Any port for programs on the device alone (RFC 8252 §7.3); a page of ours for the others.
    equal(answered === 400, type === 'web' && sent !== redirect_uris[0], sent);
  });

test('registration by a token: a public program without a type is native, others are as before', async () => {
  const loopback = { redirect_uris: ['http://localhost:8787/callback'] };
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'x', uses: 3 });
  const by = bearer(String(made.body.data.token));
  const typeOf = async (more: Json): Promise<unknown> =>
    (await register({ ...loopback, ...more }, app, by)).body.application_type;
  equal(await typeOf({ token_endpoint_auth_method: 'none' }), 'native');
  equal(await typeOf({ token_endpoint_auth_method: 'none', application_type: 'web' }), 'web');
  equal(await typeOf({}), 'web');
});

test('agent: asks for consent, gets tokens and refreshes; consent is remembered', async () => {
  const id = idOf(await register());
  const agent = new Agent(app);
  const page = await agent.submit(await ask(agent, id), { username: 'alice', password: PASSWORD });
  match(page.body, /action="\/oauth2\/consent"/);
  match(page.body, /Nothing that [\s\S]*Notes agent[\s\S]* has been verified/);
  match(page.body, /keeps this access for up to 365 days/);
  const done = await agent.submit(page, { action: 'allow' });
  const tokens = await tokensFor(id, done.location);
  equal(tokens.scope, 'openid profile');
  equal(claimsOf(tokens.access).role, undefined);
  equal((await refresh(app, { id, secret: '' }, tokens.refresh)).status, 200);
  // A native application is asked about each time, but not about its scopes.
  const again = await ask(agent, id, { prompt: 'none' });
  equal(again.location?.startsWith(LOOPBACK), true, 'after consent, errors are for the application');
});

test('agent: what it says about itself changes: grants end, and the person is asked anew', async () => {
  const made = (
    await register({ ...asked, application_type: 'web', redirect_uris: ['https://agent.example/cb'] })
  ).body;
  const id = String(made.client_id);
  const signIn = { redirect_uri: 'https://agent.example/cb' };
  const agent = new Agent(app);
  const page = await agent.submit(await ask(agent, id, signIn), { username: 'alice', password: PASSWORD });
  const done = await agent.submit(page, { action: 'allow' });
  const code = codeIn(done.location);
  ok(code);
  ok(codeIn((await ask(agent, id, signIn)).location), 'remembered');
  const second = await ask(agent, id, { ...signIn, scope: 'openid email' });
  match(second.body, /action="\/oauth2\/consent"/);
  const put = await manage(made, 'PUT', {
    client_id: id,
    client_name: 'Your bank',
    redirect_uris: ['https://agent.example/cb'],
  });
  equal(put.status, 200, put.text);
  const late = await agent.submit(second, { action: 'allow' });
  equal(late.location, undefined, 'the page had shown another name');
  doesNotMatch(late.body, /action="\/oauth2\/consent"/);
  const anew = await ask(agent, id, signIn);
  match(anew.body, /Your bank/);
  match(anew.body, /action="\/oauth2\/consent"/);
});

test('agents turned off: those that exist can do nothing, and can again when turned on', async () => {
  const id = idOf(await register());
  const agent = new Agent(app);
  const page = await agent.submit(await ask(agent, id), { username: 'alice', password: PASSWORD });
  const { access } = await tokensFor(id, (await agent.submit(page, { action: 'allow' })).location);
  equal(await isActive(app, access), true);
  await change(app, { agents: false });
  equal(await isActive(app, access), false);
  equal((await ask(new Agent(app), id)).status, 400);
  await change(app, { agents: true });
  equal(await isActive(app, access), true);
});

test('agent: gone after 30 days without use, not before', async () => {
  await withApp({}, async (own) => {
    await change(own, { agents: true });
    await own.createUser('bob');
    const unused = idOf(await register(asked, own));
    const used = idOf(await register({ ...asked, redirect_uris: ['https://rp.example/callback'] }, own));
    const vouched = await own.register();
    own.advance(20 * 86_400_000);
    const signedIn = await new Agent(own).signIn(used, { username: 'bob' });
    equal((await redeem(own, { id: used, secret: '' }, signedIn)).status, 200);
    const exists = async (id: string) => (await own.admin('GET', `/clients/${id}`)).status === 200;
    own.advance(9 * 86_400_000);
    await own.app.jobs.tick();
    equal(await exists(unused), true);
    own.advance(2 * 86_400_000);
    await own.app.jobs.tick();
    deepEqual([await exists(unused), await exists(used), await exists(vouched.id)], [false, true, true]);
    own.advance(31 * 86_400_000);
    await own.app.jobs.tick();
    deepEqual([await exists(used), await exists(vouched.id)], [false, true]);
  });
});
