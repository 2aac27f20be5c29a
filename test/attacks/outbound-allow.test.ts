// Attacks on OUTBOUND_ALLOW (decision 0021): what it opens inside is called only where an administrator
// entered or approved that exact address; link-local and metadata addresses, this server and its databases never are.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import test, { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { portsOf } from '../../src/config/database-address.ts';
import { outboundAllow } from '../../src/config/outbound-allow.ts';
import { createOutbound } from '../../src/oidc/outbound/outbound.ts';
import {
  createOutboundFetch,
  createWhyUnreachable,
  OutboundRefused,
} from '../../src/oidc/outbound/outbound-fetch.ts';
import { createOutboundRules } from '../../src/oidc/outbound/outbound-rules.ts';
import { bearer, call, tokensOf } from '../flows/support.ts';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';

const inside = await startReceiver();
const secret = await startReceiver();
const redirecting = await startReceiver((_request, response) => {
  response.writeHead(307, { location: `http://127.0.0.1:${secret.port}/` }).end();
});
const app = await startApp({
  store: 'sqlite',
  env: { OUTBOUND_ALLOW: `localhost:${inside.port} 127.0.0.1:${inside.port}, 127.0.0.1:${redirecting.port}` },
});
after(async () => {
  await app.stop();
  for (const one of [inside, secret, redirecting]) one.close();
});
const alice = await app.createUser('alice');

const approved = { use: 'notice', isApproved: true } as const;
const rulesOf = (allow: string, stores: readonly string[] = [], listenerPort = 3000) =>
  createOutboundRules({
    allow: outboundAllow(allow),
    isOwnAddress: () => false,
    listenerPort,
    storePorts: new Set(stores.flatMap(portsOf)),
  });

/** How often the notice arrived, a moment after the sign-out. */
async function signOutOf(client: { readonly id: string; readonly secret: string }): Promise<void> {
  const agent = new Agent(app);
  await tokensOf(app, client, alice, {}, agent);
  await agent.get('/oauth2/logout');
  await wait(300);
}

test('OUTBOUND_ALLOW: an address inside that an administrator entered gets the logout token', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const before = inside.received.length;
    const path = `/logout-${host}`;
    await signOutOf(await app.register({ backchannel_logout_uri: `http://${host}:${inside.port}${path}` }));
    const [arrived] = inside.received.slice(before);
    deepEqual([inside.received.length - before, arrived?.url], [1, path]);
    match(arrived?.body ?? '', /^logout_token=eyJ/);
  }
});

test('attack: an address inside that a stranger registered, though OUTBOUND_ALLOW covers it', async () => {
  const before = inside.received.length;
  const { body: made } = await app.admin('POST', '/initial-access-tokens', { label: 'x', uses: 5 });
  const register = (metadata: object) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { ...bearer(String(made.data.token)), 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...metadata }),
    });
  const plain = `http://127.0.0.1:${inside.port}/logout`;
  const refused = await register({ backchannel_logout_uri: plain });
  deepEqual([refused.status, refused.body.error], [400, 'invalid_client_metadata']);

  const https = `https://127.0.0.1:${inside.port}/logout`;
  const { status, body } = await register({ backchannel_logout_uri: https });
  equal(status, 201);
  const id = String(body.client_id);
  const shown = async () => (await app.admin('GET', `/clients/${id}`)).body.data;
  deepEqual((await shown()).approved_addresses, []);
  // A change of something else approves nothing, and the client cannot do it either.
  await app.admin('PATCH', `/clients/${id}`, { client_name: 'Renamed', skip_consent: true });
  deepEqual((await shown()).approved_addresses, []);
  const token = String(body.registration_access_token);
  const changed = await call(app, 'PUT', `/oauth2/register/${id}`, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: id, redirect_uris: [REDIRECT_URI], approved_addresses: [https] }),
  });
  equal(changed.status, 400, changed.text);
  await signOutOf({ id, secret: String(body.client_secret) });
  equal(inside.received.length, before);
  ok(app.logged.some((line) => line.includes(id) && line.includes('no administrator approved it')));

  const approval = await app.admin('PATCH', `/clients/${id}`, { approved_addresses: [https] });
  deepEqual(approval.body.data.approved_addresses, [https]);
  // Another address of the same client is not that exact one.
  const moved = await call(app, 'PUT', `/oauth2/register/${id}`, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: id,
      redirect_uris: [REDIRECT_URI],
      backchannel_logout_uri: `${https}?x`,
    }),
  });
  equal(moved.status, 200, moved.text);
  deepEqual((await shown()).approved_addresses, []);
});

test('approved addresses: kept by GET and PUT, and by the client that keeps its address', async () => {
  const { body } = await app.admin('POST', '/clients', {
    redirect_uris: [REDIRECT_URI],
    backchannel_logout_uri: `http://127.0.0.1:${inside.port}/logout`,
  });
  const { client_id: id, redirect_uris, backchannel_logout_uri, approved_addresses } = body.data;
  const metadata = { redirect_uris, backchannel_logout_uri, approved_addresses };
  const put = await app.admin('PUT', `/clients/${id}`, metadata);
  equal(put.status, 200, JSON.stringify(put.body));
  deepEqual(put.body.data.approved_addresses, [metadata.backchannel_logout_uri]);
});

