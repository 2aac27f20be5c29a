// Plain answers (src/oidc/plain/) against the library: a generated corpus to two applications, one with them and one without.
// Status, headers, body, log lines and writes must be equal, whatever the request; and the share that is answered plainly is
// held, so that it cannot silently become none.
// A process of its own: requests that reach Koa are counted.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import test, { after } from 'node:test';
import { requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN } from '../support/app.ts';
import { createRandom, type Random, type Sent, startTwins } from '../support/twins.ts';
import { createApi } from './api-support.ts';
import { basic, bearer, type Client, postForm, tokensOf } from './support.ts';

const twins = await startTwins();
after(() => twins.stop());
const { on: app } = twins;

const SEED = 20_261_123;
const REQUESTS = process.env.LONG === '1' ? 20_000 : 800;

const machineOnly = { grant_types: ['client_credentials'], redirect_uris: [] };
const client = await app.register();
const chosenBasic = await app.register({ token_endpoint_auth_method: 'client_secret_basic' });
const chosenPost = await app.register();
const open = await app.register({ token_endpoint_auth_method: 'none' });
const asking = await app.register({ may_introspect: true });
const disabled = await app.register();
const machine = await app.register({ ...machineOnly, scope: 'email' });
const withOrigin = await app.register({ web_origins: ['https://spa.example'] });
const alice = await app.createUser('alice', { email: 'alice@example.com' });
const bob = await app.createUser('bob');
const root = await app.createUser('root', { role: 'admin' });
const administering = await app.register({ scope: 'openid admin' });
const api = await createApi(app, { claims: ['profile'], machine_grants: { [machine.id]: ['read'] } });
const opaqueApi = await createApi(app, {
  access_token_format: 'opaque',
  machine_grants: { [machine.id]: ['read'] },
});
const plainTyp = await createApi(app, { access_token_format: 'jwt' });

const ofMachine = async (more: Record<string, string> = {}): Promise<string> => {
  const { status, body } = await requestTokens(app, machine, { grant_type: 'client_credentials', ...more });
  equal(status, 200, JSON.stringify(body));
  return body.access_token;
};
const own = await tokensOf(app, client, alice, { scope: 'openid profile email' });
const post = await tokensOf(app, chosenPost, alice);
const withBasic = await tokensOf(app, chosenBasic, alice);
const ofOpen = await tokensOf(app, open, alice);
const ofSpa = await tokensOf(app, withOrigin, alice);
const ended = await tokensOf(app, disabled, alice);
const revoked = await tokensOf(app, client, alice);
const ofBob = await tokensOf(app, client, bob);
const ofRoot = await tokensOf(app, administering, root, { scope: 'openid admin' });
const forApi = await tokensOf(app, client, alice, { resource: api.identifier, scope: 'openid read' });
const forOpaque = await tokensOf(app, client, alice, {
  resource: opaqueApi.identifier,
  scope: 'openid read',
});
const forPlainTyp = await tokensOf(app, client, alice, { resource: plainTyp.identifier, scope: 'read' });
await postForm(app, '/oauth2/revoke', { token: revoked.access_token });
equal((await app.admin('POST', `/users/${bob.id}/deactivate`)).status, 200);
equal(
  (
    await app.admin('PATCH', `/clients/${chosenPost.id}`, {
      token_endpoint_auth_method: 'client_secret_post',
    })
  ).status,
  200,
);
equal((await app.admin('PATCH', `/clients/${disabled.id}`, { is_active: false })).status, 200);

const keyWith = async (scopes: readonly string[]): Promise<string> => {
  const { status, body } = await app.admin('POST', '/api-keys', { name: 'resource server', scopes });
  equal(status, 201, JSON.stringify(body));
  const key = String(body.data.api_key);
  // Its first use is recorded, which only one of the twins would do.
  equal((await postForm(app, '/oauth2/introspect', { token: 'x' }, bearer(key))).status, 200);
  return key;
};
/** Bearers of resource servers that have no client (decision 0003). */
const bootstrap: Client = { id: 'ADMIN_TOKEN', secret: ADMIN_TOKEN };
const apiKey: Client = { id: 'API key', secret: await keyWith(['admin']) };
const readingKey: Client = { id: 'read-only API key', secret: await keyWith(['admin:read']) };

