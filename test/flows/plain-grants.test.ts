// Code exchange and refresh as plain answers (src/oidc/plain/token.ts) against the library, as plain-answers.test.ts has it for
// introspection. Each request needs a code or refresh token of its own: copies of those that real sign-ins gave, with a grant
// of their own, one for each of the two applications.
//
// What the library does beside the answer: events of models (`access_token.saved`, `refresh_token.saved`, `.consumed`, emitted by
// the models themselves, to nobody), `grant.success` (the token log and the metrics), `grant.error`, `grant.revoked` and removals,
// which a plain request leaves to it; `Cache-Control`, CORS, the `DPoP-Nonce` of a proof, and an error page for browsers. Ours
// around it: the charge of the address, PKCE runs, the scope's form, settings and keys that changed.
import { equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { newSecret, secretDigest } from '../../src/ids.ts';
import type { ProtocolPayload } from '../../src/store/collections.ts';
import { authorizationCodes, grants, refreshTokens } from '../../src/store/protocol-collections.ts';
import { Agent, codeRequest, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI } from '../support/app.ts';
import { createRandom, type Random, type Sent, startTwins } from '../support/twins.ts';
import { createApi, type TestApi } from './api-support.ts';
import {
  type Answer,
  type Client,
  call,
  claimsOf,
  introspect,
  later,
  type User,
  userinfo,
} from './support.ts';
import {
  KEYCLOAK_TOKEN,
  oddCredentials,
  oddFields,
  oddHeaders,
  TOKEN,
  tokenRequest,
} from './token-requests.ts';

const twins = await startTwins();
after(() => twins.stop());
const { on: app } = twins;
const { store } = twins.off;

const SEED = 20_261_126;
const REQUESTS = process.env.LONG === '1' ? 6000 : 550;
const EVERYTHING = 'openid profile email phone address roles groups offline_access';

// What is learned of applications that need no PKCE is counted over both (test/flows/pkce.test.ts).
const all = { scope: `${EVERYTHING} admin`, require_pkce: true };
const staff = await app.admin('POST', '/groups', { name: 'staff' });
const alice = await app.createUser('alice', { email: 'alice@example.com', given_name: 'Åsa "A"' });
const root = await app.createUser('root', { role: 'admin' });
const left = await app.createUser('left');
const members = `/groups/${String(staff.body.data.id)}/members`;
for (const { id } of [alice, left]) equal((await app.admin('POST', members, { user_id: id })).status, 200);

const web = await app.register(all);
const inHeader = await app.register({ ...all, token_endpoint_auth_method: 'client_secret_basic' });
const inForm = await app.register({ ...all, token_endpoint_auth_method: 'client_secret_post' });
const open = await app.register({ ...all, token_endpoint_auth_method: 'none' });
const native = await app.register({ ...all, token_endpoint_auth_method: 'none', application_type: 'native' });
const foreign = await app.register({ ...all, keycloak_tokens: true });
const minimal = await app.register({ ...all, minimal_id_tokens: true });
const unrefreshed = await app.register({ ...all, grant_types: ['authorization_code'] });
const bound = await app.register({ ...all, dpop_bound_access_tokens: true });
const narrowed = await app.register(all);
const ofGroup = await app.register({ ...all, allowed_groups: ['staff'] });
const moved = await app.register(all);
const disabled = await app.register(all);
const demanding = await app.register(all);
const plainOnes = [web, inHeader, inForm, open, native, foreign, minimal, unrefreshed, narrowed, ofGroup];
const api = await createApi(app, { claims: ['profile', 'roles'] });
const opaque = await createApi(app, { access_token_format: 'opaque' });
const strict = await createApi(app, { require_dpop: true });
const removed = await createApi(app);

type Fields = readonly (readonly [string, string])[];

interface Source {
  readonly client: Client;
  readonly api: TestApi | undefined;
  readonly code: ProtocolPayload;
  readonly refresh: ProtocolPayload | undefined;
  readonly grant: ProtocolPayload;
  /** Whether a usual request with it is answered plainly. */
  readonly isPlain: boolean;
}

const found = async (name: 'code' | 'refresh' | 'grant', id: string): Promise<ProtocolPayload> => {
  const stored =
    name === 'code'
      ? await store.ephemeral(authorizationCodes).find(secretDigest(id))
      : await store
          .collection(name === 'grant' ? grants : refreshTokens)
          .find(name === 'grant' ? id : secretDigest(id));
  if (stored === undefined) throw new TypeError(`no ${name}`);
  return stored.value;
};

const textIn = (payload: ProtocolPayload, name: string): string => String(Reflect.get(payload, name));

const usualCodeFields = (value: string): Fields => [
  ['grant_type', 'authorization_code'],
  ['code', value],
  ['redirect_uri', REDIRECT_URI],
  ['code_verifier', VERIFIER],
];

const exchange = (client: Client, code: string): Promise<Answer> => {
  const sent = tokenRequest(client, usualCodeFields(code), client === inHeader ? 'header' : 'form');
  return call(app, 'POST', TOKEN, { headers: sent.headers, body: String(sent.body) });
};

async function sourceOf(
  client: Client,
  user: User,
  more: Record<string, string | undefined> = {},
  { isPlain = true, api: target }: { isPlain?: boolean; api?: TestApi } = {},
): Promise<Source> {
  const agent = new Agent(app);
  const asked = { ...codeRequest(client.id), ...(target && { resource: target.identifier }), ...more };
  const first = (await agent.finish(await agent.authorize(asked), user)).searchParams;
  const code = await found('code', first.get('code') ?? '');
  const grant = await found('grant', textIn(code, 'grantId'));
  const isRefreshed = client !== unrefreshed && client !== bound && target !== strict;
  const again = (await agent.finish(await agent.authorize(asked), user)).searchParams;
  const { body } = await exchange(client, again.get('code') ?? '');
  const value = isRefreshed ? String(body.refresh_token) : undefined;
  // A refresh token that travels as a JWT has no value of its own that could be copied.
  const refresh = value === undefined || client === foreign ? undefined : await found('refresh', value);
  return { client, api: target, code, refresh, grant, isPlain };
}

const sources: Source[] = [];
for (const client of plainOnes) {
  for (const scope of ['openid', 'openid profile email offline_access', EVERYTHING])
    sources.push(await sourceOf(client, alice, { scope, ...(scope === 'openid' && { nonce: 'n-1' }) }));
}
sources.push(
  await sourceOf(web, root, { scope: `${EVERYTHING} admin` }),
  await sourceOf(web, alice, {
    claims: JSON.stringify({ id_token: { email: null }, userinfo: { name: null } }),
  }),
  await sourceOf(web, alice, { scope: 'profile email' }),
);
for (const target of [api, opaque]) {
  for (const scope of [
    'openid profile read',
    'read write',
    'read',
    `${target.identifier}/read offline_access`,
  ])
    sources.push(await sourceOf(web, alice, { scope }, { api: target }));
}
const others: Source[] = [
  await sourceOf(bound, alice, {}, { isPlain: false }),
  await sourceOf(web, alice, { scope: 'openid read' }, { isPlain: false, api: strict }),
  await sourceOf(web, alice, { scope: 'openid read' }, { isPlain: false, api: removed }),
  await sourceOf(ofGroup, left, {}, { isPlain: false }),
  await sourceOf(moved, alice, {}, { isPlain: false }),
  await sourceOf(disabled, alice, {}, { isPlain: false }),
  await sourceOf(demanding, alice, {}, { isPlain: false }),
];
const patch = async (client: Client, changes: object): Promise<void> => {
  const { status, body } = await app.admin('PATCH', `/clients/${client.id}`, changes);
  equal(status, 200, JSON.stringify(body));
};
await patch(narrowed, { scope: 'openid email' });
await patch(moved, { redirect_uris: ['https://elsewhere.example/callback'] });
await patch(disabled, { is_active: false });
await patch(demanding, { required_acr: 'urn:latchkey:acr:mfa' }).catch(() => undefined);
await removed.remove();
equal((await app.admin('DELETE', `${members}/${left.id}`)).status, 204);

/** A copy with a grant of its own. @returns its value */
async function copyOf(kind: 'code' | 'refresh', source: Source, changes: object = {}): Promise<string> {
  const [value, grantId] = [newSecret(), newSecret()];
  const expiresAt = Date.now() + 3_600_000;
  const payload = {
    ...(kind === 'code' ? source.code : source.refresh),
    grantId,
    exp: Math.floor(expiresAt / 1000),
  };
  await store.collection(grants).insert(grantId, { ...source.grant, jti: grantId }, { expiresAt });
  const collection = kind === 'code' ? store.ephemeral(authorizationCodes) : store.collection(refreshTokens);
  await collection.insert(secretDigest(value), { ...payload, ...changes }, { expiresAt });
  return value;
}

interface Case {
  /** For both applications, each with the value of its own. */
  readonly send: (value: string) => Sent;
  readonly kind: 'code' | 'refresh';
  readonly source: Source;
  readonly changes: object;
  readonly isUsual: boolean;
}

const now = (): number => Math.floor(Date.now() / 1000);

/** What may have become of a code or refresh token; the first is nothing. */
const oddStates = (random: Random): object =>
  random.pick<object>([
    {},
    { exp: now() - 1 },
    { consumed: now() - 2 },
    { consumed: now() - 60 },
    { scope: 'openid' },
    { scope: '' },
    { accountId: 'nobody' },
    { redirectUri: 'https://rp.example/other' },
    { codeChallenge: undefined, codeChallengeMethod: undefined },
    { codeChallengeMethod: 'plain' },
    { authTime: 1 },
    { acr: '0' },
    { iiat: 1 },
    { gty: 'device_code refresh_token' },
    { jkt: 'x' },
    { clientId: unrefreshed.id },
  ]);

const codeFields = (value: string, isOdd: boolean, random: Random): Fields => {
  const usual = usualCodeFields(value);
  if (!isOdd) return usual;
  const verifiers = [
    'w'.repeat(43),
    'v'.repeat(42),
    createHash('sha256').update(VERIFIER).digest('base64url'),
  ];
  return random.pick<Fields>([
    usual.slice(0, 3),
    usual.slice(0, 2),
    [...usual.slice(0, 3), ['code_verifier', random.pick(verifiers)]],
    [...usual.slice(0, 2), ['redirect_uri', 'https://rp.example/other'], ['code_verifier', VERIFIER]],
    [...usual, ['scope', 'openid']],
    [...usual, ['resource', api.identifier]],
    [...usual, ['resource', 'https://unknown.example']],
    [...usual, ['audience', 'https://unknown.example']],
    [['grant_type', 'authorization_code'], ['code', 'nonsense'], ...usual.slice(2)],
    [['grant_type', 'authorization_code'], ['code', `${value.slice(0, -1)}.`], ...usual.slice(2)],
  ]);
};

const refreshFields = (
  value: string,
  { api: target, code }: Source,
  isOdd: boolean,
  random: Random,
): Fields => {
  const usual: Fields = [
    ['grant_type', 'refresh_token'],
    ['refresh_token', value],
  ];
  const [own = ''] = textIn(code, 'scope').split(' ');
  const ours = target === undefined ? own : 'read';
  const scopes = [ours, `${ours} nonsense`];
  if (!isOdd) return random.chance(0.7) ? usual : [...usual, ['scope', random.pick(scopes)]];
  return random.pick<Fields>([
    [...usual, ['scope', 'nonsense']],
    [...usual, ['scope', 'email']],
    [...usual, ['scope', 'write']],
    [...usual, ['scope', 'admin']],
    [...usual, ['scope', `${api.identifier}/read`]],
    [...usual, ['resource', api.identifier]],
    [...usual, ['resource', 'https://unknown.example']],
    [...usual, ['code', 'x']],
    [['grant_type', 'refresh_token']],
    [...usual.slice(0, 1), ['refresh_token', 'nonsense']],
  ]);
};

/** As from a script of the application. */
const withOrigin = (sent: Sent, random: Random): Sent =>
  random.chance(0.8) ? sent : { ...sent, headers: { ...sent.headers, origin: 'https://rp.example' } };

/** The choice is made once, so that both get the same. */
function caseOf(random: Random): Case {
  const isUsual = random.chance(0.65);
  const source = isUsual || random.chance(0.6) ? random.pick(sources) : random.pick(others);
  const kind = source.refresh !== undefined && random.chance(0.5) ? 'refresh' : 'code';
  const { client } = source;
  const place = client === inForm ? 'form' : client === inHeader ? 'header' : random.pick(['form', 'header']);
  const isOddSaid = !isUsual && random.chance(0.4);
  const changes = isUsual || random.chance(0.5) ? {} : oddStates(random);
  const placeholder = 'VALUE';
  const fields =
    kind === 'code'
      ? codeFields(placeholder, isOddSaid, random)
      : refreshFields(placeholder, source, isOddSaid, random);
  const plain = withOrigin(tokenRequest(client, fields, place), random);
  const sent =
    isUsual || random.chance(0.6)
      ? plain
      : random.pick<() => Sent>([
          () => oddCredentials(random, random.pick([...plainOnes, disabled, client]), fields),
          () => ({ ...plain, body: oddFields(random, String(plain.body)) }),
          () => ({ ...plain, headers: { ...plain.headers, ...random.pick(oddHeaders) } }),
          () => ({
            ...plain,
            path: random.pick([
              `${TOKEN}?x=y`,
              `${TOKEN}?audience=https%3A%2F%2Fa.example`,
              `${TOKEN}/`,
              `/realms/any${KEYCLOAK_TOKEN}`,
            ]),
          }),
        ])();
  const send = (value: string): Sent => ({ ...sent, body: sent.body?.replaceAll(placeholder, value) });
  return { send, kind, source, changes, isUsual: isUsual && source.isPlain };
}

test('plain answers: code exchange and refresh are the same with and without them', {
  timeout: 400_000,
}, async (t) => {
  const random = createRandom(SEED);
  const counts = { code: 0, refresh: 0, plain: 0, granted: 0 };
  // Each process takes points of the limits in portions; from here on both have theirs.
  for (const each of [twins.on, twins.off])
    await call(each, 'POST', TOKEN, { body: new URLSearchParams({ grant_type: 'x' }) });
  for (let index = 0; index < REQUESTS; index += 1) {
    const { send, kind, source, changes, isUsual } = caseOf(random);
    await later(0, async () => {
      const [one, other] = [await copyOf(kind, source, changes), await copyOf(kind, source, changes)];
      const label = `request ${index}: ${JSON.stringify([changes, send(one)]).slice(0, 2000)}`;
      const { isPlain, status, text } = await twins.compareIssued(send(one), send(other), label);
      const isGranted = status === 200 && text.startsWith('{"access_token":');
      counts.granted += isGranted ? 1 : 0;
      counts.plain += isPlain ? 1 : 0;
      counts[kind] += isPlain ? 1 : 0;
      if (isPlain) ok(isGranted, label);
      if (isUsual) ok(isPlain, `took the long way: ${label}`);
      if (!isPlain || random.chance(0.7)) return;
      // What was given out is worth something, and what was given up is not.
      const again = await twins.compareIssued(send(one), send(other), `again: ${label}`);
      const isSecondRefresh = kind === 'refresh' && again.status === 200;
      equal(again.isPlain, false, label);
      ok(again.status === 400 || isSecondRefresh, label);
    });
  }
  t.diagnostic(JSON.stringify(counts));
  ok(counts.code > REQUESTS / 5 && counts.refresh > REQUESTS / 5, JSON.stringify(counts));
  ok(counts.plain / counts.granted > 0.85, JSON.stringify(counts));
});

test('plain answers: their tokens are bound to each other and work', async () => {
  for (const source of sources) {
    const { status, text, body } = await exchange(source.client, await copyOf('code', source));
    equal(status, 200, text);
    const [token, id] = [String(body.access_token), body.id_token];
    const hash = createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url');
    if (id !== undefined) equal(claimsOf(String(id)).at_hash, hash);
    equal((await introspect(twins.off, token)).body.active, true);
    const isForUserinfo = source.api === undefined && String(body.scope).includes('openid');
    if (isForUserinfo) equal((await userinfo(twins.off, token)).status, 200);
  }
});
