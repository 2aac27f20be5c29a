// Attacks on proofs of possession (RFC 9449 §11): stolen, altered, replayed and borrowed ones.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { basic, call, isActive, postForm, tokensOf } from '../flows/support.ts';
import { refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, opensAccounts, SECRET_KEY, startApp } from '../support/app.ts';
import { athOf, proofKey, proofOf } from '../support/dpop.ts';
import { atOnce } from './sizes.ts';

const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
const second = await startApp({ shared: app.store });
after(async () => {
  await second.stop();
  await app.stop();
});
const key = await proofKey();
const thief = await proofKey();
const client = await app.register({
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  ...opensAccounts,
});
const alice = await app.createUser('alice');

const TOKEN = '/oauth2/token';
const USERINFO = '/oauth2/userinfo';
const MACHINE = { grant_type: 'client_credentials' };

const ask = (proof: string, on = app) => postForm(on, TOKEN, MACHINE, { ...basic(client), DPoP: proof });

/** A user's token that is bound to `key`. */
async function boundToken(): Promise<string> {
  const { refresh_token: token } = await tokensOf(app, client, alice);
  const { body } = await postForm(
    app,
    TOKEN,
    { grant_type: 'refresh_token', refresh_token: token },
    { ...basic(client), DPoP: await proofOf(key, 'POST', app.url + TOKEN) },
  );
  equal(body.token_type, 'DPoP', JSON.stringify(body));
  return String(body.access_token);
}
const token = await boundToken();

const show = (authorization: string, proof?: string, path = USERINFO) =>
  call(app, 'GET', path, { headers: { authorization, ...(proof !== undefined && { DPoP: proof }) } });

const right = { ath: athOf(token) };
const htu = app.url + USERINFO;

test('attack: a bound token is used without its key', async () => {
  for (const path of [USERINFO, '/account/api/profile', '/admin/api/users']) {
    const of = async (claims: object, by = key) =>
      proofOf(by, 'GET', app.url + path, { ...right, ...claims });
    for (const [what, authorization, proof] of [
      ['as Bearer', `Bearer ${token}`, undefined],
      ['as Bearer with a proof', `Bearer ${token}`, await of({})],
      ['as DPoP without a proof', `DPoP ${token}`, undefined],
      ['with a proof by another key', `DPoP ${token}`, await of({}, thief)],
      ['with a proof of another token', `DPoP ${token}`, await of({ ath: athOf('another') })],
      ['with a proof without a token', `DPoP ${token}`, await of({ ath: undefined })],
    ] as const) {
      const { status, text, headers } = await show(authorization, proof, path);
      ok(status === 400 || status === 401, `${path} ${what}: ${status} ${text}`);
      ok(!text.includes(alice.id), what);
      const scheme = authorization.split(' ', 1)[0] ?? '';
      if (status === 401 && path !== USERINFO)
        equal(headers.get('www-authenticate')?.split(' ', 1)[0], scheme, what);
    }
  }
  equal(await isActive(app, token), true);
});

test('attack: proofs that are altered, of another request, too old or wrongly signed', async () => {
  const now = Math.floor(Date.now() / 1000);
  const wrong: Record<string, Promise<string>> = {
    'another method': proofOf(key, 'POST', htu, right),
    'another path': proofOf(key, 'GET', `${app.url}/oauth2/token`, right),
    'another host': proofOf(key, 'GET', `https://evil.example${USERINFO}`, right),
    'user info': proofOf(key, 'GET', htu.replace('//', '//user@'), right),
    'user info with a password': proofOf(key, 'GET', htu.replace('//', '//user:word@'), right),
    'a password alone': proofOf(key, 'GET', htu.replace('//', '//:word@'), right),
    'no address': proofOf(key, 'GET', htu, { ...right, htu: undefined }),
    'six minutes old': proofOf(key, 'GET', htu, { ...right, iat: now - 360 }),
    'of the future': proofOf(key, 'GET', htu, { ...right, iat: now + 360 }),
    'no time': proofOf(key, 'GET', htu, { ...right, iat: undefined }),
    'no jti': proofOf(key, 'GET', htu, { ...right, jti: undefined }),
    'an empty jti': proofOf(key, 'GET', htu, { ...right, jti: '' }),
    'another type': proofOf(key, 'GET', htu, right, { typ: 'JWT' }),
    'the key of somebody else': proofOf(thief, 'GET', htu, right, { jwk: key.jwk }),
    'a nonce of nobody': proofOf(key, 'GET', htu, { ...right, nonce: 'x'.repeat(43) }),
  };
  for (const [what, proof] of Object.entries(wrong)) {
    const { status, text } = await show(`DPoP ${token}`, await proof);
    equal(status, 401, `${what}: ${text}`);
  }
});

