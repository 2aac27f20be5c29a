// A flood of assertions that anybody can send in an application's name (RFC 7523): each that names no key is tried with every key of
// that application. They are verified a few in parallel per application (decision 0012), so the rest of the server does not wait.
// A process of its own: its signature checks are watched.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { after, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { epoch, postForm } from '../flows/support.ts';
import { startApp } from '../support/app.ts';

const FLOOD = 200;
const IN_PARALLEL = 4;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const app = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1' } });
after(() => app.stop());

const pairs = await Promise.all(
  Array.from({ length: 5 }, () => generateKeyPair('RS256', { extractable: true })),
);
const [own] = pairs;
const strange = await generateKeyPair('RS256');
const publicKeys = await Promise.all(pairs.map(({ publicKey }) => exportJWK(publicKey)));
const register = (keys: object[]) =>
  app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys },
  });
const [flooded, other] = [await register(publicKeys), await register(publicKeys.slice(0, 1))];

async function request(client: { id: string }, key: CryptoKey, from: string) {
  const claims = { iss: client.id, sub: client.id, aud: app.issuer, jti: randomUUID(), exp: epoch() + 60 };
  const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(key);
  const fields = { client_assertion, client_assertion_type: ASSERTION_TYPE };
  return () =>
    postForm(
      app,
      '/oauth2/token',
      { grant_type: 'client_credentials', ...fields },
      { 'x-forwarded-for': from },
    );
}

/** How many signatures are being verified at once, at most; each takes as long as one by a very long key on a slow machine. */
function watchVerifications() {
  const verify = crypto.subtle.verify.bind(crypto.subtle);
  const seen = { now: 0, most: 0 };
  const watched = mock.method(crypto.subtle, 'verify', async (...given: Parameters<typeof verify>) => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    try {
      await sleep(10);
      return await verify(...given);
    } finally {
      seen.now -= 1;
    }
  });
  return { seen, stop: () => watched.mock.restore() };
}

test('attack: 200 wrong assertions in the name of one application, and right ones meanwhile', async () => {
  const wrong = await Promise.all(
    Array.from({ length: FLOOD }, () => request(flooded, strange.privateKey, '198.51.100.7')),
  );
  const right = await request(flooded, own?.privateKey ?? strange.privateKey, '203.0.113.9');
  const neighbour = await request(other, own?.privateKey ?? strange.privateKey, '203.0.113.10');
  const { seen, stop } = watchVerifications();
  const done: string[] = [];
  const note = async (name: string, sent: ReturnType<typeof right>) => {
    const answer = await sent;
    done.push(name);
    return answer.status;
  };
  try {
    const flood = wrong.map((send) => note('wrong', send()));
    const ours = await Promise.all([note('right', right()), note('neighbour', neighbour())]);
    const statuses = new Set(await Promise.all(flood));
    deepEqual(ours, [200, 200]);
    ok(
      [...statuses].every((status) => [401, 429, 503].includes(status)),
      String([...statuses]),
    );
  } finally {
    stop();
  }
  ok(seen.most <= IN_PARALLEL + 1, `${seen.most} at once`);
  ok(done.lastIndexOf('wrong') > done.indexOf('neighbour'), 'the neighbour waits for no flood');
  ok(done.lastIndexOf('wrong') > done.indexOf('right'), 'another network has its turn');
  // Nothing of the flood is left.
  const later = await request(flooded, own?.privateKey ?? strange.privateKey, '198.51.100.7');
  equal((await later()).status, 200);
});
