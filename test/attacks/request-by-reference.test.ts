// request_uri of the legacy profile (decision 0021), attacked: as a way to make this server call others (SSRF),
// and as a moving target that changes after it was registered.
// A process of its own: its requests are led elsewhere.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after, beforeEach } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { call, change } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { openPublicWeb } from '../support/public-web.ts';
import { startReceiver } from '../support/receiver.ts';

interface Served {
  status: number;
  headers: Record<string, string>;
  body: string;
}
let served: Served;
const web = await openPublicWeb((_request, response) => {
  response.writeHead(served.status, served.headers).end(served.body);
});
const inside = await startReceiver();
const app = await startApp({ store: 'sqlite', env: { OUTBOUND_ALLOW: `127.0.0.1:${inside.port}` } });
after(async () => {
  await app.stop();
  inside.close();
  await web.close();
});
await change(app, { legacy_profiles: true });
const alice = await app.createUser('alice');
const keys = await generateKeyPair('ES256');
const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] };

const OBJECT = 'https://rp.test/object.jwt';
const client = await app.register({ profile: 'legacy', jwks, request_uris: [OBJECT] });
const agent = new Agent(app);
await agent.signIn(client.id, alice);

const object = (more: Record<string, unknown> = {}, id = client.id): Promise<string> =>
  new SignJWT({ ...codeRequest(id), state: 'inside', ...more })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(id)
    .setAudience(app.issuer)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(keys.privateKey);

const JWT = { 'content-type': 'application/oauth-authz-req+jwt' };
beforeEach(async () => {
  served = { status: 200, headers: JWT, body: await object() };
});

async function answerTo(uri: string, id = client.id): Promise<Record<string, string>> {
  const { location, status } = await agent.authorize({
    ...codeRequest(id),
    request_uri: uri,
    state: 'outside',
  });
  equal(status, 303);
  return Object.fromEntries(new URL(location ?? '').searchParams);
}

const visits = (): number => web.visits.get('rp.test') ?? 0;

test('request_uri: the registered object is fetched, and is the request', async () => {
  const { state, code } = await answerTo(OBJECT);
  deepEqual([state, code !== undefined], ['inside', true]);
  const { body } = await call(app, 'GET', '/.well-known/openid-configuration');
  deepEqual([body.request_uri_parameter_supported, body.require_request_uri_registration], [true, true]);
});

test('request_uri: what is not registered is not fetched', async () => {
  const before = visits();
  for (const uri of [
    `${OBJECT}?x=1`,
    'https://rp.test/',
    'https://RP.test/object.jwt',
    'https://rp.test:443/object.jwt',
    'https://rp.test/a/../object.jwt',
    'https://rp.test@evil.test/object.jwt',
    `http://127.0.0.1:${inside.port}/`,
    'https://169.254.169.254/latest/meta-data/',
  ]) {
    equal((await answerTo(uri)).error, 'invalid_request_uri', uri);
  }
  equal((await answerTo('file:///etc/passwd')).error, 'request_uri_not_supported');
  const modern = await app.register({ jwks });
  equal((await answerTo(OBJECT, modern.id)).error, 'request_uri_not_supported');
  const unknown = await agent.authorize({ ...codeRequest('nobody'), request_uri: OBJECT });
  equal(unknown.status, 400);
  const both = await agent.authorize({
    ...codeRequest(client.id),
    request_uri: OBJECT,
    request: served.body,
  });
  equal(new URL(both.location ?? '').searchParams.get('error'), 'invalid_request');
  deepEqual([visits(), inside.received.length], [before, 0]);
});

test('request_uri: inside, of metadata, by http or of this server: refused or not called', async () => {
  const { port } = new URL(app.url);
  for (const uri of [
    `http://127.0.0.1:${inside.port}/o.jwt`,
    'http://rp.test/o.jwt',
    `${app.url}/oauth2/.well-known/jwks.json`,
    'ftp://rp.test/o.jwt',
    'https://user:secret@rp.test/o.jwt',
    `${OBJECT}#not-a-digest`,
  ]) {
    const { status, body } = await app.admin('PATCH', `/clients/${client.id}`, { request_uris: [uri] });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['request_uris']], uri);
  }
  const bad = [
    'https://10.0.0.1/o',
    'https://[::1]/o',
    'https://169.254.169.254/o',
    `https://127.0.0.1:${port}/o`,
  ];
  const { id } = await app.register({
    profile: 'legacy',
    jwks,
    request_uris: [...bad, 'https://inner.test/o'],
  });
  web.addresses.set('inner.test', '192.168.1.1');
  for (const uri of [...bad, 'https://inner.test/o']) {
    const { error, error_description: description } = await answerTo(uri, id);
    deepEqual([error, description], ['invalid_request_uri', 'the request_uri cannot be used'], uri);
  }
  deepEqual([web.visits.get('inner.test'), inside.received.length], [undefined, 0]);
});