test('attack: proofs whose htu has user info, here and at the token endpoint (RFC 9449 §4.3)', async () => {
  const path = '/account/api/profile';
  const of = (address: string) => proofOf(key, 'GET', address, right);
  for (const who of ['user@', 'user:word@', ':word@']) {
    const proof = await of((app.url + path).replace('//', `//${who}`));
    equal((await show(`DPoP ${token}`, proof, path)).status, 401, who);
    const { status, body } = await ask(
      await proofOf(key, 'POST', (app.url + TOKEN).replace('//', `//${who}`)),
    );
    deepEqual([status, body.error], [400, 'invalid_dpop_proof'], who);
  }
  equal(
    (await show(`DPoP ${token}`, await of(`${app.url}${path}?a=b#c`), path)).status,
    200,
    'ignored parts',
  );
});

test('attack: proofs with alg none, a shared secret, a private key in them, or no JWT', async () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { jti: 'n', htm: 'POST', htu: app.url + TOKEN, iat: Math.floor(Date.now() / 1000) };
  const forged = [
    `${part({ alg: 'none', typ: 'dpop+jwt', jwk: key.jwk })}.${part(claims)}.`,
    `${part({ alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'c2VjcmV0' } })}.${part(claims)}.${'A'.repeat(43)}`,
    await proofOf(key, 'POST', app.url + TOKEN, {}, { jwk: Object.assign({ d: 'A'.repeat(43) }, key.jwk) }),
    await proofOf(key, 'POST', app.url + TOKEN, {}, { jwk: {} }),
    'x',
    `${'a'.repeat(9000)}.${'b'.repeat(9000)}.c`,
    `${await proofOf(key, 'POST', app.url + TOKEN)}, ${await proofOf(key, 'POST', app.url + TOKEN)}`,
  ];
  for (const proof of forged) {
    const { status, body, text } = await ask(proof);
    deepEqual([status, body.error], [400, 'invalid_dpop_proof'], `${proof.slice(0, 60)}: ${text}`);
  }
});

test('attack: a proof is used again, here and in another process', async () => {
  const proof = await proofOf(key, 'POST', app.url + TOKEN);
  equal((await ask(proof)).status, 200);
  equal((await ask(proof)).status, 400);
  const forSecond = await proofOf(key, 'POST', second.url + TOKEN, { jti: 'one-jti-for-two' });
  const forFirst = await proofOf(key, 'POST', app.url + TOKEN, { jti: 'one-jti-for-two' });
  equal((await ask(forSecond, second)).status, 200);
  equal((await ask(forFirst)).status, 400, 'the jti was used in another process');
  const once = await proofOf(key, 'GET', htu, right);
  equal((await show(`DPoP ${token}`, once)).status, 200);
  equal((await show(`DPoP ${token}`, once)).status, 401);
});

test('race: one proof twenty times at once, at the token endpoint and an API of ours', async () => {
  const proof = await proofOf(key, 'POST', app.url + TOKEN);
  const answers = await atOnce(20, () => ask(proof));
  deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 400),
    [200],
  );

  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'admin:read',
  });
  const issued = await postForm(
    app,
    TOKEN,
    { ...MACHINE, scope: 'admin:read' },
    { ...basic(machine), DPoP: await proofOf(key, 'POST', app.url + TOKEN) },
  );
  const bearer = String(issued.body.access_token);
  const path = '/admin/api/users';
  const one = await proofOf(key, 'GET', app.url + path, { ath: athOf(bearer) });
  const calls = await atOnce(20, () => show(`DPoP ${bearer}`, one, path));
  deepEqual(
    calls.map(({ status }) => status).filter((status) => status !== 401),
    [200],
  );
});

test('race: one jti at two processes at once, and one nonce for many proofs at both', async () => {
  const processes = [app, second];
  const proofFor = (on: typeof app, claims: Record<string, unknown>) =>
    proofOf(key, 'POST', on.url + TOKEN, claims);
  for (const jti of ['first-for-both', 'second-for-both', 'third-for-both']) {
    const proofs = await Promise.all(processes.map((on) => proofFor(on, { jti })));
    const answers = await atOnce(20, (nth) => ask(proofs[nth % 2] ?? '', processes[nth % 2]));
    deepEqual(
      answers.map(({ status }) => status).filter((status) => status !== 400),
      [200],
    );
  }
  const nonce = (await ask(await proofFor(app, {}))).headers.get('dpop-nonce') ?? '';
  const answers = await atOnce(20, async (nth) => {
    const on = processes[nth % 2] ?? app;
    return ask(await proofFor(on, { nonce }), on);
  });
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), 'a nonce is for many proofs');
});

