// Authorization codes (RFC 6749 §4.1.2, RFC 9700 §4.5): bound to client, redirect URI and verifier,
// short-lived, for one use.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { authorizationCodes } from '../../src/store/protocol-collections.ts';
import { Agent, type Authorization, redeem, refresh, requestTokens, type Tokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { change, isActive, later, userinfo, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const OTHER_URI = 'https://rp.example/other';
const redirect_uris = [REDIRECT_URI, OTHER_URI];
const client = await app.register({ redirect_uris });
const foreign = await app.register({ redirect_uris });
const alice = await app.createUser('alice');
const agent = new Agent(app);
const obtain = (): Promise<Authorization> => agent.signIn(client.id, alice);

const exchange = (
  by: { id: string; secret: string },
  code: string,
  code_verifier: string,
  redirect_uri = REDIRECT_URI,
): Promise<Tokens> =>
  requestTokens(app, by, { grant_type: 'authorization_code', code, code_verifier, redirect_uri });

function expectInvalidGrant({ status, body }: Tokens, what = ''): void {
  deepEqual([status, body.error, body.access_token], [400, 'invalid_grant', undefined], what);
}

test('authorization code: opaque, in the redirect query, 256 bits', async () => {
  const { code, response } = await obtain();
  match(code, /^[\w-]{43}$/);
  deepEqual([...response.keys()].sort(), ['code', 'iss', 'state']);
});

// Each bit is one thing that is wrong.
for (let combination = 1; combination < 8; combination += 1) {
  const wrong = {
    client: (combination & 1) !== 0,
    redirect: (combination & 2) !== 0,
    verifier: (combination & 4) !== 0,
  };
  const what = Object.entries(wrong)
    .filter(([, isWrong]) => isWrong)
    .map(([name]) => name);
  test(`authorization code: a wrong ${what.join(' and ')} is refused without using it up (R025, R026)`, async () => {
    const { code, verifier } = await obtain();
    const refused = await exchange(
      wrong.client ? foreign : client,
      code,
      wrong.verifier ? 'w'.repeat(43) : verifier,
      wrong.redirect ? OTHER_URI : REDIRECT_URI,
    );
    expectInvalidGrant(refused);
    const { status, body } = await exchange(client, code, verifier);
    equal(status, 200, JSON.stringify(body));
    equal(await isActive(app, body.access_token), true);
  });
}

test('attack: nearly matching redirect URIs at the token endpoint', async () => {
  const { code, verifier } = await obtain();
  for (const uri of [
    `${REDIRECT_URI}/`,
    `${REDIRECT_URI}?`,
    'https://RP.example/callback',
    'https://rp.example:443/callback',
  ])
    expectInvalidGrant(await exchange(client, code, verifier, uri), uri);
  for (const redirect_uri of ['', undefined]) {
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const { status, body } = await requestTokens(app, client, {
      ...fields,
      ...(redirect_uri !== undefined && { redirect_uri }),
    });
    deepEqual([status, body.error], [400, 'invalid_request'], 'RFC 6749 §4.1.3: required');
  }
  equal((await exchange(client, code, verifier)).status, 200);
});

test('attack: altered, truncated, padded and unknown codes', async () => {
  const { code, verifier } = await obtain();
  const last = code.endsWith('A') ? 'B' : 'A';
  for (const wrong of [
    code.slice(1),
    code.slice(0, -1),
    `${code}A`,
    `${code}=`,
    `${code.slice(0, -1)}${last}`,
    ` ${code}`,
    `${code}\n`,
    'x',
    '../x',
    'x'.repeat(2000),
  ])
    expectInvalidGrant(await exchange(client, wrong, verifier), wrong.slice(0, 60));
  equal((await exchange(client, code, verifier)).status, 200);
});

test('authorization code: a second use is refused and revokes the first grant (R028)', async () => {
  for (const ms of [0, 1000, 30_000]) {
    const authorization = await obtain();
    const { body } = await redeem(app, client, authorization);
    const { body: refreshed } = await refresh(app, client, body.refresh_token);
    equal(await isActive(app, refreshed.access_token), true);
    expectInvalidGrant(await later(ms, () => redeem(app, client, authorization)), String(ms));
    for (const token of [body.access_token, refreshed.access_token, refreshed.refresh_token])
      equal(await isActive(app, token), false);
    equal((await userinfo(app, body.access_token)).status, 401);
    expectInvalidGrant(await refresh(app, client, refreshed.refresh_token));
  }
});

test('attack: another client presents a used code; nothing is revoked', async () => {
  const authorization = await obtain();
  const { body } = await redeem(app, client, authorization);
  expectInvalidGrant(await exchange(foreign, authorization.code, authorization.verifier));
  equal(await isActive(app, body.access_token), true);
});

test('authorization code: expires after 60 seconds, even while stored (R027)', async () => {
  const [early, late] = [await obtain(), await obtain()];
  equal((await later(58_000, () => redeem(app, client, early))).status, 200);
  expectInvalidGrant(await later(61_000, () => redeem(app, client, late)));
  // The row is still there, and the store would hand it out.
  const row = await app.store.ephemeral(authorizationCodes).find(secretDigest(late.code));
  ok(row !== undefined && row.value.consumed === undefined);
  equal((await redeem(app, client, late)).status, 200, 'only time was wrong with it');
});

test('authorization code: the store drops it too; the lifetime setting applies to the next', async () => {
  await withApp({}, async (own) => {
    await change(own, { authorization_code_seconds: 20 });
    const mine = await own.register();
    const bob = await own.createUser('bob');
    const authorization = await new Agent(own).signIn(mine.id, bob);
    own.advance(21_000);
    expectInvalidGrant(await redeem(own, mine, authorization));
  });
});

test('authorization code: stored as a digest only', async () => {
  const { code, verifier } = await obtain();
  const row = await app.store.ephemeral(authorizationCodes).find(secretDigest(code));
  ok(row !== undefined && !JSON.stringify(row).includes(code));
  equal(await app.store.ephemeral(authorizationCodes).find(code), undefined);
  expectInvalidGrant(await exchange(client, secretDigest(code), verifier), 'the digest is no code');
});

test('authorization code: the client’s grant types count at redemption, too', async () => {
  const changing = await app.register();
  const authorization = await agent.signIn(changing.id, alice);
  const { status } = await app.admin('PATCH', `/clients/${changing.id}`, {
    grant_types: ['client_credentials'],
    response_types: [],
  });
  equal(status, 200);
  const { status: refused, body } = await redeem(app, changing, authorization);
  deepEqual([refused, body.error], [400, 'unauthorized_client']);
});
