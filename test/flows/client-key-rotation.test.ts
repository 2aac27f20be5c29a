// A client rotates its keys at its `jwks_uri`, as a Keycloak that is our client does: its next assertion names a key that the set
// kept here does not have. Connections to the client's public address are led to a server of this test.
// A process of its own: its requests are led elsewhere.
import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import test, { after } from 'node:test';
import tls from 'node:tls';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { makeCertificate } from '../mail/certificate.ts';
import { startApp } from '../support/app.ts';
import { type Answer, postForm } from './support.ts';

const HOST = 'keys.client.test';

const certificate = makeCertificate([HOST]);
let published: JWK[] = [];
let fetches = 0;
const server = createServer(certificate, (_request, response) => {
  fetches += 1;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }));
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

const app = await startApp({ store: 'sqlite' });
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

async function ask({ kid, key }: { kid: string; key: CryptoKey }): Promise<Answer> {
  const client_assertion = await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(client.id)
    .setSubject(client.id)
    .setAudience(app.issuer)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(key);
  return postForm(app, '/oauth2/token', {
    grant_type: 'client_credentials',
    client_assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
}

const [first, second, unknown] = [await createKey('one'), await createKey('two'), await createKey('three')];

test('client keys: an unknown kid fetches the set again, once', async () => {
  published = [first.jwk];
  equal((await ask(first)).status, 200);
  equal((await ask(first)).status, 200);
  equal(fetches, 1);
  published = [second.jwk];
  const rotated = await ask(second);
  deepEqual([rotated.status, fetches], [200, 2], rotated.text);
  equal((await ask(second)).status, 200);
  equal(fetches, 2);
  equal((await ask(first)).status, 401, 'the old key is gone');
});

test('attack: assertions with made-up kids make this server fetch at will', async () => {
  const before = fetches;
  for (let round = 0; round < 5; round += 1) equal((await ask(unknown)).status, 401);
  equal(fetches, before, 'fetched within the last ten seconds');
  app.advance(10_000);
  for (let round = 0; round < 5; round += 1) equal((await ask({ ...unknown, kid: `x${round}` })).status, 401);
  equal(fetches, before + 1);
  equal((await ask(second)).status, 200);
});