test('attack: a token that is not bound, and what is no token, with the scheme DPoP', async () => {
  const { access_token: plain } = await tokensOf(app, client, alice);
  const of = async (bearer: string, path: string) =>
    proofOf(key, 'GET', app.url + path, { ath: athOf(bearer) });
  for (const path of [USERINFO, '/account/api/profile', '/admin/api/users'])
    equal((await show(`DPoP ${plain}`, await of(plain, path), path)).status, 401, path);
  const secret = await show(
    `DPoP ${ADMIN_TOKEN}`,
    await of(ADMIN_TOKEN, '/admin/api/users'),
    '/admin/api/users',
  );
  equal(secret.status, 401, 'the bootstrap token is a bearer');
});

test('attack: a nonce of an installation with another SECRET_KEY', async (t) => {
  const foreign = await startApp();
  t.after(() => foreign.stop());
  const theirs = await foreign.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const answer = await postForm(foreign, TOKEN, MACHINE, {
    ...basic(theirs),
    DPoP: await proofOf(key, 'POST', foreign.url + TOKEN),
  });
  const nonce = answer.headers.get('dpop-nonce') ?? '';
  ok(nonce !== '');
  const { status, body } = await ask(await proofOf(key, 'POST', app.url + TOKEN, { nonce }));
  deepEqual([status, body.error], [400, 'use_dpop_nonce']);
  const own = (await ask(await proofOf(key, 'POST', app.url + TOKEN))).headers.get('dpop-nonce') ?? '';
  const elsewhere = await ask(await proofOf(key, 'POST', second.url + TOKEN, { nonce: own }), second);
  equal(elsewhere.status, 200, 'every process accepts it');
});

test('attack: an application that has to use DPoP gets a bearer token by its old refresh token', async () => {
  const app2 = await app.register();
  const before = await tokensOf(app, app2, alice);
  equal((await app.admin('PATCH', `/clients/${app2.id}`, { dpop_bound_access_tokens: true })).status, 200);
  const { status, body } = await refresh(app, app2, before.refresh_token);
  deepEqual([status, body.error], [400, 'invalid_grant'], JSON.stringify(body));
  const left = { grant_type: 'refresh_token', refresh_token: before.refresh_token };
  const proof = await proofOf(key, 'POST', app.url + TOKEN);
  const bound = await postForm(app, TOKEN, left, { ...basic(app2), DPoP: proof });
  equal(bound.body.token_type, 'DPoP', 'the refusal has not spent the refresh token');
});

test('attack: a stolen bound token signs its user out without its key', async () => {
  const stolen = await boundToken();
  const at = `${app.url}/oauth2/logout`;
  const by = (one: typeof key) => proofOf(one, 'GET', at, { ath: athOf(stolen) });
  for (const [authorization, proof] of [
    [`Bearer ${stolen}`, undefined],
    [`Bearer ${stolen}`, await by(key)],
    [`DPoP ${stolen}`, undefined],
    [`DPoP ${stolen}`, await by(thief)],
  ] as const) {
    equal((await show(authorization, proof, '/oauth2/logout')).status, 401, authorization.slice(0, 6));
    equal(await isActive(app, stolen), true);
  }
  // Not a client's credentials: what is in the form counts.
  const other = (await tokensOf(app, client, alice)).access_token;
  const revoked = await postForm(
    app,
    '/oauth2/revoke',
    { token: other },
    { authorization: `DPoP ${stolen}` },
  );
  deepEqual([revoked.status, await isActive(app, other)], [200, false]);
  equal((await show(`DPoP ${stolen}`, await by(key), '/oauth2/logout')).status, 200);
  equal(await isActive(app, stolen), false);
});

test('attack: a proof from a clock that is ahead is used again after five minutes', async () => {
  const iat = Math.floor(app.now() / 1000) + 290;
  const atToken = await proofOf(key, 'POST', app.url + TOKEN, { iat });
  const atApi = await proofOf(key, 'GET', `${app.url}/account/api/profile`, { ...right, iat });
  const atAccount = () => show(`DPoP ${token}`, atApi, '/account/api/profile');
  equal((await ask(atToken)).status, 200);
  const { status } = await atAccount();
  app.advance(310_000);
  const [again, { status: then, text }] = [await ask(atToken), await atAccount()];
  equal(again.status, 400, again.text);
  deepEqual([status, then], [200, 401], text);
});
