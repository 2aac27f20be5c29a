// An application whose key set, at its `jwks_uri`, is answered slowly or not at all. Assertions in its name that name an unknown key
// wait for that answer (RFC 7523 §3), and must not keep those by its known keys waiting (decision 0012: four at a time).
// A process of its own: its requests are led elsewhere.
import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type Answer, postForm } from '../flows/support.ts';
import { makeCertificate } from '../mail/certificate.ts';
import { startApp } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';

const HOST = 'slow-keys.client.test';
const STRANGERS = 24;

const certificate = makeCertificate([HOST]);
let published: JWK[] = [];
let isSlow = false;
const unanswered: ServerResponse[] = [];
function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }));
}
const server = createServer(certificate, (_request, response) => {
  if (isSlow) unanswered.push(response);
  else answer(response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

const { connect } = tls;
function connectHere(options: tls.ConnectionOptions, listener?: () => void): tls.TLSSocket {
  if (options.servername !== HOST) return connect(options, listener);
  const { lookup: _, ...others } = options;
  return connect({ ...others, host: '127.0.0.1', port, ca: certificate.cert }, listener);
}
tls.connect = connectHere as typeof tls.connect;
syncBuiltinESMExports();

const app = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1' } });
after(async () => {
  tls.connect = connect;
  syncBuiltinESMExports();
  await app.stop();
  server.closeAllConnections();
  server.close();
});

async function createKey(kid: string): Promise<{ kid: string; key: CryptoKey; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

const client = await app.register({
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_signing_alg: 'ES256',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  jwks_uri: `https://${HOST}/keys`,
});

async function ask({ kid, key }: { kid: string; key: CryptoKey }, from: string): Promise<Answer> {
  const client_assertion = await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(client.id)
    .setSubject(client.id)
    .setAudience(app.issuer)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(key);
  const fields = {
    grant_type: 'client_credentials',
    client_assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  };
  return postForm(app, '/oauth2/token', fields, { 'x-forwarded-for': from });
}

const [own, next, strange] = [await createKey('own'), await createKey('next'), await createKey('strange')];
const OURS = '203.0.113.9';

test('attack: assertions by unknown keys, while the key set is slow, keep the owner waiting', async () => {
  published = [own.jwk];
  equal((await ask(own, OURS)).status, 200);
  isSlow = true;
  app.advance(10_000);
  const forged = Array.from({ length: STRANGERS }, (_, n) => ask(strange, `198.51.${n}.7`));
  while (unanswered.length === 0) await sleep(10);
  await sleep(100);
  const began = performance.now();
  const mine = await Promise.all(Array.from({ length: 5 }, () => ask(own, OURS)));
  const took = performance.now() - began;
  deepEqual(
    mine.map(({ status }) => status),
    Array.from({ length: 5 }, () => 200),
    mine[0]?.text,
  );
  ok(isWithin(took, 2000), `${Math.round(took)} ms`);

  // What waits is answered by the new set: a new key of the owner, and the forgeries.
  const renewed = ask(next, OURS);
  await sleep(100);
  published = [next.jwk];
  isSlow = false;
  for (const response of unanswered.splice(0)) answer(response);
  equal((await renewed).status, 200);
  deepEqual(new Set((await Promise.all(forged)).map(({ status }) => status)), new Set([401]));
  equal((await ask(next, OURS)).status, 200);
});

test('attack: four assertions that take long, and one whose second turn does not come: 503', async () => {
  isSlow = true;
  app.advance(10_000);
  const late = ask(strange, '198.51.100.7');
  while (unanswered.length === 0) await sleep(10);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { subtle } = globalThis.crypto;
  const { verify } = subtle;
  let held = 0;
  subtle.verify = async (...given) => {
    held += 1;
    await gate;
    return verify.apply(subtle, given);
  };
  const mine = Array.from({ length: 4 }, () => ask(next, OURS));
  while (held < 4) await sleep(10);
  isSlow = false;
  for (const response of unanswered.splice(0)) answer(response);
  const { status, headers, text } = await late;
  open();
  subtle.verify = verify;
  // It was not verified, so nothing is said of the application's right to ask.
  deepEqual([status, headers.get('retry-after')], [503, '1'], text);
  doesNotMatch(text, /invalid_client/);
  deepEqual(
    (await Promise.all(mine)).map((one) => one.status),
    [200, 200, 200, 200],
  );
  deepEqual(
    app.logged.filter((line) => line.includes('"refused"') && line.includes('198.51.100.7')),
    [],
  );
});