const goodTokens: readonly string[] = [
  own.access_token,
  post.access_token,
  withBasic.access_token,
  ofOpen.access_token,
  ofSpa.access_token,
  forApi.access_token,
  forOpaque.access_token,
  forPlainTyp.access_token,
  await ofMachine(),
  await ofMachine({ scope: 'email' }),
  await ofMachine({ resource: api.identifier }),
  await ofMachine({ resource: opaqueApi.identifier }),
];
const otherTokens: readonly string[] = [
  own.refresh_token,
  forApi.refresh_token,
  String(own.id_token),
  ended.access_token,
  revoked.access_token,
  ofBob.access_token,
  ofRoot.access_token,
  `${own.access_token.slice(0, -4)}AAAA`,
  own.access_token.replace('.', '..'),
  'nonsense',
  'a'.repeat(43),
  'lka_x.y',
  '"><b>',
  '\u{1f600}',
  '',
];

/** Who may ask about what. */
const pairs: readonly (readonly [Client, string])[] = [
  [client, own.access_token],
  [client, forApi.access_token],
  [client, forOpaque.access_token],
  [chosenBasic, withBasic.access_token],
  [chosenPost, post.access_token],
  [withOrigin, ofSpa.access_token],
  [asking, own.access_token],
  [asking, ofOpen.access_token],
  [machine, await ofMachine()],
  [machine, await ofMachine({ scope: 'email' })],
  [machine, await ofMachine({ resource: opaqueApi.identifier })],
  [api.credentials, forApi.access_token],
  [api.credentials, await ofMachine({ resource: api.identifier })],
  [opaqueApi.credentials, forOpaque.access_token],
  [plainTyp.credentials, forPlainTyp.access_token],
  [bootstrap, own.access_token],
  [bootstrap, await ofMachine()],
  [bootstrap, forApi.access_token],
  [bootstrap, ofRoot.access_token],
  [apiKey, forOpaque.access_token],
  [readingKey, post.access_token],
];
const registered: readonly Client[] = [
  client,
  chosenBasic,
  chosenPost,
  asking,
  machine,
  withOrigin,
  api.credentials,
  opaqueApi.credentials,
  plainTyp.credentials,
];
const others: readonly Client[] = [
  open,
  disabled,
  { id: 'unknown', secret: 'secret' },
  { id: '', secret: '' },
];