test('request_uri: a redirect, an error, a huge, compressed or foreign document: refused', async () => {
  const answers: Readonly<Record<string, Partial<Served>>> = {
    redirect: { status: 302, headers: { ...JWT, location: `http://127.0.0.1:${inside.port}/` } },
    error: { status: 500 },
    'not there': { status: 404 },
    huge: { body: `${'a'.repeat(70_000)}.a.a` },
    compressed: { headers: { ...JWT, 'content-encoding': 'gzip' } },
    page: { headers: { 'content-type': 'text/html' } },
    keys: { headers: { 'content-type': 'application/json' }, body: JSON.stringify(jwks) },
    encrypted: { body: 'a.b.c.d.e' },
    text: { headers: { 'content-type': 'text/plain' }, body: 'no object' },
    unsigned: {
      body: new UnsecuredJWT(codeRequest(client.id)).setIssuer(client.id).setAudience(app.issuer).encode(),
    },
  };
  for (const [what, more] of Object.entries(answers)) {
    served = { status: 200, headers: JWT, body: await object(), ...more };
    const { error, code } = await answerTo(OBJECT);
    deepEqual([error, code], ['invalid_request_uri', undefined], what);
  }
  equal(inside.received.length, 0);
});

test('request_uri: a moving target is checked at every fetch: signature, owner, age', async () => {
  const stranger = await generateKeyPair('ES256');
  const other = await app.register({ profile: 'legacy', jwks });
  const forged = new SignJWT(codeRequest(client.id))
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(client.id)
    .setAudience(app.issuer);
  for (const [what, body] of Object.entries({
    "another's key": await forged.sign(stranger.privateKey),
    "another application's": await object({}, other.id),
    expired: await forged.setExpirationTime(1).sign(keys.privateKey),
    'unregistered address': await object({ redirect_uri: 'https://evil.example/' }),
    'reference again': await object({ request_uri: 'https://evil.test/' }),
  })) {
    served = { ...served, body };
    const { location } = await agent.authorize({ ...codeRequest(client.id), request_uri: OBJECT });
    ok(location === undefined || !new URL(location).searchParams.has('code'), what);
    ok(location === undefined || new URL(location).origin === 'https://rp.example', what);
  }
});

test('request_uri: a fragment names the version, the signature says whether it counts', async () => {
  const uri = `${OBJECT}#${'A'.repeat(43)}`;
  const { id } = await app.register({ profile: 'legacy', jwks, request_uris: [uri] });
  // As the suite of the OpenID Foundation registers one: before there is content that the digest could be of.
  served = { ...served, body: await object({}, id) };
  equal((await answerTo(uri, id)).state, 'inside');
  for (const other of [OBJECT, `${OBJECT}#${'B'.repeat(43)}`, `${OBJECT}#`])
    equal((await answerTo(other, id)).error, 'invalid_request_uri', other);
  // Another application's object in its place, with the digest of that.
  served = { ...served, body: await object() };
  ok(!('code' in (await answerTo(uri, id))));
  // Added by the request to an address that is registered without one.
  equal((await answerTo(uri)).state, 'inside');
});

test('request_uri: fetches count against the address that asks, and end with the setting', async () => {
  await change(app, { limit_public_requests_ip: 2 });
  const statuses: number[] = [];
  for (let at = 0; at < 4; at += 1) {
    statuses.push((await agent.authorize({ ...codeRequest(client.id), request_uri: OBJECT })).status);
  }
  ok(statuses.includes(429), String(statuses));
  await change(app, { limit_public_requests_ip: 1000, legacy_profiles: false });
  const before = visits();
  equal((await answerTo(OBJECT)).error, 'request_uri_not_supported');
  equal(visits(), before);
});
