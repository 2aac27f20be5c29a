// Client credentials as a plain answer (src/oidc/plain/token.ts) against the library, as plain-answers.test.ts has it for
// introspection.
// A process of its own: requests that reach Koa are counted.
import { equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createRandom, type Random, type Sent, startTwins } from '../support/twins.ts';
import { createApi } from './api-support.ts';
import { type Client, change, introspect, later } from './support.ts';
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

const SEED = 20_261_125;
const REQUESTS = process.env.LONG === '1' ? 6000 : 250;

const machineOnly = { grant_types: ['client_credentials'], redirect_uris: [] };
const register = (more: object = {}): Promise<Client> =>
  app.register({ ...machineOnly, scope: 'email phone', ...more });
const machine = await register();
const chosenBasic = await register({ token_endpoint_auth_method: 'client_secret_basic' });
const chosenPost = await register({ token_endpoint_auth_method: 'client_secret_post' });
const brief = await register({ access_token_seconds: 90, access_token_audience: 'client_id' });
const foreign = await register({ keycloak_tokens: true });
const bound = await register({ dpop_bound_access_tokens: true });
const web = await app.register();
const open = await app.register({ token_endpoint_auth_method: 'none' });
const disabled = await register();
equal((await app.admin('PATCH', `/clients/${disabled.id}`, { is_active: false })).status, 200);

const plainOnes = [machine, chosenBasic, chosenPost, brief, foreign];
const granted = Object.fromEntries([...plainOnes, bound].map(({ id }) => [id, ['read', 'write']]));
const formats = ['at+jwt', 'jwt', 'opaque'] as const;
const apis = await Promise.all(
  formats.map((access_token_format) => createApi(app, { access_token_format, machine_grants: granted })),
);
const [api] = apis;
if (api === undefined) throw new TypeError('no API');
const strict = await createApi(app, { require_dpop: true, machine_grants: granted });
const closed = await createApi(app);

type Fields = readonly [string, string][];

/** What is answered plainly. */
const plainFields = (random: Random): Fields => {
  const { identifier } = random.pick(apis);
  return random.pick<Fields>([
    [],
    [],
    [['scope', 'email']],
    [['scope', 'email phone']],
    [['scope', 'email nonsense']],
    [['resource', identifier]],
    [['audience', identifier]],
    [
      ['resource', identifier],
      ['scope', 'read'],
    ],
    [
      ['audience', identifier],
      ['scope', 'read write'],
    ],
    [['scope', `${identifier}/read`]],
    [['scope', `${identifier}/.default`]],
  ]);
};

const otherFields = (random: Random): Fields =>
  random.pick<Fields>([
    [['scope', 'nonsense']],
    [['scope', 'openid']],
    [['scope', 'admin']],
    [['scope', 'read']],
    [['resource', closed.identifier]],
    [['resource', strict.identifier]],
    [['resource', 'https://unknown.example']],
    [['resource', 'nonsense']],
    [['scope', `${closed.identifier}/read`]],
    [['scope', `${closed.identifier}/read email`]],
    [
      ['resource', api.identifier],
      ['scope', 'nonsense'],
    ],
    [
      ['resource', api.identifier],
      ['audience', String(apis[1]?.identifier)],
    ],
    [['code', 'x']],
    [['client_assertion', 'x.y.z']],
    [['authorization_details', '[]']],
    [['refresh_token', 'x']],
  ]);

function machineRequest(random: Random): { readonly sent: Sent; readonly isUsual: boolean } {
  const isOdd = random.chance(0.25);
  const isGood = random.chance(0.8);
  const who = random.pick(plainOnes);
  const fields: Fields = [
    ['grant_type', 'client_credentials'],
    ...(isGood ? plainFields(random) : otherFields(random)),
  ];
  const place =
    who === chosenPost ? 'form' : who === chosenBasic ? 'header' : random.pick(['form', 'header']);
  if (!isOdd) return { sent: tokenRequest(who, fields, place), isUsual: isGood };
  const everyone = [...plainOnes, bound, web, open, disabled, { id: 'unknown', secret: 'x' }];
  const sent = tokenRequest(who, fields, place);
  return {
    isUsual: false,
    sent: random.pick<() => Sent>([
      () => oddCredentials(random, random.pick(everyone), fields),
      () => ({ ...sent, body: oddFields(random, String(sent.body)) }),
      () => ({ ...sent, headers: { ...sent.headers, ...random.pick(oddHeaders) } }),
      () => ({ ...sent, method: random.pick(['GET', 'PUT', 'OPTIONS', 'HEAD']) }),
      () => ({
        ...sent,
        path: random.pick([
          ...[
            `${TOKEN}?x=y`,
            `${TOKEN}?audience=${encodeURIComponent(String(api?.identifier))}`,
            `${TOKEN}/`,
            '/oauth2/Token',
            '/oauth2//token',
          ],
          `/realms/any${KEYCLOAK_TOKEN}`,
          `/oauth2${KEYCLOAK_TOKEN}`,
        ]),
      }),
      () => ({ ...sent, isChunked: true }),
    ])(),
  };
}

test('plain answers: client credentials are the same with and without them', {
  timeout: 900_000,
}, async (t) => {
  const random = createRandom(SEED);
  const counts = { plain: 0, granted: 0 };
  let last = '';
  for (let index = 0; index < REQUESTS; index += 1) {
    const { sent, isUsual } = machineRequest(random);
    const label = `request ${index}: ${JSON.stringify(sent).slice(0, 2000)}`;
    const { isPlain, status, text } = await later(0, () => twins.compareIssued(sent, label));
    const isGranted = status === 200 && text.startsWith('{"access_token":');
    counts.granted += isGranted ? 1 : 0;
    counts.plain += isPlain ? 1 : 0;
    if (isPlain) ok(isGranted, label);
    if (isUsual) ok(isPlain, `took the long way: ${label}`);
    if (isPlain) last = JSON.parse(text).access_token;
  }
  t.diagnostic(`${counts.plain} of ${counts.granted} grants were plain, of ${REQUESTS} requests`);
  ok(counts.granted > REQUESTS / 2, `only ${counts.granted} grants`);
  ok(counts.plain / counts.granted > 0.85, `${counts.plain} of ${counts.granted}`);
  // A token of the one is a token of the other.
  equal((await introspect(twins.off, last)).body.active, true);
});

test('plain answers: a machine that is switched off gets no token at the next request', async () => {
  const one = await register();
  const sent = tokenRequest(one, [['grant_type', 'client_credentials']], 'header');
  equal((await later(0, () => twins.compareIssued(sent, 'before'))).isPlain, true);
  // By the other process: nothing here may remember.
  equal((await twins.off.admin('PATCH', `/clients/${one.id}`, { is_active: false })).status, 200);
  equal((await later(0, () => twins.compareIssued(sent, 'after'))).status, 401);
});

test('plain answers: cost nothing of the limit of an address, and are refused when it is spent', async () => {
  const right = tokenRequest(machine, [['grant_type', 'client_credentials']], 'header');
  const wrong = { ...right, body: 'grant_type=refresh_token&refresh_token=x' };
  const status = async ({ method, headers, body }: Sent): Promise<number> =>
    (await fetch(app.url + TOKEN, { method, headers, body: String(body) })).status;
  await change(app, { limit_token_ip: 3 });
  try {
    for (let turn = 0; turn < 5; turn += 1) equal(await status(right), 200);
    for (let turn = 0; turn < 3; turn += 1) equal(await status(wrong), 400);
    equal(await status(wrong), 429);
    equal(await status(right), 429);
  } finally {
    await change(app, { limit_token_ip: 1_000_000 });
  }
});
