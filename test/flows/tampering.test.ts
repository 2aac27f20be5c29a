// Attack: tampering between the sign-in page and its submission. The code is for the client's request as kept
// on the server.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, hiddenFields, requestTokens, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { claimsOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ redirect_uris: [REDIRECT_URI, 'https://rp.example/other'] });
const other = await app.register();
const alice = await app.createUser('alice', { email: 'alice@example.com' });
const root = await app.createUser('root', { role: 'admin' });
const EVIL_VERIFIER = 'e'.repeat(43);

const tampered: Readonly<Record<string, string>> = {
  scope: 'openid profile email phone roles offline_access admin',
  redirect_uri: 'https://rp.example/other',
  nonce: 'evil',
  state: 'evil',
  code_challenge: challengeOf(EVIL_VERIFIER),
  code_challenge_method: 'plain',
  client_id: other.id,
  response_type: 'token',
  response_mode: 'form_post',
  prompt: 'none',
  accountId: root.id,
  account: root.id,
  sub: root.id,
  amr: 'otp',
  acr: 'gold',
  remember: '',
  result: '{"login":{"accountId":"x"}}',
  returnTo: 'https://evil.example/',
};

const request = {
  client_id: client.id,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  state: 'honest',
  nonce: 'honest',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
};

async function expectHonest(location: string | undefined): Promise<void> {
  const url = new URL(location ?? '');
  equal(url.origin + url.pathname, REDIRECT_URI);
  deepEqual([...url.searchParams.keys()].sort(), ['code', 'iss', 'state']);
  equal(url.searchParams.get('state'), 'honest');
  const exchange = (code_verifier: string, by: typeof client, redirect_uri = REDIRECT_URI) =>
    requestTokens(app, by, {
      grant_type: 'authorization_code',
      code: url.searchParams.get('code') ?? '',
      code_verifier,
      redirect_uri,
    });
  equal((await exchange(EVIL_VERIFIER, client)).body.error, 'invalid_grant');
  equal((await exchange(VERIFIER, other)).body.error, 'invalid_grant');
  equal((await exchange(VERIFIER, client, 'https://rp.example/other')).body.error, 'invalid_grant');
  const { status, body } = await exchange(VERIFIER, client);
  equal(status, 200, JSON.stringify(body));
  const { sub, nonce, aud, amr, acr, email } = claimsOf(body.id_token);
  deepEqual(
    [sub, nonce, aud, amr, acr, email],
    [alice.id, 'honest', client.id, ['pwd'], 'urn:latchkey:acr:single-factor', undefined],
  );
  equal(body.scope, 'openid');
}

test('attack: tampering in the form', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  const { client_id: _, ...fields } = tampered;
  const done = await agent.submit(page, { ...fields, username: 'alice', password: PASSWORD });
  await expectHonest(done.location);
});

test('attack: tampering with the hidden client_id, used only by the expired page', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  const done = await agent.submit(page, { client_id: other.id, username: 'alice', password: PASSWORD });
  await expectHonest(done.location);
});

test('attack: tampering in the query of the form’s and the resume address', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  const query = new URLSearchParams(tampered);
  const fields = { ...hiddenFields(page.body), username: 'alice', password: PASSWORD };
  const proven = await agent.post(`/oauth2/login?${query}`, fields);
  equal(proven.status, 303);
  const done = await agent.get(`${proven.location}?${query}`);
  await expectHonest(done.location);
});

test('attack: a field sent twice, read differently by two readers', async () => {
  const agent = new Agent(app);
  const fields = new URLSearchParams({
    ...hiddenFields((await agent.authorize(request)).body),
    username: 'alice',
    password: PASSWORD,
  });
  fields.append('username', 'root');
  const answer = await agent.request('/oauth2/login', { method: 'POST', body: fields });
  deepEqual([answer.status, answer.location], [400, undefined]);
});

test('two tabs: the request of one does not affect the other', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  await agent.authorize({
    ...request,
    ...tampered,
    response_type: 'code',
    prompt: '',
    code_challenge_method: 'S256',
  });
  const done = await agent.submit(page, { username: 'alice', password: PASSWORD });
  await expectHonest(done.location);
});

test('attack: an altered or foreign interaction cookie', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  const fields = { ...hiddenFields(page.body), username: 'alice', password: PASSWORD };
  const proven = await agent.post('/oauth2/login', fields);
  const path = new URL(proven.location ?? '').pathname;
  const cookies = agent.cookiesFor(path);
  ok(cookies.includes('latchkey_resume='));
  for (const cookie of [
    cookies.replace(/latchkey_resume=[^;]+/, 'latchkey_resume=x'),
    cookies.replace(/latchkey_resume\.sig=[^;]+/, 'latchkey_resume.sig=x'),
    cookies.replace(/latchkey_resume[^;]*;? ?/g, ''),
    '',
  ]) {
    const response = await fetch(`${app.url}${path}`, { headers: { cookie }, redirect: 'manual' });
    deepEqual([response.status, response.headers.get('location')], [400, null], cookie);
    await response.text();
  }
  await expectHonest((await agent.get(path)).location);
});
