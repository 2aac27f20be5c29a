// Userinfo as a plain answer (src/oidc/plain/userinfo.ts) against the library, as plain-answers.test.ts has it for introspection.
// A process of its own: requests that reach Koa are counted.
import { equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN } from '../support/app.ts';
import { proofKey, proofOf } from '../support/dpop.ts';
import { createRandom, type Random, type Sent, startTwins } from '../support/twins.ts';
import { createApi } from './api-support.ts';
import { basic, bearer, postForm, tokensOf } from './support.ts';

const twins = await startTwins();
after(() => twins.stop());
const { on: app } = twins;

const SEED = 20_261_124;
const REQUESTS = process.env.LONG === '1' ? 20_000 : 800;
const USERINFO = '/oauth2/userinfo';
const EVERYTHING = 'openid profile email phone address roles groups offline_access';

const all = { scope: EVERYTHING };
const staff = await app.admin('POST', '/groups', { name: 'staff' });
equal(staff.status, 201);
const members = `/groups/${String(staff.body.data.id)}/members`;
const client = await app.register(all);
const web = await app.register({ ...all, web_origins: ['https://spa.example'] });
const narrowed = await app.register(all);
const emptied = await app.register(all);
const signing = await app.register({ ...all, userinfo_signed_response_alg: 'RS256' });
const ofGroup = await app.register({ ...all, allowed_groups: ['staff'] });
const disabled = await app.register(all);
const withoutGrant = await app.register(all);
const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
const api = await createApi(app);

const full = {
  email: 'alice@example.com',
  given_name: 'Alice',
  family_name: 'Åström "A"',
  phone_number: '+441865276150',
  website: 'https://alice.example',
  zoneinfo: 'Europe/London',
  address: { street_address: '1 High Street', locality: 'Oxford' },
};
const alice = await app.createUser('alice', full);
const bare = await app.createUser('bare');
const left = await app.createUser('left');
const off = await app.createUser('off');
const root = await app.createUser('root', { role: 'admin' });

for (const { id } of [alice, bare, left]) {
  equal((await app.admin('POST', members, { user_id: id })).status, 200);
}

const scopeLists = ['openid', 'openid email', 'openid profile email', 'openid roles groups', EVERYTHING];
const good: string[] = [];
for (const scope of scopeLists) {
  for (const [who, whom] of [
    [client, alice],
    [client, bare],
    [web, alice],
    [client, root],
    [ofGroup, alice],
    [narrowed, alice],
  ] as const) {
    good.push((await tokensOf(app, who, whom, { scope })).access_token);
  }
}
const key = await proofKey();
const bound = await postForm(
  app,
  '/oauth2/token',
  { grant_type: 'client_credentials' },
  { ...basic(machine), DPoP: await proofOf(key, 'POST', `${app.url}/oauth2/token`) },
);
const claims = JSON.stringify({ userinfo: { email: { essential: true }, name: null } });
const revoked = await tokensOf(app, client, alice, all);
const own = await tokensOf(app, client, alice, all);
const others: readonly string[] = [
  (await tokensOf(app, signing, alice, all)).access_token,
  (await tokensOf(app, client, alice, { scope: 'openid email', claims })).access_token,
  (await tokensOf(app, client, alice, { scope: 'openid', claims })).access_token,
  (await tokensOf(app, ofGroup, left, all)).access_token,
  (await tokensOf(app, disabled, alice, all)).access_token,
  (await tokensOf(app, emptied, alice, all)).access_token,
  (await tokensOf(app, withoutGrant, alice, all)).access_token,
  (await tokensOf(app, client, off, all)).access_token,
  (await tokensOf(app, client, alice, { resource: api.identifier, scope: 'openid read' })).access_token,
  (await requestTokens(app, machine, { grant_type: 'client_credentials' })).body.access_token,
  String(bound.body.access_token),
  revoked.access_token,
  own.refresh_token,
  String(own.id_token),
  `${own.access_token.slice(0, -4)}AAAA`,
  ADMIN_TOKEN,
  'nonsense',
  '',
];
const patch = async (path: string, changes: object): Promise<void> => {
  const { status, body } = await app.admin('PATCH', path, changes);
  equal(status, 200, JSON.stringify(body));
};
await postForm(app, '/oauth2/revoke', { token: revoked.access_token });
await patch(`/clients/${narrowed.id}`, { scope: 'openid email' });
await patch(`/clients/${emptied.id}`, { scope: 'email' });
await patch(`/clients/${disabled.id}`, { is_active: false });
await patch(`/clients/${withoutGrant.id}`, { grant_types: ['client_credentials'] });
equal((await app.admin('DELETE', `${members}/${left.id}`)).status, 204);
equal((await app.admin('POST', `/users/${off.id}/deactivate`)).status, 200);

