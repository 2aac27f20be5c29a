// PKCE (RFC 7636, RFC 9700 §2.1.1 and §4.8; checklist R023, R024): S256 for every client, without a bypass.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, requestTokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Client, change, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const confidential = await app.register();
const open = await app.register({ token_endpoint_auth_method: 'none' });
const alice = await app.createUser('alice');
const agent = new Agent(app);
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

type Fields = Record<string, string | undefined>;

/** @returns the answer's parameters */
async function authorize(client: Client, pkce: Fields, browser = agent): Promise<URLSearchParams> {
  const page = await browser.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    ...pkce,
  });
  ok(page.status === 303 || page.status === 200, page.body);
  return (await browser.finish(page, { username: 'alice' })).searchParams;
}

const exchange = (client: Client, code: string, fields: Record<string, string>, host = app) =>
  requestTokens(host, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...fields,
  });

test('PKCE: the example of RFC 7636', async () => {
  equal(challengeOf(VERIFIER), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  const answer = await authorize(open, {
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const { status, body } = await exchange(open, answer.get('code') ?? '', { code_verifier: VERIFIER });
  equal(status, 200, JSON.stringify(body));
  equal(alice.username, 'alice');
});

const challenge = challengeOf(VERIFIER);
const badRequests: readonly Fields[] = [
  {},
  { code_challenge: '' },
  { code_challenge_method: 'S256' },
  { code_challenge: challenge },
  { code_challenge: challenge, code_challenge_method: 'plain' },
  { code_challenge: challenge, code_challenge_method: 's256' },
  { code_challenge: challenge, code_challenge_method: 'S512' },
  { code_challenge: challenge, code_challenge_method: 'none' },
  { code_challenge: challenge.slice(1), code_challenge_method: 'S256' },
  { code_challenge: 'short', code_challenge_method: 'S256' },
  { code_challenge: 'a'.repeat(129), code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}=`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}+`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge.slice(0, -1)}é`, code_challenge_method: 'S256' },
  { code_challenge: `${challenge} `, code_challenge_method: 'S256' },
];

for (const [kind, client] of Object.entries({ confidential, public: open })) {
  test(`PKCE: a ${kind} client without a valid S256 challenge gets no code (R023)`, async () => {
    for (const pkce of badRequests) {
      const answer = await authorize(client, pkce);
      deepEqual([answer.get('error'), answer.get('code')], ['invalid_request', null], JSON.stringify(pkce));
      match(answer.get('error_description') ?? '', /PKCE|code_challenge/);
    }
  });
}

const badVerifiers: readonly (readonly [string, string | undefined])[] = [
  ['none (downgrade)', undefined],
  ['an empty one', ''],
  ['the challenge itself (plain)', challenge],
  ['a wrong one', VERIFIER.replace('d', 'e')],
  ['one cut short', VERIFIER.slice(0, 42)],
  ['one with more at its end', `${VERIFIER}A`],
  ['one that is too long', 'a'.repeat(129)],
  ['one with a foreign character', `${VERIFIER.slice(0, -1)}!`],
  ['one in another case', VERIFIER.toUpperCase()],
];

for (const [what, verifier] of badVerifiers) {
  test(`PKCE: ${what} as verifier is refused, and the code stays valid (R024, R026)`, async () => {
    for (const client of [confidential, open]) {
      const answer = await authorize(client, { code_challenge: challenge, code_challenge_method: 'S256' });
      const code = answer.get('code') ?? '';
      const fields: Record<string, string> = verifier === undefined ? {} : { code_verifier: verifier };
      const refused = await exchange(client, code, fields);
      equal(refused.status, 400);
      ok(['invalid_grant', 'invalid_request'].includes(refused.body.error ?? ''), refused.body.error);
      if (verifier === undefined || verifier === '') equal(refused.body.error, 'invalid_grant');
      equal((await exchange(client, code, { code_verifier: VERIFIER })).status, 200);
    }
  });
}

test('PKCE, require_pkce off: optional for confidential clients only, no downgrade', async () => {
  await withApp({}, async (lax) => {
    await change(lax, { require_pkce: false });
    const [secret, bare] = [await lax.register(), await lax.register({ token_endpoint_auth_method: 'none' })];
    await lax.createUser('alice');
    const browser = new Agent(lax);
    equal((await authorize(bare, {}, browser)).get('error'), 'invalid_request');

    const without = (await authorize(secret, {}, browser)).get('code') ?? '';
    const refused = await exchange(secret, without, { code_verifier: VERIFIER }, lax);
    deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
    equal((await exchange(secret, without, {}, lax)).status, 200);

    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const bound = (await authorize(secret, pkce, browser)).get('code') ?? '';
    equal((await exchange(secret, bound, {}, lax)).body.error, 'invalid_grant');
    const plain = await authorize(secret, { ...pkce, code_challenge_method: 'plain' }, browser);
    equal(plain.get('error'), 'invalid_request');
    equal((await exchange(secret, bound, { code_verifier: VERIFIER }, lax)).status, 200);
  });
});
