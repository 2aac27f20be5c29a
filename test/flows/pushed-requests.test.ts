// Pushed authorization requests (RFC 9126): the pushed parameters count, once, for a minute, for their
// client.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, type Client, claimsOf, later, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const other = await app.register();
const alice = await app.createUser('alice');

const request = (to: Client): Record<string, string> => ({
  client_id: to.id,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  state: 'pushed',
  nonce: 'pushed',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
});

async function push(to: Client = client, more: Record<string, string> = {}): Promise<string> {
  const answer = await postForm(app, '/oauth2/par', { ...request(to), ...more }, basic(to));
  equal(answer.status, 201, answer.text);
  return String(answer.body.request_uri);
}

const open = (
  agent: Agent,
  request_uri: string,
  more: Record<string, string> = {},
  to: Client = client,
): Promise<Page> => agent.authorize({ client_id: to.id, request_uri, ...more });

const isRefused = (page: Page): boolean =>
  page.status === 400 || (page.location ?? '').includes('error=invalid_request_uri');

test('pushed request: 201, a random request_uri, one minute', async () => {
  const answer = await postForm(app, '/oauth2/par', request(client), basic(client));
  equal(answer.status, 201);
  deepEqual(Object.keys(answer.body).sort(), ['expires_in', 'request_uri']);
  match(String(answer.body.request_uri), /^urn:ietf:params:oauth:request_uri:[\w-]{32,}$/);
  equal(answer.body.expires_in, 60);
  equal(answer.headers.get('cache-control'), 'no-store');
});

test('attack: front-channel parameters override a pushed request', async () => {
  const others: Record<string, string> = {
    scope: 'openid profile email',
    redirect_uri: 'https://evil.example/',
    state: 'evil',
    nonce: 'evil',
    response_type: 'token',
    response_mode: 'fragment',
    code_challenge: challengeOf('e'.repeat(43)),
    prompt: 'none',
    claims: '{"id_token":{"email":null}}',
  };
  let isIgnoredOnce = false;
  for (const [name, value] of Object.entries(others)) {
    const agent = new Agent(app);
    const page = await open(agent, await push(), { [name]: value });
    ok(!(page.location ?? '').startsWith('https://evil.example'), name);
    if (page.status !== 200) {
      ok(page.status === 400 || (page.location ?? '').includes('error='), `${name} ${page.status}`);
      continue;
    }
    isIgnoredOnce = true;
    const callback = await agent.finish(page, alice);
    equal(callback.origin + callback.pathname, REDIRECT_URI, name);
    equal(callback.searchParams.get('state'), 'pushed', name);
    const code = callback.searchParams.get('code') ?? '';
    const { status, body } = await redeem(app, client, { code, verifier: VERIFIER });
    equal(status, 200, `${name} ${JSON.stringify(body)}`);
    deepEqual([body.scope, claimsOf(body.id_token).nonce], ['openid', 'pushed'], name);
  }
  ok(isIgnoredOnce);
});

test('pushed request: works once', async () => {
  const agent = new Agent(app);
  const uri = await push();
  ok((await agent.finish(await open(agent, uri), alice)).searchParams.get('code'));
  const again = await open(agent, uri);
  ok(isRefused(again), `${again.status} ${again.location}`);
  // Two pages opened from one address: only one of them gives a code.
  const twice = await push();
  const [left, right] = [new Agent(app), new Agent(app)];
  const [one, two] = [await open(left, twice), await open(right, twice)];
  const first = await left.submit(one, { username: 'alice', password: PASSWORD });
  const second = await right.submit(two, { username: 'alice', password: PASSWORD });
  equal([first, second].filter(({ location }) => (location ?? '').includes('code=')).length, 1);
});

test('pushed request: expires after a minute, and is bound to its client', async () => {
  const uri = await push();
  await later(61_000, async () => ok(isRefused(await open(new Agent(app), uri))));
  const theirs = await open(new Agent(app), uri, {}, other);
  ok(theirs.status === 400 || (theirs.location ?? '').includes('error='), theirs.body);
  equal((await open(new Agent(app), uri)).status, 200, 'still good for its own');
});

test('pushed request: a sign-in longer than the minute still completes', async () => {
  const agent = new Agent(app);
  const page = await open(agent, await push());
  const callback = await later(120_000, () => agent.finish(page, alice));
  ok(callback.searchParams.get('code'));
});

test('pushed request: needs the client authentication of the token endpoint', async () => {
  for (const headers of [{}, basic({ ...client, secret: 'wrong' }), basic(other)] as Record<
    string,
    string
  >[]) {
    const answer = await postForm(app, '/oauth2/par', request(client), headers);
    ok([400, 401].includes(answer.status) && !('request_uri' in answer.body), answer.text);
  }
  const bare = await app.register({ token_endpoint_auth_method: 'none' });
  equal((await postForm(app, '/oauth2/par', request(bare))).status, 201, 'a public client names itself');
});

test('pushed request: what the authorization endpoint refuses is refused, as JSON', async () => {
  const refused: readonly [Record<string, string>, string][] = [
    [{ redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'admin' }, 'invalid_scope'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'request_uri_not_supported'],
    [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    [{ prompt: 'none login' }, 'invalid_request'],
  ];
  for (const [more, error] of refused) {
    const answer = await postForm(app, '/oauth2/par', { ...request(client), ...more }, basic(client));
    deepEqual([answer.status, answer.body.error], [400, error], JSON.stringify(more));
  }
});

test('require_pushed_authorization_requests: a front-channel request is refused', async () => {
  const strict = await app.register({ require_pushed_authorization_requests: true });
  const direct = await new Agent(app).authorize(request(strict));
  match(direct.location ?? '', /error=invalid_request/);
  equal((await open(new Agent(app), await push(strict), {}, strict)).status, 200);
});

test('attack: a foreign request_uri is fetched (R018)', async () => {
  for (const uri of [
    'http://127.0.0.1:1/x',
    `${app.url}/healthz`,
    'https://rp.example/r',
    'urn:other:x',
    'file:///etc/passwd',
  ]) {
    const page = await new Agent(app).authorize({ ...request(client), request_uri: uri });
    ok((page.location ?? '').includes('error=') || page.status === 400, uri);
    ok(!(page.location ?? '').includes('code='));
  }
  ok(!app.logged.some((line) => line.includes('"path":"/healthz"')));
});