const oddHeaders: readonly Record<string, string>[] = [
  { origin: 'https://spa.example' },
  { origin: 'https://rp.example' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { cookie: 'a=b' },
  { dpop: 'x.y.z' },
  { accept: 'text/html' },
  { accept: 'application/jwt' },
  { 'accept-language': 'de' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'application/json' },
  { 'x-forwarded-for': '203.0.113.9' },
  { 'if-none-match': '*' },
  { range: 'bytes=0-3' },
];

function odd(random: Random, token: string): Sent {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = `access_token=${encodeURIComponent(token)}`;
  const get = { method: 'GET', path: USERINFO, headers: bearer(token) };
  return random.pick<Sent>([
    get,
    { ...get, headers: { authorization: `bearer ${token}` } },
    { ...get, headers: { authorization: `Bearer  ${token}` } },
    { ...get, headers: { authorization: `Bearer ${token} x` } },
    { ...get, headers: { authorization: `DPoP ${token}` } },
    { ...get, headers: { authorization: token } },
    { ...get, headers: basic(client) },
    { ...get, headers: {} },
    { ...get, path: `${USERINFO}?access_token=${token}` },
    { ...get, path: `${USERINFO}?scope=openid` },
    { ...get, path: `${USERINFO}/` },
    { ...get, path: '/oauth2/Userinfo' },
    { ...get, path: '/oauth2/protocol/openid-connect/userinfo' },
    { ...get, method: 'POST' },
    { ...get, method: 'PUT' },
    { ...get, method: 'OPTIONS' },
    { ...get, method: 'HEAD' },
    { ...get, method: 'POST', headers: form, body },
    { ...get, method: 'POST', headers: { ...form, ...bearer(token) }, body },
    { ...get, method: 'POST', headers: { ...form, ...bearer(token) }, body: 'scope=openid' },
    { ...get, method: 'POST', headers: { ...form, ...bearer(token) }, body: 'scope=openid+address' },
    { ...get, headers: { ...get.headers, ...random.pick(oddHeaders) } },
    { ...get, headers: { ...get.headers, ...random.pick(oddHeaders) } },
  ]);
}

test('plain answers: userinfo is the same with and without them', { timeout: 900_000 }, async (t) => {
  const random = createRandom(SEED);
  const counts = { plain: 0, answered: 0 };
  for (let index = 0; index < REQUESTS; index += 1) {
    const isOdd = random.chance(0.25);
    const isGood = random.chance(0.75);
    const token = random.pick(isGood ? good : others);
    const sent = isOdd ? odd(random, token) : { method: 'GET', path: USERINFO, headers: bearer(token) };
    const label = `request ${index}: ${JSON.stringify(sent).slice(0, 2000)}`;
    const { isPlain, status, text } = await twins.compare(sent, label);
    const isAnswered = status === 200 && text.startsWith('{"sub":');
    counts.answered += isAnswered ? 1 : 0;
    counts.plain += isPlain ? 1 : 0;
    if (isPlain) ok(isAnswered, label);
    if (!isOdd && isGood) ok(isPlain, `took the long way: ${label}`);
  }
  t.diagnostic(`${counts.plain} of ${counts.answered} answers were plain, of ${REQUESTS} requests`);
  ok(counts.plain > REQUESTS / 2, `only ${counts.plain} plain answers`);
  ok(counts.plain / counts.answered > 0.8, `${counts.plain} of ${counts.answered}`);
});

test('plain answers: userinfo shows at the next request what has changed', async () => {
  const { access_token: token } = await tokensOf(app, client, alice, all);
  const asked = async () => {
    const sent = { method: 'GET', path: USERINFO, headers: bearer(token) };
    return twins.compare(sent, 'userinfo');
  };
  match((await asked()).text, /"given_name":"Alice"/);
  // By the other process: nothing here may remember.
  const { status } = await twins.off.admin('PATCH', `/users/${alice.id}`, { given_name: 'Alicia' });
  equal(status, 200);
  const { text, isPlain } = await asked();
  match(text, /"given_name":"Alicia"/);
  equal(isPlain, true);
  await postForm(twins.off, '/oauth2/revoke', { token });
  equal((await asked()).status, 401);
});
