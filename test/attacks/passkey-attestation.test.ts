// A passkey registration as a request that this server sends: attestation statements (WebAuthn §8) whose certificates the sender
// made and which name addresses to call, such as a revocation list (RFC 5280 §4.2.1.13) on the server's own network. Attestation
// is not asked for and never verified (decision 0014), so whatever its format is, the passkey is registered and nothing is called.
// A process of its own: its network is watched.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns';
import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { type EventEmitter, once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestTls } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { newPerson, open } from '../flows/account-support.ts';
import { bearer, call } from '../flows/support.ts';
import { Agent, redeem } from '../support/agent.ts';
import { opensAccounts, startApp, type TestApp } from '../support/app.ts';
import { attestationsThatCall } from '../support/attestations.ts';
import { Authenticator, type Cbor, cbor, type Lies } from '../support/authenticator.ts';
import { type NetworkWatch, watchNetwork } from '../support/network-watch.ts';
import { beginRegistration, originOf, send, toOffer } from '../support/passkeys.ts';
import { isWithin } from '../support/patience.ts';

let app: TestApp;
let client: { id: string; secret: string };
let watch: NetworkWatch;
let victim: { readonly origin: string; readonly visits: string[]; close(): void };

before(async () => {
  app = await startApp();
  client = await app.register(opensAccounts);
  await app.admin('PATCH', '/settings', { passkey_extra_origins: '' });
  const visits: string[] = [];
  const inside = createServer((req, res) => {
    visits.push(req.url ?? '');
    res.end();
  });
  inside.listen(0, '127.0.0.1');
  await once(inside, 'listening');
  const { port }: AddressInfo = Object(inside.address());
  victim = {
    origin: `http://127.0.0.1:${port}`,
    visits,
    close() {
      inside.closeAllConnections();
      inside.close();
    },
  };
  watch = watchNetwork();
});
after(async () => {
  watch.stop();
  victim.close();
  await app.stop();
});

/** What left this process beside the requests of the test itself. */
function strangeCalls(): string[] {
  const { calls, handles } = watch.take();
  const { host, origin } = new URL(app.url);
  const isOurs = (call: string): boolean => call === `connect ${host}` || call.startsWith(`fetch ${origin}`);
  const ours = calls.filter((call) => call === `connect ${host}`).length;
  const hidden = [...handles].map(([kind, count]) => {
    const rest = kind === 'TCPCONNECTWRAP' ? count - ours : count;
    return rest > 0 ? `${rest} ${kind}` : '';
  });
  return [...calls.filter((call) => !isOurs(call)), ...hidden.filter(Boolean)];
}

type Way = (lies: Lies) => Promise<{ status: number; userId: string; text: string }>;

const newKey = (): Authenticator => new Authenticator({ origin: originOf(app) });

const ways: Readonly<Record<string, Way>> = {
  async 'at a sign-in'(lies) {
    const user = await newPerson(app);
    const agent = new Agent(app);
    const offer = await toOffer(agent, client, user);
    const { body } = await beginRegistration(agent, offer);
    const response = newKey().create(body, lies);
    const answer = await send(agent, offer, '/oauth2/passkey/register/finish', { response });
    return { status: answer.status, userId: user.id, text: JSON.stringify(answer.body) };
  },
  async 'on the account page'(lies) {
    const user = await newPerson(app);
    const agent = new Agent(app);
    const page = await open(agent, user, '/account/passkeys');
    const { body } = await send(agent, page, '/account/passkeys/register/begin');
    const response = newKey().create(body, lies);
    const answer = await send(agent, page, '/account/passkeys/register/finish', { response });
    return { status: answer.status, userId: user.id, text: JSON.stringify(answer.body) };
  },
  async 'by the account API'(lies) {
    const user = await newPerson(app);
    const redeemed = await redeem(app, client, await new Agent(app).signIn(client.id, user));
    const headers = {
      ...bearer(String(redeemed.body.access_token)),
      'content-type': 'application/json',
    };
    const path = '/account/api/passkeys/register';
    const begun = await call(app, 'POST', `${path}/begin`, { headers });
    const response = newKey().create(JSON.parse(begun.text).data, lies);
    const body = JSON.stringify({ response });
    const { status, text } = await call(app, 'POST', `${path}/finish`, { headers, body });
    return { status, userId: user.id, text };
  },
};

const passkeysOf = async (userId: string): Promise<Record<string, unknown>[]> =>
  (await app.admin('GET', `/users/${userId}/passkeys`)).body.data.items ?? [];

/** Whatever becomes of it: only that it was begun is looked at. */
function closed(connection: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    connection.on('error', () => undefined).on('close', resolve);
  });
}

