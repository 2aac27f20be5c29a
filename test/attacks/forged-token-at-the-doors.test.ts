// Access tokens that we did not issue, or no longer stand by, at every endpoint that takes one, each by every way that a request
// goes there (decision 0012). Who forges knows the genuine token, its record in the store and our public keys.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import test, { after } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { accessTokens } from '../../src/store/protocol-collections.ts';
import { update } from '../../src/store/update.ts';
import { basic, bearer, call, isActive, later, postForm, tokensOf } from '../flows/support.ts';
import { ADMIN_TOKEN, opensAccounts, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ ...opensAccounts, scope: `${opensAccounts.scope} admin` });
const root = await app.createUser('root', { role: 'admin', email: 'root@example.com' });
const scope = 'openid profile email account admin';
const issue = async (): Promise<string> => (await tokensOf(app, client, root, { scope })).access_token;

type Door = (token: string) => Promise<boolean>;
const cookie = { cookie: 'a=b' };
const introspectionBy =
  (headers: Record<string, string>, path = '/oauth2/introspect'): Door =>
  async (token) =>
    (await postForm(app, path, { token }, headers)).body.active === true;
const answersTo =
  (method: string, path: string, more: Record<string, string> = {}): Door =>
  async (token) =>
    (await call(app, method, path, { headers: { ...bearer(token), ...more } })).status === 200;

const doors: Readonly<Record<string, Door>> = {
  'introspection by the administrator': introspectionBy(bearer(ADMIN_TOKEN)),
  'introspection by the administrator, past the plain way': introspectionBy({
    ...bearer(ADMIN_TOKEN),
    ...cookie,
  }),
  'introspection by its client': introspectionBy(basic(client)),
  'introspection by its client, past the plain way': introspectionBy({ ...basic(client), ...cookie }),
  'introspection in the foreign layout': introspectionBy(
    basic(client),
    '/realms/any/protocol/openid-connect/token/introspect',
  ),
  'userinfo in the foreign layout': answersTo('GET', '/realms/any/protocol/openid-connect/userinfo'),
  userinfo: answersTo('GET', '/oauth2/userinfo'),
  'userinfo, past the plain way': answersTo('GET', '/oauth2/userinfo', cookie),
  'userinfo by POST': answersTo('POST', '/oauth2/userinfo'),
  'userinfo by a form': async (token) =>
    (await postForm(app, '/oauth2/userinfo', { access_token: token })).status === 200,
  'account API': answersTo('GET', '/account/api/profile'),
  'admin API': answersTo('GET', '/admin/api/users?limit=1'),
};

/** RFC 9112 §5.1: space around the value of a header is none of it. */
const goesInHeader = (token: string): boolean => /^[\x21-\x7E]+$/.test(token);

async function openedBy(token: string): Promise<string[]> {
  const opened: string[] = [];
  for (const [name, opens] of Object.entries(doors)) {
    const isForm = name.startsWith('introspection') || name.endsWith('form');
    if ((isForm || goesInHeader(token)) && (await opens(token))) opened.push(name);
  }
  return opened;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const partsOf = (token: string): [string, string, string] => {
  const [head = '', body = '', signature = ''] = token.split('.');
  return [head, body, signature];
};
const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());

