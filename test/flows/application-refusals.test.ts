// The refused requests of an application, explained on its page and in the admin API: in words, with the remedy, merged,
// the newest first; and one log line for each, whoever answers it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { explainRefusal } from '../../src/admin/resources/clients/refusals.ts';
import { Agent, codeRequest, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, bearer, call, type Json, postForm, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');

const itemsOf = async (id: string): Promise<Json[]> =>
  (await app.admin('GET', `/clients/${id}/refusals`)).body.data.items ?? [];
const causesOf = async (id: string): Promise<unknown[]> => (await itemsOf(id)).map(({ cause }) => cause);
const linesOf = (headers: Headers): Json[] => {
  const id = headers.get('x-request-id') ?? 'none';
  return app.logged
    .filter((line) => line.includes(id) && line.includes('"event":"refused"'))
    .map((line): Json => JSON.parse(line));
};
const openPage = async (id: string): Promise<string> => {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
  const { status, body } = await agent.get(`/admin/applications/${id}`);
  equal(status, 200);
  return body;
};
await app.createUser('root-admin', { role: 'admin' });

test('refusals of an application: none are shown as none', async () => {
  const { id } = await app.register();
  deepEqual(await itemsOf(id), []);
  match(await openPage(id), /None in the last 7 days\./);
});

test('refusals of an application: an address that is not registered, beside those that are', async () => {
  const { id } = await app.register();
  const asked = 'https://user:pass@rp.example/callbak?code=x#y';
  await new Agent(app).authorize({ ...codeRequest(id), redirect_uri: asked });
  const [item] = await itemsOf(id);
  deepEqual(
    [item?.cause, item?.endpoint, item?.address, item?.registered, item?.count],
    ['redirect_uri_unregistered', 'authorization', 'https://…@rp.example/callbak?…', [REDIRECT_URI], 1],
  );
  const page = await openPage(id);
  for (const text of [
    'redirect_uri is not registered.',
    'callbak?…',
    REDIRECT_URI,
    'under “Redirect URIs”',
  ]) {
    ok(page.includes(text), text);
  }
});

test('refusals of an application: repeats are one entry, and the newest is first', async () => {
  const client = await app.register();
  const code = { grant_type: 'authorization_code', code: 'unknown', redirect_uri: REDIRECT_URI };
  await postForm(app, '/oauth2/token', code, basic(client));
  for (const _ of [1, 2, 3]) await postForm(app, '/oauth2/token', code, basic({ ...client, secret: 'x' }));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const items = await itemsOf(client.id);
  deepEqual(
    items.map(({ cause, count }) => [cause, count]),
    [
      ['secret_wrong', 3],
      ['code_unknown', 1],
    ],
  );
  ok(String(items[0]?.first_at) <= String(items[0]?.last_at));
});

test('refusals of an application: codes, verifiers and refresh tokens', async () => {
  const client = await app.register({ rotate_refresh_tokens: 'always' });
  const agent = new Agent(app);
  const authorization = await agent.signIn(client.id, alice);
  equal((await redeem(app, client, { ...authorization, verifier: 'x'.repeat(43) })).status, 400);
  const tokens = (await redeem(app, client, authorization)).body;
  equal((await redeem(app, client, authorization)).status, 400);
  deepEqual(await causesOf(client.id), ['code_used_twice', 'verifier_wrong']);

  const { refresh_token: first = '' } = await tokensOf(app, client, alice);
  const { refresh_token: second = '' } = (await refresh(app, client, first)).body;
  equal((await refresh(app, client, second)).status, 200);
  equal((await refresh(app, client, first)).status, 400);
  equal((await refresh(app, client, tokens.refresh_token ?? '')).status, 400);
  deepEqual((await causesOf(client.id)).toSorted(), [
    'code_used_twice',
    'refresh_token_reused',
    'refresh_token_unknown',
    'verifier_wrong',
  ]);
});

test('refusals of an application: scope, grant type and device in words', async () => {
  const client = await app.register({ scope: 'openid' });
  await postForm(app, '/oauth2/token', { grant_type: 'client_credentials' }, basic(client));
  await new Agent(app).authorize({ ...codeRequest(client.id), scope: 'phone nonsense' });
  const items = await itemsOf(client.id);
  deepEqual(
    items.map(({ cause }) => cause),
    ['scope_not_allowed', 'grant_type_not_allowed'],
  );
  equal(items[0]?.message, 'Scope not allowed: phone nonsense');
});

test('refusals: a client that only its header names is named, and exactly one line is written', async () => {
  const client = await app.register();
  const fields = { grant_type: 'client_credentials', client_secret: 'x' };
  const two = await postForm(app, '/oauth2/token', fields, basic(client));
  deepEqual(
    linesOf(two.headers).map(({ client_id, reason }) => [client_id, reason]),
    [[client.id, 'client authentication must only be provided using one mechanism']],
  );
  deepEqual(await causesOf(client.id), ['two_credentials']);

  const unknown = await postForm(app, '/oauth2/token', fields, basic({ id: 'nobody', secret: '' }));
  deepEqual(
    linesOf(unknown.headers).map(({ client_id }) => client_id),
    ['nobody'],
  );
});

test('refusals: an address that is not registered beside another error is one line', async () => {
  const client = await app.register();
  const page = await new Agent(app).get(
    `/oauth2/authorize?${new URLSearchParams({ client_id: client.id, redirect_uri: 'https://x.example/', response_type: 'nonsense' })}`,
  );
  const lines = app.logged.filter((line) => line.includes(client.id) && line.includes('"event":"refused"'));
  deepEqual([page.status, lines.length], [400, 1]);
  match(lines[0] ?? '', /invalid_redirect_uri/);
});

test('refusals: a sign-out with an address or a hint that does not count is explained', async () => {
  const BYE = 'https://rp.example/bye';
  const client = await app.register({ post_logout_redirect_uris: [BYE] });
  const out = (parameters: Record<string, string>) =>
    call(app, 'GET', `/oauth2/logout?${new URLSearchParams(parameters)}`);
  const other = 'https://me:secret@rp.example/by?state=s';
  const unregistered = await out({ client_id: client.id, post_logout_redirect_uri: other });
  const [line, ...more] = linesOf(unregistered.headers);
  deepEqual(
    [line?.endpoint, line?.post_logout_redirect_uri, line?.registered, more.length],
    ['logout', 'https://…@rp.example/by?…', [BYE], 0],
  );
  const hint = await out({ client_id: client.id, id_token_hint: 'x.y.z', post_logout_redirect_uri: BYE });
  deepEqual([hint.status, hint.headers.get('location'), linesOf(hint.headers).length], [200, null, 1]);
  deepEqual(await causesOf(client.id), ['hint_invalid', 'post_logout_redirect_uri_unregistered']);
  deepEqual((await itemsOf(client.id))[1]?.registered, [BYE]);

  const token = await postForm(app, '/oauth2/logout', { refresh_token: 'unknown' }, basic(client));
  deepEqual([token.status, linesOf(token.headers).length], [400, 1]);
  const secret = await postForm(
    app,
    '/oauth2/logout',
    { refresh_token: 'x' },
    basic({ ...client, secret: 'x' }),
  );
  deepEqual(
    linesOf(secret.headers).map(({ endpoint, reason }) => [endpoint, reason]),
    [['logout', 'invalid secret provided']],
  );
});

test('refusals: our own doors write one line each', async () => {
  const client = await app.register();
  const long = { ...codeRequest(client.id), state: 'x'.repeat(5000) };
  const form = { 'content-type': 'text/plain' };
  const doors: Record<string, Promise<{ headers: Headers }>> = {
    par: postForm(app, '/oauth2/par', long),
    device_authorization: postForm(app, '/oauth2/device_authorization', long),
    token: call(app, 'GET', '/oauth2/token'),
    introspection: postForm(app, '/oauth2/introspect', { token: 'x' }, bearer('nothing')),
    revocation: call(app, 'POST', '/oauth2/revoke', { headers: form, body: 'x' }),
    registration: call(app, 'POST', '/oauth2/register', { headers: form, body: 'x' }),
    userinfo: call(app, 'GET', '/realms/x/protocol/openid-connect/userinfo', { headers: bearer('nothing') }),
    authorization: call(app, 'GET', `/oauth2/authorize?${new URLSearchParams(long)}`),
  };
  for (const [endpoint, answer] of Object.entries(doors)) {
    deepEqual(
      linesOf((await answer).headers).map((line) => line.endpoint),
      [endpoint],
      endpoint,
    );
  }
  const managed = await call(app, 'GET', `/oauth2/register/${client.id}`, { headers: bearer('nothing') });
  deepEqual(
    linesOf(managed.headers).map(({ client_id }) => client_id),
    [client.id],
  );
});

test('refusals: what succeeds writes no line', async () => {
  const client = await app.register();
  const before = app.logged.filter((line) => line.includes('"event":"refused"')).length;
  await tokensOf(app, client, alice);
  equal(app.logged.filter((line) => line.includes('"event":"refused"')).length, before);
});

test('causes of refusals: every text that the log knows has words of its own', () => {
  const cause = (error: string, reason?: string): string => explainRefusal({ error, reason }).cause;
  deepEqual(
    [
      cause('invalid_grant', 'authorization code already consumed'),
      cause('invalid_grant', 'code_verifier missing'),
      cause('invalid_grant', 'code_verifier does not match code_challenge'),
      cause('invalid_grant', 'refresh token is expired'),
      cause('invalid_grant', 'DPoP proof JWT not provided'),
      cause('invalid_grant', 'DPoP proof JWT Replay detected'),
      cause('invalid_dpop_proof', 'DPoP proof htu mismatch'),
      cause('invalid_client', 'the assertion expires too late'),
      cause('unauthorized_client', 'this application may not use client_credentials'),
      cause('login_required'),
      cause('something_else', 'new'),
    ],
    [
      'code_used_twice',
      'verifier_missing',
      'verifier_wrong',
      'refresh_token_expired',
      'dpop_missing',
      'dpop_replayed',
      'dpop_invalid',
      'assertion_invalid',
      'grant_type_not_allowed',
      'prompt_none',
      'other',
    ],
  );
});