test('network watch: sees each way out of this process, however a module imported it', async () => {
  const at = { host: '127.0.0.1', port: Number(new URL(victim.origin).port) };
  const quiet = (): void => undefined;
  const resolver = new Resolver({ timeout: 50, tries: 1 });
  resolver.setServers(['127.0.0.1:9']);
  const acts: Readonly<Record<string, () => unknown>> = {
    fetch: () => fetch(victim.origin).then((answer) => answer.text()),
    http: () => closed(get(victim.origin, (answer) => answer.resume())),
    https: () => closed(requestTls(at)),
    http2: () => closed(connectHttp2(victim.origin)),
    tls: () => closed(connectTls(at)),
    net: () => closed(connect(at).end()),
    dns: () => new Promise((resolve) => lookup('localhost', resolve)),
    'dns promises': () => lookUp('localhost'),
    'dns resolver': () => resolver.resolve4('watch.test').catch(quiet),
    dgram: () => {
      const socket = createSocket('udp4');
      return new Promise<void>((resolve) => socket.send('x', 9, '127.0.0.1', () => socket.close(resolve)));
    },
  };
  for (const [name, act] of Object.entries(acts)) {
    watch.take();
    await act();
    const { calls, handles } = watch.take();
    assert.ok(calls.length > 0, `${name} was not seen`);
    assert.ok(handles.size > 0, `${name} opened nothing that Node knows of`);
  }
});

for (const [way, register] of Object.entries(ways)) {
  test(`attack: attestation of every format ${way} calls no address and is not verified`, async () => {
    await register({});
    watch.take();
    victim.visits.length = 0;
    const problems: string[] = [];
    for (const [name, attest] of Object.entries(attestationsThatCall(victim.origin))) {
      const { status, userId, text } = await register({ attest });
      const { length } = await passkeysOf(userId);
      problems.push(...strangeCalls().map((called) => `${name}: ${called}`));
      if (status !== 200 || length !== 1) problems.push(`${name}: ${status}, ${length} passkeys: ${text}`);
    }
    assert.deepEqual(problems, []);
    assert.deepEqual(victim.visits, []);
  });
}

test('attestation: the model of an authenticator that sends one stays, as a name only', async () => {
  const { packed } = attestationsThatCall(victim.origin);
  assert.ok(packed);
  const aaguid = 'bada5566a7aa401fbd9645619a55120d';
  const { userId } = (await ways['at a sign-in']?.({ attest: packed, aaguid })) ?? { userId: '' };
  const [made] = await passkeysOf(userId);
  assert.deepEqual(
    [made?.aaguid, made?.authenticator],
    ['bada5566-a7aa-401f-bd96-45619a55120d', '1Password'],
  );
});

const deep = (count: number): Cbor => {
  let item: Cbor = 1;
  for (let at = 0; at < count; at += 1) item = [item];
  return item;
};

const shapes: Readonly<Record<string, (authData: Buffer) => Buffer>> = {
  'no map': () => cbor([1, 2]),
  'without authenticator data': () => cbor(new Map([['fmt', 'none']])),
  'authenticator data as text': () => cbor(new Map([['authData', 'x'.repeat(60)]])),
  'authenticator data cut short': (authData) => cbor(new Map([['authData', authData.subarray(0, 40)]])),
  'ten thousand arrays in each other': () => Buffer.alloc(10_000, 0x81),
  'a list of four thousand million items': () => Buffer.from('9affffffff', 'hex'),
  'bytes of four thousand million': () => Buffer.from('5affffffff', 'hex'),
  'a key of arrays in each other': (authData) =>
    cbor(new Map([['authData', Buffer.concat([authData.subarray(0, 55 + 16), Buffer.alloc(9_000, 0x81)])]])),
  'members twice': (authData) => Buffer.concat([Buffer.from('a2', 'hex'), ...twice(authData)]),
  nothing: () => Buffer.from('f6', 'hex'),
};
function twice(authData: Buffer): Buffer[] {
  const member = [cbor('authData'), cbor(authData)];
  return [...member, ...member];
}

test('attack: attestation objects that are no such thing, endless or very deep: refused at once', async () => {
  const user = await newPerson(app);
  const agent = new Agent(app);
  const offer = await toOffer(agent, client, user);
  for (const [name, shape] of Object.entries(shapes)) {
    const { body } = await beginRegistration(agent, offer);
    const made: { authData: Buffer } = { authData: Buffer.alloc(0) };
    const response = newKey().create(body, {
      attest: ({ authData }) => {
        made.authData = authData;
        return { fmt: 'none', attStmt: deep(3) };
      },
      tamper: (members) => ({
        ...members,
        attestationObject: shape(made.authData).toString('base64url'),
      }),
    });
    const began = performance.now();
    const answer = await send(agent, offer, '/oauth2/passkey/register/finish', { response });
    assert.deepEqual([answer.status, answer.body.reason], [401, 'passkey.refused'], name);
    assert.ok(isWithin(performance.now() - began, 1000), name);
  }
  assert.equal((await passkeysOf(user.id)).length, 0);
});