/** @returns forgeries of the token, by what they are */
async function forgeriesOf(token: string): Promise<Record<string, string>> {
  const [head, body, signature] = partsOf(token);
  const { privateKey: strange } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signed = (key: typeof strange, header: object, claims: object): string => {
    const input = `${encode(header)}.${encode(claims)}`;
    return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
  };
  const [header, claims] = [read(head), read(body)];
  const { keys } = JSON.parse((await call(app, 'GET', '/oauth2/.well-known/jwks.json')).text);
  const jwk = keys.find(({ kid }: { kid: string }) => kid === header.kid);
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const mac = `${encode({ ...header, alg: 'HS256' })}.${body}`;
  const padded = '='.repeat((4 - (body.length % 4)) % 4);
  const last = signature.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const sameBytes = alphabet[alphabet.indexOf(last) ^ 1] ?? '';
  const record = (await app.store.collection(accessTokens).find(String(claims.jti)))?.value ?? {};
  ok('valueDigest' in record && record.valueDigest === secretDigest(token), 'the record has its digest');
  return {
    'another key under our kid': signed(strange, header, claims),
    'another key in the header': signed(
      strange,
      { ...header, jwk: createPublicKey(strange).export({ format: 'jwk' }) },
      claims,
    ),
    'alg none': `${encode({ ...header, alg: 'none' })}.${body}.`,
    'alg none with a signature': `${encode({ ...header, alg: 'none' })}.${body}.${signature}`,
    'our public key as a secret': `${mac}.${createHmac('sha256', pem).update(mac).digest('base64url')}`,
    'a later end': `${head}.${encode({ ...claims, exp: Number(claims.exp) + 1000 })}.${signature}`,
    'claims in another order': `${head}.${encode(Object.fromEntries(Object.entries(claims).reverse()))}.${signature}`,
    'a header in another order': `${encode({ kid: header.kid, typ: header.typ, alg: header.alg })}.${body}.${signature}`,
    'typ JWT': `${encode({ ...header, typ: 'JWT' })}.${body}.${signature}`,
    'typ at+jwt in capitals': `${encode({ ...header, typ: 'AT+JWT' })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'its digest for a signature': `${head}.${body}.${String(record.valueDigest)}`,
    'unused bits of the last symbol': token.slice(0, -1) + sameBytes,
    'a padded body': `${head}.${body}${padded || '===='}.${signature}`,
    'a padded signature': `${token}==`,
    'base64 for base64url': `${head}.${body}.${signature.replaceAll('-', '+').replaceAll('_', '/')}${/[-_]/.test(signature) ? '' : '+'}`,
    'a part behind': `${token}.${signature}`,
    'the token twice': `${token}${token}`,
    'the digest of the value': String(record.valueDigest),
    'its jti': String(claims.jti),
    'its grant': String(record.grantId),
  };
}

test('attack: forged, padded and re-spelt tokens, digest and jti, at every door', async () => {
  const token = await issue();
  deepEqual(await openedBy(token), Object.keys(doors), 'the genuine one opens all');
  for (const [what, forged] of Object.entries(await forgeriesOf(token))) {
    equal(forged === token, false, what);
    deepEqual(await openedBy(forged), [], what);
  }
  // Forms trim white space (decision 0003); nothing but introspection takes a token with it.
  for (const spaced of [`${token} `, `${token}\n`])
    deepEqual(
      (await openedBy(spaced)).filter((door) => !door.startsWith('introspection')),
      [],
    );
});

test('attack: a forgery at revocation ends nothing, the token ends all doors', async () => {
  const token = await issue();
  for (const [what, forged] of Object.entries(await forgeriesOf(token))) {
    for (const headers of [basic(client), { ...basic(client), ...cookie }])
      await postForm(app, '/oauth2/revoke', { token: forged }, headers);
    equal(await isActive(app, token), true, what);
  }
  equal((await postForm(app, '/oauth2/revoke', { token }, basic(client))).status, 200);
  deepEqual(await openedBy(token), []);
});

test('attack: a record of an earlier version, without a digest, believes our signature alone', async () => {
  const token = await issue();
  const forgeries = await forgeriesOf(token);
  const { jti } = read(partsOf(token)[1]);
  await update(app.store.collection(accessTokens), String(jti), ({ valueDigest: _, ...value }) => ({
    value,
  }));
  deepEqual(await openedBy(token), Object.keys(doors));
  for (const [what, forged] of Object.entries(forgeries)) deepEqual(await openedBy(forged), [], what);
  equal((await postForm(app, '/oauth2/revoke', { token }, basic(client))).status, 200);
  deepEqual(await openedBy(token), []);
});

test('attack: an expired token, and one whose key was withdrawn', async () => {
  const [token, kept] = [await issue(), await issue()];
  const { exp, iat } = read(partsOf(token)[1]);
  const lifetime = Number(exp) - Number(iat);
  await later((lifetime + 1) * 1000, async () => deepEqual(await openedBy(token), []));
  deepEqual(await openedBy(token), Object.keys(doors), 'before its end');
  equal((await app.admin('POST', '/keys/rotate', { mode: 'compromised' })).status, 200);
  deepEqual([await openedBy(token), await openedBy(kept)], [[], []]);
  deepEqual(await openedBy(await issue()), Object.keys(doors), 'by the new key');
});
