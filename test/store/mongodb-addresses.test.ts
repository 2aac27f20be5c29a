// Holds the addresses that MongoDB is rented by: TLS, a user and a password, `mongodb+srv`. The server for tests speaks
// none of it, so TLS and SCRAM are put before it on the wire, and the names come from a DNS server of the test's own.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMongoLoader } from '../../adapters/mongodb/loader.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { facts } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { startNames } from '../faults/names.ts';
import { asking } from '../faults/password.ts';
import { layWire, type Tap, type Wire } from '../faults/wire.ts';
import { makeCertificate } from '../mail/certificate.ts';
import { type MongoServer, startOwnMongoServer } from '../support/mongodb-server.ts';

const ZONE = 'cluster.latchkey.test';
const HOST = `one.${ZONE}`;
// With what an address has to escape, and a SCRAM name, too.
const LOGIN = { user: 'app,=1', password: 'p@ss/wörd:#?', source: 'admin' };
const USER = `${encodeURIComponent(LOGIN.user)}:${encodeURIComponent(LOGIN.password)}`;
const QUICK = { clock: Date.now, timeoutMs: 700, startTimeoutMs: 500 };

describe('MongoDB addresses', () => {
  let folder: string;
  let server: MongoServer;
  const identity = makeCertificate(['localhost', HOST]);
  const wires: Wire[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-addresses-'));
    server = await startOwnMongoServer();
    await writeFile(join(folder, 'ca.pem'), identity.cert);
    await writeFile(join(folder, 'stranger.pem'), makeCertificate().cert);
  });
  after(async () => {
    await Promise.all(wires.map((wire) => wire.cut()));
    await server.stop();
    await rm(folder, { recursive: true });
  });

  interface Place {
    readonly port: number;
    /** A database that nothing has been written to. */
    readonly name: string;
  }
  async function place(options: { tap?: () => Tap; isTls?: boolean }): Promise<Place> {
    const { port, pathname } = new URL(server.freshUri());
    const wire = await layWire(Number(port), options.tap, options.isTls ? identity : undefined);
    wires.push(wire);
    return { port: wire.port, name: pathname.slice(1) };
  }
  const settings = 'replicaSet=rs0&serverMonitoringMode=poll';
  const ca = (): string => `tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`;

  /** The store writes, compares and reads there, and so does what fills it. */
  async function assertWorks(uri: string): Promise<void> {
    const store = await createMongoStore({ uri, clock: Date.now });
    await store.collection(facts).insert('here', { at: 1, value: 'first' });
    const stored = await store.collection(facts).find('here');
    assert.equal(stored?.value.value, 'first');
    assert.ok(await store.collection(facts).replace('here', stored.version, { at: 2, value: 'second' }));
    await store.close();
    const loader = await createMongoLoader({ uri, clock: Date.now, definitions: [facts] });
    for await (const page of loader.pagesOf(facts)) {
      assert.deepEqual(
        page.map(({ id, value }) => [id, value.value]),
        [['here', 'second']],
      );
    }
    await loader.close();
  }

  /** @returns the reason, which never tells a password */
  async function refused(uri: string): Promise<string> {
    const error = await createMongoStore({ uri, ...QUICK, definitions: [facts] }).then(
      () => assert.fail('it was let in'),
      (error: unknown) => error,
    );
    assert.ok(error instanceof StoreUnavailable, String(error));
    const told = `${error.stack}`;
    assert.ok(!told.includes(LOGIN.password) && !told.includes(encodeURIComponent(LOGIN.password)), told);
    return error.message;
  }

  test('single node without a replica set; an absent replica set is named', async () => {
    const alone = await startOwnMongoServer({ isAlone: true });
    try {
      await assertWorks(alone.freshUri());
      assert.match(await refused(`${alone.freshUri()}&replicaSet=rs7`), /belongs to the replica set rs7/);
    } finally {
      await alone.stop();
    }
  });

  test('TLS: the certificate is verified against the given authority', async () => {
    const { port, name } = await place({ isTls: true });
    await assertWorks(`mongodb://127.0.0.1:${port}/${name}?${settings}&tls=true&${ca()}`);
  });

  test('attack: a server with its own certificate, or that of another host', async () => {
    const { port, name } = await place({ isTls: true });
    const at = (host: string): string =>
      `mongodb://${USER}@${host}:${port}/${name}?authSource=admin&tls=true`;
    const stranger = `tlsCAFile=${encodeURIComponent(join(folder, 'stranger.pem'))}`;
    assert.match(await refused(at('127.0.0.1')), /^MongoDB cannot be reached: .*self-signed certificate/);
    assert.match(await refused(`${at('127.0.0.1')}&${stranger}`), /^MongoDB cannot be reached: /);
    assert.match(await refused(`${at('127.0.0.2')}&${ca()}`), /^MongoDB cannot be reached: /);
  });

  test('TLS on one side only is reported and nothing hangs', async () => {
    const [secured, open] = await Promise.all([place({ isTls: true }), place({})]);
    assert.match(await refused(`mongodb://127.0.0.1:${secured.port}/x`), /^MongoDB cannot be reached: /);
    assert.match(
      await refused(`mongodb://127.0.0.1:${open.port}/x?tls=true`),
      /^MongoDB cannot be reached: /,
    );
  });

  test('user and password with special characters sign in', async () => {
    const { port, name } = await place({ tap: asking(LOGIN) });
    const settled = `${settings}&authSource=admin&authMechanism=SCRAM-SHA-256`;
    await assertWorks(`mongodb://${USER}@127.0.0.1:${port}/${name}?${settled}`);
  });

  test('attack: a wrong password, an unknown user, a user of another database', async () => {
    const { port, name } = await place({ tap: asking(LOGIN) });
    const uri = (user: string, source = 'admin'): string =>
      `mongodb://${user}127.0.0.1:${port}/${name}?${settings}&authSource=${source}&authMechanism=SCRAM-SHA-256`;
    const wrong = `${USER}x`;
    assert.match(await refused(uri(`${wrong}@`)), /^MongoDB cannot be reached: Authentication failed/);
    assert.match(
      await refused(uri(`nobody:${encodeURIComponent(LOGIN.password)}@`)),
      /Authentication failed/,
    );
    assert.match(await refused(uri(`${USER}@`, 'other')), /Authentication failed/);
    const bare = `mongodb://127.0.0.1:${port}/${name}?${settings}`;
    assert.match(await refused(bare), /requires authentication/);
  });

  test('mongodb+srv: hosts and options from DNS, over TLS, with a password', async () => {
    const { port, name } = await place({ tap: asking(LOGIN), isTls: true });
    const names = await startNames(ZONE, [
      {
        type: 'SRV',
        name: `_mongodb._tcp.db.${ZONE}`,
        data: { target: HOST, port, priority: 0, weight: 0 },
      },
      { type: 'TXT', name: `db.${ZONE}`, data: 'authSource=admin&replicaSet=rs0' },
      // What a name server answers that another user holds: a host outside the domain is not believed.
      {
        type: 'SRV',
        name: `_mongodb._tcp.stolen.${ZONE}`,
        data: { target: 'one.attacker.test', port, priority: 0, weight: 0 },
      },
    ]);
    try {
      const uri = (host: string): string =>
        `mongodb+srv://${USER}@${host}.${ZONE}/${name}?serverMonitoringMode=poll&authMechanism=SCRAM-SHA-256&${ca()}`;
      await assertWorks(uri('db'));
      assert.match(await refused(uri('absent')), /^MongoDB cannot be reached: querySrv ENOTFOUND/);
      assert.match(await refused(uri('stolen')), /^MongoDB cannot be reached: /);
    } finally {
      await names.stop();
    }
  });
});