/** What a confidential client of its kind sends. */
function credentialed(who: Client): Pick<Sent, 'headers'> & { readonly fields: [string, string][] } {
  if ([bootstrap, apiKey, readingKey].includes(who)) return { headers: bearer(who.secret), fields: [] };
  if (who.id !== chosenPost.id) return { headers: basic(who), fields: [] };
  return {
    headers: {},
    fields: [
      ['client_id', who.id],
      ['client_secret', who.secret],
    ],
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const INTROSPECT = '/oauth2/introspect';

function oddCredentials(random: Random): ReturnType<typeof credentialed> {
  const who = random.pick([...registered, ...others]);
  const { id, secret } = who;
  const raw = (text: string, scheme = 'Basic') => ({
    authorization: `${scheme} ${Buffer.from(text).toString('base64')}`,
  });
  const inForm: [string, string][] = [
    ['client_id', id],
    ['client_secret', secret],
  ];
  return random.pick<ReturnType<typeof credentialed>>([
    { headers: basic(who), fields: [] },
    { headers: {}, fields: inForm },
    { headers: basic(who), fields: inForm },
    { headers: basic(who), fields: [['client_id', id]] },
    { headers: basic(who), fields: [['client_id', 'another']] },
    { headers: basic({ id, secret: `${secret}x` }), fields: [] },
    {
      headers: {},
      fields: [
        ['client_id', id],
        ['client_secret', 'wrong'],
      ],
    },
    { headers: {}, fields: [['client_id', id]] },
    { headers: raw(`${id}:`), fields: [] },
    { headers: raw(`${id}:`), fields: inForm },
    { headers: raw(`${id.replaceAll('-', '%2D')}:${secret.replaceAll('_', '%5f')}`), fields: [] },
    { headers: raw(id), fields: [] },
    { headers: raw(`${id}:${secret}`, 'basic'), fields: [] },
    { headers: raw(`${id}:${secret}`, 'Basic '), fields: [] },
    { headers: { authorization: `${basic(who).authorization}=` }, fields: [] },
    { headers: raw(`%${id.charCodeAt(0).toString(16)}${id.slice(1)}:${secret}`), fields: [] },
    { headers: {}, fields: [] },
    { headers: bearer(ADMIN_TOKEN), fields: [] },
    { headers: bearer(ADMIN_TOKEN), fields: inForm },
    { headers: bearer(`${ADMIN_TOKEN}x`), fields: [] },
    { headers: bearer(`${apiKey.secret.slice(0, -1)}_`), fields: [] },
    { headers: { authorization: `bearer  ${ADMIN_TOKEN}` }, fields: [] },
    { headers: bearer(ofRoot.access_token), fields: [] },
    { headers: bearer(own.access_token), fields: [] },
    { headers: { authorization: 'DPoP x' }, fields: [] },
  ]);
}

const oddHeaders: readonly Record<string, string>[] = [
  { origin: 'https://spa.example' },
  { origin: 'https://rp.example' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { cookie: 'a=b' },
  { dpop: 'x.y.z' },
  { 'content-type': 'application/json' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
  { 'content-encoding': 'gzip' },
  { accept: 'text/html' },
  { accept: 'application/token-introspection+jwt' },
  { 'accept-language': 'de' },
  { 'x-forwarded-for': '203.0.113.9' },
  { 'oauth-client-attestation': 'x.y.z' },
  { 'access-control-request-method': 'POST' },
  { 'user-agent': 'x'.repeat(400) },
  { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' },
];

function oddFields(random: Random, fields: readonly [string, string][]): string {
  const encoded = new URLSearchParams(
    fields.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  return random.pick([
    encoded,
    `${encoded}&token=${own.access_token}`,
    `${encoded}&scope=openid`,
    `${encoded}&resource=${encodeURIComponent(api.identifier)}`,
    `${encoded}&client_secret=a&client_secret=b`,
    `${encoded}&`,
    `&${encoded}`,
    `${encoded}&token_type_hint=a&token_type_hint=b`,
    `${encoded}&__proto__=x`,
    `${encoded}&x=`,
    `${encoded}&token_type_hint=`,
    `${encoded}&client_id=`,
    `${encoded}&client_assertion_type=`,
    `${encoded}&client_assertion=x.y.z`,
    encoded.replace(/^(.)/, (first) => `%${first.charCodeAt(0).toString(16)}`),
    encoded.replaceAll('.', '%2E'),
    `${encoded}%`,
    `${encoded}%00`,
    `${encoded}&x=${'y'.repeat(20_000)}`,
    '',
  ]);
}

/** One in four is wrong or unusual, in one way or in several. */
function introspection(random: Random): Sent & { readonly isOdd: boolean } {
  const isOdd = random.chance(0.25);
  const [pairedClient, pairedToken] = random.pick(pairs);
  const anyToken = random.chance(0.7) ? random.pick(goodTokens) : random.pick(otherTokens);
  const token = random.chance(0.75) ? pairedToken : anyToken;
  const isOtherClient = isOdd && random.chance(0.5);
  const { headers, fields } = isOtherClient ? oddCredentials(random) : credentialed(pairedClient);
  const hint = random.pick(['', '', '', 'access_token', 'refresh_token', 'nonsense']);
  const sent: [string, string][] = [['token', token], ...fields];
  if (hint !== '') sent.push(['token_type_hint', hint]);
  if (random.chance(0.5)) sent.reverse();
  const body = isOdd && random.chance(0.5) ? oddFields(random, sent) : new URLSearchParams(sent).toString();
  return {
    isOdd,
    method: isOdd && random.chance(0.1) ? random.pick(['GET', 'PUT', 'OPTIONS', 'DELETE']) : 'POST',
    path: isOdd && random.chance(0.1) ? random.pick(oddPaths) : random.pick(paths),
    headers: { ...FORM, ...headers, ...(isOdd && random.chance(0.5) ? random.pick(oddHeaders) : {}) },
    body,
    isChunked: isOdd && random.chance(0.05),
  };
}

const paths: readonly string[] = [
  INTROSPECT,
  INTROSPECT,
  '/oauth2/protocol/openid-connect/token/introspect',
  '/realms/any/protocol/openid-connect/token/introspect',
];
const oddPaths: readonly string[] = [
  `${INTROSPECT}?token=x`,
  `${INTROSPECT}/`,
  '/oauth2//introspect',
  '/oauth2/Introspect',
  '/realms/any/protocol/openid-connect/token/introspect/',
  '/realms/a/b/protocol/openid-connect/token/introspect',
  '/realms/any/protocol/openid-connect/token/introspect?token=x',
  '/oauth2/protocol/openid-connect/introspect',
];

test('plain answers: introspection is the same with and without them', { timeout: 900_000 }, async (t) => {
  const random = createRandom(SEED);
  const counts = { plain: 0, active: 0 };
  for (let index = 0; index < REQUESTS; index += 1) {
    const { isOdd, ...sent } = introspection(random);
    const label = `request ${index}: ${JSON.stringify(sent).slice(0, 2000)}`;
    const { isPlain, status, text } = await twins.compare(sent, label);
    const isActive = status === 200 && text.startsWith('{"active":true');
    counts.active += isActive ? 1 : 0;
    counts.plain += isPlain && isActive ? 1 : 0;
    // Only successes, and that a token is inactive is one: a handler that answers a refusal would be a second place for it.
    if (isPlain) ok(isActive || text === '{"active":false}', label);
    if (!isOdd && isActive) ok(isPlain, `took the long way: ${label}`);
  }
  t.diagnostic(`${counts.plain} of ${counts.active} active answers were plain, of ${REQUESTS} requests`);
  ok(counts.active > REQUESTS / 2, `only ${counts.active} active answers`);
  ok(counts.plain / counts.active > 0.9, `${counts.plain} of ${counts.active}`);
});

test('plain answers: a body in pieces, long after its head, is read all the same', async () => {
  const { port } = new URL(app.url);
  const body = `token=${own.access_token}`;
  const socket = connect(Number(port), '127.0.0.1');
  const answered = new Promise<string>((resolve) =>
    socket.once('data', (bytes) => resolve(bytes.toString())),
  );
  socket.write(
    `POST ${INTROSPECT} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM['content-type']}\r\n` +
      `Authorization: ${basic(client).authorization}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  for (const piece of [body.slice(0, 3), body.slice(3, 200), body.slice(200)]) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(piece);
  }
  match(await answered, /^HTTP\/1\.1 200 OK/);
  socket.destroy();
});

test('plain answers: a connection that closes within a body leaves its line in the log', async () => {
  const { port } = new URL(app.url);
  app.logged.length = 0;
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST ${INTROSPECT} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM['content-type']}\r\nContent-Length: 50\r\n\r\ntoken=`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const lines = app.logged.filter((line) => line.includes('"request"')).map((line) => JSON.parse(line));
  deepEqual(
    lines.map(({ path, is_aborted }) => [path, is_aborted]),
    [[INTROSPECT, true]],
  );
});

test('plain answers: end with the token, its client and its API at the next request', async () => {
  const active = async (who: Client, token: string): Promise<boolean> => {
    const { headers, fields } = credentialed(who);
    const body = new URLSearchParams([['token', token], ...fields]).toString();
    const { text } = await twins.compare(
      { method: 'POST', path: INTROSPECT, headers: { ...FORM, ...headers }, body },
      who.id,
    );
    return text.startsWith('{"active":true');
  };
  const { access_token: one } = await tokensOf(app, client, alice);
  equal(await active(client, one), true);
  await postForm(app, '/oauth2/revoke', { token: one });
  equal(await active(client, one), false);
  const { access_token: two } = await tokensOf(app, client, alice);
  equal(await active(client, two), true);
  // By the other process: nothing here may remember.
  await twins.off.admin('POST', `/users/${alice.id}/revoke-sessions`);
  equal(await active(client, two), false);
  equal(await active(api.credentials, await ofMachine({ resource: api.identifier })), true);
  const last = await ofMachine({ resource: api.identifier });
  await api.remove();
  const { status } = await postForm(app, INTROSPECT, { token: last }, basic(api.credentials));
  equal(status, 401);
});

test('plain answers: nothing listens to an event of the library that they do not raise', () => {
  const names = new Set<string>();
  for (const file of readdirSync('src/oidc', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(`src/oidc/${file}`, 'utf8');
    for (const [, name = ''] of source.matchAll(/(?:provider|this)\.(?:on|once)\(\s*'([a-z_.]+)'/g))
      names.add(name);
  }
  // Of these, introspection, userinfo and what they read raise `assign.client` alone, when the library knows the client; what
  // listens to it (models/oidc-context.ts) is the rule of plain-client.ts. The token endpoint raises it as the library does, by
  // the library's own context; its grant is the library's handler, and `grant.success` comes after it (plain/token.ts), as in
  // lib/actions/token.js.
  // A new name here is a question to every plain answer.
  deepEqual([...names].filter((name) => !name.endsWith('.error')).sort(), [
    'assign.client',
    'authorization.success',
    'authorization_code.saved',
    'grant.revoked',
    'grant.success',
    'server_error',
  ]);
});
