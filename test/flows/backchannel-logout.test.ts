// Back-channel logout (decision 0005, OIDC Back-Channel Logout 1.0): what a receiver gets; one inside the
// own network gets nothing unless OUTBOUND_ALLOW covers it, and a failing receiver delays no one.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import test, { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { startReceiver } from '../support/receiver.ts';
import { call, claimsOf, isActive, tokensOf } from './support.ts';

const covered = await startReceiver();
const app = await startApp({ store: 'sqlite', env: { OUTBOUND_ALLOW: `127.0.0.1:${covered.port}` } });
after(async () => {
  await app.stop();
  covered.close();
});
const alice = await app.createUser('alice');

/** Takes connections and notes every byte. */
async function listenFor(host: string): Promise<{ port: number; received: () => number; close: () => void }> {
  let received = 0;
  const server: Server = createServer((socket) => {
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.on('error', () => {});
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, received: () => received, close: () => server.close() };
}

async function notDelivered(clientId: string): Promise<boolean> {
  for (let tries = 0; tries < 1200; tries += 1) {
    const line = app.logged.find((entry) => entry.includes('not delivered') && entry.includes(clientId));
    if (line !== undefined) return true;
    await wait(50);
  }
  return false;
}

for (const required of [undefined, false, true]) {
  test(`logout token: sub and sid with backchannel_logout_session_required ${required} (§2.4)`, async () => {
    const client = await app.register({
      backchannel_logout_uri: `http://127.0.0.1:${covered.port}/logout?of=${required}`,
      ...(required !== undefined && { backchannel_logout_session_required: required }),
    });
    const agent = new Agent(app);
    const [here, elsewhere] = [
      await tokensOf(app, client, alice, {}, agent),
      await tokensOf(app, client, alice),
    ];
    const before = covered.received.length;
    await agent.get('/oauth2/logout');
    for (let tries = 0; covered.received.length === before && tries < 2000; tries += 1) await wait(30);
    deepEqual(
      covered.received.slice(before).map(({ url }) => url),
      [`/logout?of=${required}`],
    );
    const token = new URLSearchParams(covered.received[before]?.body).get('logout_token') ?? '';
    const keys = createLocalJWKSet(JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: app.issuer,
      audience: client.id,
      typ: 'logout+jwt',
    });
    equal(protectedHeader.alg, 'RS256');
    deepEqual([payload.sub, payload.sid], [alice.id, claimsOf(here.id_token).sid]);
    ok(payload.sid !== claimsOf(elsewhere.id_token).sid);
    deepEqual(payload.events, { 'http://schemas.openid.net/event/backchannel-logout': {} });
    ok(typeof payload.jti === 'string' && payload.nonce === undefined);
    ok(Number(payload.exp) - Number(payload.iat) <= 120);
    equal(await isActive(app, elsewhere.access_token), true);
  });
}

const receivers: readonly (readonly [string, string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', '127.0.0.1'],
  ['[::1]', '::1'],
  ['[::ffff:127.0.0.1]', '127.0.0.1'],
];

for (const [name, host] of receivers) {
  test(`attack: SSRF by a logout receiver at https://${name}; no byte arrives (R030)`, async () => {
    const canary = await listenFor(host);
    try {
      const { status, body } = await app.admin('POST', '/clients', {
        redirect_uris: ['https://rp.example/callback'],
        backchannel_logout_uri: `https://${name}:${canary.port}/logout`,
        skip_consent: true,
      });
      // Refused at registration is as good as refused at delivery.
      if (status === 400) return;
      equal(status, 201, JSON.stringify(body));
      const client = { id: String(body.data.client_id), secret: String(body.data.client_secret) };
      const agent = new Agent(app);
      const tokens = await tokensOf(app, client, alice, {}, agent);
      const startedAt = performance.now();
      equal((await agent.get('/oauth2/logout')).status, 200);
      ok(isWithin(performance.now() - startedAt, 2500), 'the person does not wait for it');
      equal(await isActive(app, tokens.access_token), false);
      equal(await notDelivered(client.id), true);
      equal(canary.received(), 0);
    } finally {
      canary.close();
    }
  });
}

test('attack: plain http and other schemes as a logout receiver', async () => {
  for (const uri of [
    'http://rp.example/logout',
    'http://127.0.0.1/logout',
    'ftp://rp.example/',
    'file:///etc/passwd',
  ]) {
    const { status, body } = await app.admin('POST', '/clients', {
      redirect_uris: ['https://rp.example/callback'],
      backchannel_logout_uri: uri,
    });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['backchannel_logout_uri']], uri);
  }
});

test('back-channel logout: a dead receiver delays neither others nor the logout', async () => {
  const dead = await app.register({ backchannel_logout_uri: 'https://127.0.0.1:9/logout' });
  const plain = await app.register();
  const agent = new Agent(app);
  const first = await tokensOf(app, dead, alice, {}, agent);
  const second = await tokensOf(app, plain, alice, {}, agent);
  equal((await agent.get('/oauth2/logout')).status, 200);
  for (const { access_token } of [first, second]) equal(await isActive(app, access_token), false);
  equal(await notDelivered(dead.id), true);
});
