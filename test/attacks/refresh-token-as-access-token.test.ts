// Attack: refresh tokens that are JWTs (`keycloak_tokens`, decision 0026) used as access tokens, forged with what is public,
// or taken apart. Its secret is in no JWKS, and what counts is the stored record.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac, createPublicKey } from 'node:crypto';
import test, { after } from 'node:test';
import { derivedKey } from '../../src/config/secret-key.ts';
import {
  basic,
  bearer,
  call,
  claimsOf,
  headerOf,
  introspect,
  isActive,
  postForm,
  tokensOf,
  userinfo,
} from '../flows/support.ts';
import { refresh, requestTokens } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789';
const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const client = await app.register({ keycloak_tokens: true, scope: 'openid profile roles admin' });
const other = await app.register({ keycloak_tokens: true });
const plain = await app.register();
const root = await app.createUser('root', { role: 'admin' });
const tokens = await tokensOf(app, client, root, { scope: 'openid profile roles admin' });
const genuine = tokens.refresh_token;
const header = headerOf(genuine);
const claims = claimsOf(genuine);

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const hmac = (key: string | Buffer, head: object, body: object, hash = 'sha256'): string => {
  const input = `${part(head)}.${part(body)}`;
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`;
};

test('attack: a refresh JWT as an access token, at every place that takes one', async () => {
  const headers = bearer(genuine);
  equal((await userinfo(app, genuine)).status, 401);
  for (const path of ['/admin/api/users', '/account/api/profile'])
    equal((await call(app, 'GET', path, { headers })).status, 401, path);
  equal((await introspect(app, 'x', headers)).status, 401);
  equal((await postForm(app, '/oauth2/userinfo', { access_token: genuine })).status, 401);
  const out = await call(app, 'POST', '/oauth2/logout', { headers });
  equal(out.status, 200);
  equal(await isActive(app, genuine), true, 'a bearer that is no access token ends nothing');
});

test('attack: a refresh JWT at the introspection of another client, and as another client’s', async () => {
  for (const by of [other, plain]) {
    equal((await introspect(app, genuine, basic(by))).text, '{"active":false}');
    const { status, body } = await refresh(app, by, genuine);
    deepEqual([status, body.error], [400, 'invalid_grant']);
    await postForm(app, '/oauth2/revoke', { token: genuine }, basic(by));
  }
  equal(await isActive(app, genuine), true);
});

test('attack: a refresh JWT forged with none, the published key, or another secret', async () => {
  const { keys } = JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text);
  equal(JSON.stringify(keys).includes(String(header.kid)), false);
  for (const { kty } of keys) ok(kty === 'RSA' || kty === 'EC', 'no secret is published');
  equal(keys[0].kty, 'RSA');
  const published = createPublicKey({ key: keys[0], format: 'jwk' });
  const pem = published.export({ type: 'spki', format: 'pem' }).toString();
  const der = published.export({ type: 'spki', format: 'der' });
  const rsaKid = { ...header, kid: keys[0].kid };
  const [head = '', payload = '', signature = ''] = genuine.split('.');
  const raw = Buffer.from(derivedKey(SECRET_KEY, 'refresh-token-jwt'), 'base64url');
  const forgeries: Record<string, string> = {
    none: `${part({ ...header, alg: 'none' })}.${payload}.`,
    'none, with the signature': `${part({ ...header, alg: 'none' })}.${payload}.${signature}`,
    'RS256 named': `${part({ ...header, alg: 'RS256' })}.${payload}.${signature}`,
    'public key as the secret (PEM)': hmac(pem, header, claims),
    'public key as the secret (DER)': hmac(der, header, claims),
    'public key as the secret, by its kid': hmac(pem, rsaKid, claims),
    'an empty secret': hmac('', header, claims),
    'SECRET_KEY itself': hmac(SECRET_KEY, header, claims),
    'the secret in its text form': hmac(derivedKey(SECRET_KEY, 'refresh-token-jwt'), header, claims),
    'the key of cookies': hmac(Buffer.from(derivedKey(SECRET_KEY, 'cookies'), 'base64url'), header, claims),
    'the client’s secret': hmac(client.secret, header, claims),
    'its own key in the header': hmac('k', { ...header, jwk: { kty: 'oct', k: 'aw' } }, claims),
    'no kid': hmac(raw, { ...header, kid: undefined }, claims),
    'HS512 with the right secret': hmac(raw, { ...header, alg: 'HS512' }, claims, 'sha512'),
    'another type with the right secret': hmac(raw, { ...header, typ: 'at+jwt' }, claims),
    'a payload of another typ': hmac(raw, header, { ...claims, typ: 'Bearer' }),
    'another jti with the old signature': `${head}.${part({ ...claims, jti: 'x' })}.${signature}`,
    'the access token': tokens.access_token,
    'the ID token': tokens.id_token,
  };
  for (const [name, token] of Object.entries(forgeries)) {
    const { status, body } = await refresh(app, client, token);
    deepEqual([status, body.error], [400, 'invalid_grant'], name);
    if (!name.startsWith('the ')) equal(await isActive(app, token), false, name);
  }
  equal(await isActive(app, genuine), true, 'no forgery used it up');
});

test('attack: what is read from a refresh JWT is no token by itself', async () => {
  const id = String(claims.jti);
  for (const token of [id, `${id}.`, String(claims.sid), `x.${genuine}`, `${genuine}=`]) {
    const { status, body } = await refresh(app, client, token);
    deepEqual([status, body.error], [400, 'invalid_grant'], token.slice(0, 20));
    equal(await isActive(app, token), false);
  }
  // And an opaque token of another application does not become one by a signature of nobody.
  const opaque = (await tokensOf(app, plain, root)).refresh_token;
  const dressed = hmac('x', header, { ...claims, jti: opaque, azp: plain.id });
  equal((await refresh(app, plain, dressed)).status, 400);
  equal((await refresh(app, plain, opaque)).status, 200);
});

test('attack: roles and names in tokens without their scopes, by an administrator’s account', async () => {
  const bare = await tokensOf(app, client, root, { scope: 'openid' });
  const { body } = await refresh(app, client, bare.refresh_token);
  for (const token of [
    bare.access_token,
    bare.id_token,
    bare.refresh_token,
    body.access_token,
    body.id_token,
  ]) {
    const text = JSON.stringify(claimsOf(token));
    ok(!/realm_access|resource_access|"admin"|"roles?"|"root"|username/.test(text), text);
  }
  const own = await requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: genuine });
  equal(own.status, 200);
  const text = JSON.stringify(claimsOf(own.body.refresh_token));
  ok(!/admin|root|roles/.test(text), text);
});