test('attack: plain http that OUTBOUND_ALLOW does not cover is not registered', async () => {
  for (const [name, uri] of [
    ['backchannel_logout_uri', `http://127.0.0.1:${secret.port}/`],
    ['backchannel_logout_uri', `http://other.lan:${secret.port}/`],
    ['backchannel_logout_uri', 'http://127.0.0.1/'],
    ['jwks_uri', 'http://keys.example/jwks'],
    ['jwks_uri', `http://10.0.0.1:${inside.port}/jwks`],
  ] as const) {
    const { status, body } = await app.admin('POST', '/clients', {
      redirect_uris: [REDIRECT_URI],
      [name]: uri,
    });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, [name]], uri);
    match(body.error?.fields?.[name] ?? '', /OUTBOUND_ALLOW/);
    // The entry to add.
    const { hostname, port } = new URL(uri);
    ok(body.error?.fields?.[name]?.includes(`${hostname}:${port || '80'}`));
  }
});

test('attack: a covered receiver redirects into the network', async () => {
  await signOutOf(
    await app.register({ backchannel_logout_uri: `http://127.0.0.1:${redirecting.port}/logout` }),
  );
  deepEqual([redirecting.received.length, secret.received.length], [1, 0]);
});

test('attack: link-local and metadata addresses, though covered by name and by network', async () => {
  const addresses = [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    'fe80::1',
    'fe80::a9fe:a9fe',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    '::ffff:0:a9fe:a9fe',
    '::',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '::169.254.169.254',
    '::7f00:1',
    '2002:a9fe:a9fe::1',
    'ff02::1',
  ];
  const allow =
    'metadata.lan metadata.lan:80 0.0.0.0/1 128.0.0.0/1 0.0.0.0/1:80 128.0.0.0/1:80 ::/1 8000::/1 [::]/1:80 [8000::]/1:80';
  const rules = rulesOf(allow);
  for (const address of addresses) {
    const family = address.includes(':') ? 6 : 4;
    const fetch = createOutboundFetch({ rules, resolve: async () => [{ address, family }] });
    const literal = family === 6 ? `[${address}]` : address;
    for (const host of ['metadata.lan', literal])
      for (const scheme of ['http', 'https'])
        await rejects(
          fetch(`${scheme}://${host}/`, {}, approved),
          OutboundRefused,
          `${scheme} ${host} ${address}`,
        );
  }
  // What is left of those networks is open.
  const url = new URL('http://10.1.2.3/');
  equal(rules.problemAt(url, '10.1.2.3', approved), undefined);
});

test('attack: one of several addresses is not covered', async () => {
  const rules = rulesOf('10.0.0.0/8, app.lan:8443');
  const both = [
    { address: '10.0.0.1', family: 4 },
    { address: '192.168.0.1', family: 4 },
  ];
  const why = createWhyUnreachable({ rules, resolve: async () => both });
  match(String(await why('https://app.lan/', approved)), /OUTBOUND_ALLOW does not cover/);
  equal(await why('https://app.lan:8443/', approved), undefined);
  const first = createWhyUnreachable({ rules, resolve: async () => both.slice(0, 1) });
  equal(await first('https://app.lan/', approved), undefined);
});

