// Revocation (RFC 7009, decision 0004): possession of the token suffices; the answer is an empty 200.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, redeem, refresh, requestTokens } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { type Answer, basic, call, isActive, postForm, tokensOf, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const other = await app.register();
const open = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
const alice = await app.createUser('alice');

const revoke = (fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer> =>
  postForm(app, '/oauth2/revoke', fields, headers);

function expectDone(answer: Answer, what = ''): void {
  deepEqual([answer.status, answer.text], [200, ''], what);
  equal(answer.headers.get('cache-control'), 'no-store', what);
  equal(answer.headers.get('content-type'), null, what);
}

test('revocation of an access token: ends it alone', async () => {
  const tokens = await tokensOf(app, client, alice);
  const { body } = await refresh(app, client, tokens.refresh_token);
  expectDone(await revoke({ token: tokens.access_token, client_id: client.id }));
  equal(await isActive(app, tokens.access_token), false);
  equal((await userinfo(app, tokens.access_token)).status, 401);
  equal(await isActive(app, body.access_token), true);
  equal(await isActive(app, body.refresh_token), true);
  equal((await refresh(app, client, body.refresh_token)).status, 200);
});

test('revocation of a refresh token: ends its grant (RFC 7009 §2.1)', async () => {
  const tokens = await tokensOf(app, client, alice);
  const { body } = await refresh(app, client, tokens.refresh_token);
  expectDone(await revoke({ token: body.refresh_token }));
  for (const token of [tokens.access_token, body.access_token, body.refresh_token])
    equal(await isActive(app, token), false);
  equal((await userinfo(app, body.access_token)).status, 401);
  const again = await refresh(app, client, body.refresh_token);
  deepEqual([again.status, again.body.error], [400, 'invalid_grant']);
});

test('revocation: a used refresh token ends its grant; a client token ends itself', async () => {
  const tokens = await tokensOf(app, client, alice);
  const { body } = await refresh(app, client, tokens.refresh_token);
  expectDone(await revoke({ token: tokens.refresh_token }));
  equal(await isActive(app, body.access_token), false);

  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const own = await requestTokens(app, machine, { grant_type: 'client_credentials' });
  equal(await isActive(app, own.body.access_token), true);
  expectDone(await revoke({ token: own.body.access_token, client_id: machine.id }));
  equal(await isActive(app, own.body.access_token), false);
});

test('revocation: other grants of the same user, client or session stay', async () => {
  const agent = new Agent(app);
  const here = await tokensOf(app, client, alice, {}, agent);
  const { body: beside } = await redeem(app, other, await agent.signIn(other.id, alice));
  const elsewhere = await tokensOf(app, client, alice);
  expectDone(await revoke({ token: here.refresh_token }));
  equal(await isActive(app, here.access_token), false);
  equal(await isActive(app, beside.access_token), true);
  equal(await isActive(app, elsewhere.access_token), true);
});

test('attack: revocation with a client_id that is not the token’s: 200 without effect', async () => {
  const tokens = await tokensOf(app, client, alice);
  for (const client_id of [other.id, 'nobody', `${client.id} `, client.id.toUpperCase()]) {
    for (const token of [tokens.access_token, tokens.refresh_token])
      expectDone(await revoke({ token, client_id }), client_id);
  }
  equal(await isActive(app, tokens.access_token), true);
  equal(await isActive(app, tokens.refresh_token), true);
});

test('revocation: unknown, empty and repeated tokens get the same empty 200', async () => {
  const { access_token, id_token } = await tokensOf(app, client, alice);
  const good = await revoke({ token: access_token });
  const seen = ({ headers }: Answer): unknown[] =>
    [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  expectDone(good);
  const tokens = [access_token, 'nonsense', 'x.y.z', id_token, '', '\u{1f600}', 'a'.repeat(10_000)];
  for (const token of tokens) {
    const answer = await revoke({ token });
    expectDone(answer, token.slice(0, 20));
    deepEqual(seen(answer), seen(good), token.slice(0, 20));
  }
  expectDone(await revoke({}));
  expectDone(await revoke({ client_id: client.id }));
  expectDone(await call(app, 'POST', '/oauth2/revoke'), 'no body at all');
});

test('attack: revocation by an ID token or a token with an altered signature', async () => {
  const { access_token, id_token } = await tokensOf(app, client, alice);
  const [head, payload, signature = ''] = access_token.split('.');
  const changed = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
  for (const token of [id_token, `${head}.${payload}.${changed}`, `${head}.${payload}.`]) {
    expectDone(await revoke({ token }));
  }
  equal(await isActive(app, access_token), true);
});

test('revocation: credentials, when sent, must be valid', async () => {
  const { access_token: token, refresh_token } = await tokensOf(app, client, alice);
  const wrong = { ...client, secret: 'wrong' };
  const refused = [
    await revoke({ token }, basic(wrong)),
    await revoke({ token, client_id: client.id, client_secret: 'wrong' }),
    await revoke({ token }, basic({ id: 'nobody', secret: 'x' })),
  ];
  for (const { status, body } of refused) deepEqual([status, body.error], [401, 'invalid_client']);
  equal(await isActive(app, token), true);
  // Right, but not the token's client: 200 and nothing happens.
  expectDone(await revoke({ token }, basic(other)));
  expectDone(await revoke({ token: refresh_token }, basic(other)));
  equal(await isActive(app, token), true);
  equal(await isActive(app, refresh_token), true);
  expectDone(await revoke({ token }, basic(client)));
  equal(await isActive(app, token), false);
  equal(await isActive(app, refresh_token), true);
  expectDone(await revoke({ token: refresh_token }, basic(client)));
  equal(await isActive(app, refresh_token), false);
});

test('revocation without a token: 200 with valid credentials, 401 with wrong ones', async () => {
  for (const fields of [{}, { token: '' }, { client_id: client.id }]) {
    expectDone(await revoke(fields, basic(client)));
    equal((await revoke(fields, basic({ ...client, secret: 'wrong' }))).status, 401);
  }
  expectDone(await call(app, 'POST', '/oauth2/revoke', { headers: basic(client) }), 'no body at all');
  for (const accept of ['application/json', 'text/html', '*/*'])
    expectDone(await revoke({ token: 'x' }, { accept }));
});

test('revocation: a bearer is ignored; the token in the form counts', async () => {
  for (const authorization of ['Bearer', 'Bearer x', 'bearer x y']) {
    const { access_token: token, refresh_token } = await tokensOf(app, client, alice);
    expectDone(await revoke({ token }, { authorization }), authorization);
    equal(await isActive(app, token), false);
    expectDone(await revoke({ token: 'x' }, { authorization: `Bearer ${refresh_token}` }));
    equal(await isActive(app, refresh_token), true, 'a bearer is not revoked by being one');
  }
});

test('revocation: a wrong or unknown token_type_hint changes nothing (R046)', async () => {
  for (const authorization of [undefined, basic(client)]) {
    for (const token_type_hint of ['refresh_token', 'access_token', 'nonsense', '']) {
      const tokens = await tokensOf(app, client, alice);
      expectDone(await revoke({ token: tokens.access_token, token_type_hint }, authorization));
      equal(await isActive(app, tokens.access_token), false);
      equal(await isActive(app, tokens.refresh_token), true);
      expectDone(await revoke({ token: tokens.refresh_token, token_type_hint }, authorization));
      equal(await isActive(app, tokens.refresh_token), false);
    }
  }
});

test('revocation: a public client revokes by its client_id alone', async () => {
  const { refresh_token: token, access_token } = await tokensOf(app, open, alice);
  expectDone(await revoke({ token, client_id: open.id }));
  equal(await isActive(app, access_token), false);
});

test('revocation: 400 only for a body that is no form', async () => {
  const { access_token: token } = await tokensOf(app, client, alice);
  const bodies = [
    { 'content-type': 'application/json', body: JSON.stringify({ token }) },
    { 'content-type': 'text/plain', body: `token=${token}` },
    { 'content-type': 'multipart/form-data; boundary=x', body: `--x\r\n\r\n${token}\r\n--x--` },
  ];
  for (const { body, ...headers } of bodies) {
    for (const authorization of [{}, basic(client)]) {
      const answer = await call(app, 'POST', '/oauth2/revoke', {
        headers: { ...headers, ...authorization },
        body,
      });
      deepEqual([answer.status, answer.body.error], [400, 'invalid_request'], headers['content-type']);
    }
  }
  const twice = await postForm(app, '/oauth2/revoke', [
    ['token', token],
    ['token', 'x'],
  ]);
  equal(twice.status, 400);
  equal(await isActive(app, token), true);
  // In the query it is in logs and histories: not looked at.
  const inQuery = await call(app, 'POST', `/oauth2/revoke?token=${token}`);
  ok(inQuery.status === 200);
  equal(await isActive(app, token), true);
});