test('attack: DNS rebinding of a covered name; the checked answer is the one connected to', async () => {
  let asked = 0;
  const resolve = async () => {
    asked += 1;
    return [{ address: asked === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
  };
  const fetch = createOutboundFetch({ rules: rulesOf(`app.lan:${inside.port}`), resolve });
  const before = inside.received.length;
  equal((await fetch(`http://app.lan:${inside.port}/`, { method: 'POST' }, approved)).status, 200);
  deepEqual([asked, inside.received.length - before], [1, 1]);
  await rejects(fetch(`http://app.lan:${inside.port}/`, { method: 'POST' }, approved), OutboundRefused);
  deepEqual([asked, inside.received.length - before], [2, 1]);
});

test('attack: our own listener and the ports of our databases, though covered', async () => {
  const machine = Object.values(networkInterfaces())
    .flat()
    .flatMap((one) => (one === undefined || one.address.startsWith('fe80') ? [] : [one.address]));
  const all = '0.0.0.0/1:3000 128.0.0.0/1:3000 [::]/1:3000 [8000::]/1:3000 own.lan:3000';
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', ...machine]) {
    const family = address.includes(':') ? 6 : 4;
    const fetch = createOutboundFetch({ rules: rulesOf(all), resolve: async () => [{ address, family }] });
    for (const host of ['own.lan', family === 6 ? `[${address}]` : address])
      await rejects(fetch(`http://${host}:3000/`, {}, approved), /this server itself/, `${host} ${address}`);
  }
  equal(rulesOf(all).problemAt(new URL('http://10.0.0.7:3000/'), '10.0.0.7', approved), undefined);

  const stores = [
    'mongodb://u:p@db-a:27018,db-b/latchkey?replicaSet=rs0',
    'redis-sentinel://:p@[fd00::1]:26380,s2/name',
  ];
  const rules = rulesOf(
    'db.lan:27017 db.lan:27018 db.lan:26380 db.lan:26379 db.lan:6379 db.lan:8443',
    stores,
  );
  for (const port of [27017, 27018, 26380, 26379, 6379])
    match(String(rules.problemOf(new URL(`https://db.lan:${port}/`), approved)), /database/);
  equal(rules.problemOf(new URL('https://db.lan:8443/'), approved), undefined);

  // What a cluster, sentinels or SRV records have named since.
  const learned: number[] = [];
  const outbound = createOutbound({
    outboundAllow: outboundAllow('db.lan:7001 db.lan:7002'),
    baseUrl: app.url,
    port: 3000,
    mongodbUri: undefined,
    redisUrl: 'redis://db-a:7001,db-b:7001',
    store: { ports: () => learned },
  });
  equal(outbound.mayBePlain('http://db.lan:7001/', 'notice'), false);
  equal(outbound.mayBePlain('http://db.lan:7002/', 'notice'), true);
  learned.push(7002);
  equal(outbound.mayBePlain('http://db.lan:7002/', 'notice'), false);

  const self = new URL(app.url);
  for (const path of ['/oauth2/logout', '/admin/api/users', '/healthz', '/'])
    for (const host of ['127.0.0.1', 'localhost']) {
      const { status } = await app.admin('POST', '/clients', {
        redirect_uris: [REDIRECT_URI],
        backchannel_logout_uri: `http://${host}:${self.port}${path}`,
      });
      equal(status, 400);
    }
});

test('OUTBOUND_ALLOW: 443 unless an entry names a port; http for keys on localhost alone', () => {
  const rules = rulesOf('app.lan, 10.0.0.0/8:8443, localhost:8080, [fd00::]/8:8443, keys.lan:80');
  const problem = (uri: string, address: string, use: 'keys' | 'notice' = 'notice', isApproved = true) => {
    const url = new URL(uri);
    return rules.problemOf(url, { use, isApproved }) ?? rules.problemAt(url, address, { use, isApproved });
  };
  for (const [uri, address, use] of [
    ['https://app.lan/', '192.168.1.1', 'keys'],
    ['https://x.lan:8443/', '10.9.9.9', 'keys'],
    ['https://x.lan:8443/', 'fd12::1', 'notice'],
    ['http://x.lan:8443/', '10.9.9.9', 'notice'],
    ['http://localhost:8080/', '127.0.0.1', 'keys'],
    ['http://localhost:8080/', '::1', 'notice'],
    ['https://public.example:9443/', '93.184.215.14', 'keys'],
  ] as const)
    equal(problem(uri, address, use), undefined, uri);
  for (const [uri, address, use] of [
    ['https://app.lan:8443/', '192.168.1.1', 'keys'],
    ['http://app.lan/', '192.168.1.1', 'notice'],
    ['https://x.lan/', '10.9.9.9', 'keys'],
    ['https://x.lan:8443/', '11.9.9.9.', 'keys'],
    ['http://x.lan:8443/', '10.9.9.9', 'keys'],
    ['http://keys.lan/', '10.9.9.9', 'keys'],
    ['http://localhost:8080/', '10.0.0.1', 'keys'],
    ['http://public.example/', '93.184.215.14', 'notice'],
    ['https://sub.app.lan/', '192.168.1.1', 'notice'],
  ] as const)
    ok(problem(uri, address, use) !== undefined, uri);
  ok(problem('https://app.lan/', '192.168.1.1', 'keys', false) !== undefined);
});

test('OUTBOUND_ALLOW: entries that cannot be read are a configuration error', () => {
  for (const value of [
    'https://app.lan',
    'app.lan/8',
    '*.lan',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '[::]/0',
    'app.lan:0',
    'app.lan:99999',
    '127.1',
    '0x7f.1',
    '-x.lan',
    'user@app.lan',
    '[fd00::/8]/8',
  ])
    try {
      outboundAllow(`ok.lan, ${value}`);
      throw new TypeError(value);
    } catch (error) {
      match(String(error), /^Invalid:/, value);
    }
  deepEqual(outboundAllow(' a.lan , A.lan:8443\n10.0.0.1 fd00::/8'), [
    { kind: 'host', host: 'a.lan', port: 443 },
    { kind: 'host', host: 'a.lan', port: 8443 },
    { kind: 'network', address: '10.0.0.1', family: 'ipv4', prefix: 32, port: 443 },
    { kind: 'network', address: 'fd00::', family: 'ipv6', prefix: 8, port: 443 },
  ]);
});
