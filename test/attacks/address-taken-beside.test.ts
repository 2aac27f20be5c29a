// Attack: a further address of one account is taken as the primary one of another by an older version, which knows no further addresses
// (decision 0041): its owner's sign-ins must go on, and one account alone has it. Both stores; the older version is our code with the
// accounts as they were defined then, so that it writes what that wrote.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createMongoStore, prepareMongo } from '../../adapters/mongodb/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import * as model from '../../src/store/collections.ts';
import type { CollectionDefinition, Store } from '../../src/store/port.ts';
import { update } from '../../src/store/update.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { testOnRealMongo } from '../support/real-mongodb.ts';

let server: MongoServer;
before(async () => {
  server = await startMongoServer();
});
after(() => server.stop());

const older: CollectionDefinition<model.AccountRecord> = {
  ...model.accounts,
  indexes: { ...model.accounts.indexes, email: { unique: true, key: (account) => account.emailKey } },
};

interface Two {
  readonly now: Store;
  readonly then: Store;
  close(): Promise<void>;
  /** `npm run release`. */
  release(): Promise<void>;
}

const stores = {
  async sqlite(): Promise<Two> {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-beside-'));
    const file = join(folder, 'latchkey.db');
    const now = createSqliteStore({ file, clock: Date.now, definitions: allCollections });
    const then = createSqliteStore({ file, clock: Date.now });
    return {
      now,
      then,
      release: () => createSqliteStore({ file, clock: Date.now, definitions: allCollections }).close(),
      async close() {
        await Promise.all([now.close(), then.close()]);
        await rm(folder, { recursive: true });
      },
    };
  },
  async mongodb(): Promise<Two> {
    const uri = server.freshUri();
    const definitions = allCollections;
    const now = await createMongoStore({ uri, clock: Date.now, definitions, timeoutMs: 30_000 });
    const then = await createMongoStore({ uri, clock: Date.now, timeoutMs: 30_000 });
    return {
      now,
      then,
      release: () => prepareMongo({ uri, clock: Date.now, definitions }),
      async close() {
        await Promise.all([now.close(), then.close()]);
      },
    };
  },
};

const DISPUTED = 'shared@example.com';

/** @returns whether a sign-in by that name leads to a code, and for whom */
async function signedIn(app: TestApp, clientId: string, username: string): Promise<boolean> {
  const browser = new Agent(app);
  const page = await browser.authorize(codeRequest(clientId));
  const next = await browser.submit(page, { username, password: PASSWORD });
  ok(next.status < 500, `${username}: ${next.status}`);
  return (next.location ?? '').includes('code=');
}

/** @param isTold whether the store refuses a key that is in another document's list, as every one does but the server for tests */
const attack =
  (open: () => Promise<Two>, isTold: boolean): (() => Promise<void>) =>
  async () => {
    const two = await open();
    const app = await startApp({ shared: two.now, env: { SECRET_KEY } });
    try {
      const client = await app.register({ scope: 'openid' });
      const verified = { is_email_verified: true };
      const owner = await app.createUser('owner', { email: 'owner@example.com', ...verified });
      const taker = await app.createUser('taker', { email: 'taker@example.com', ...verified });
      await update(two.now.collection(model.accounts), owner.id, (value) => ({
        value: { ...value, otherEmails: [{ address: DISPUTED, key: DISPUTED, verifiedAt: 1 }] },
      }));
      ok(await signedIn(app, client.id, DISPUTED), 'it was the owner’s');
      // The older version writes both: the owner signs in there, the other account gets the address.
      const then = two.then.collection(older);
      await update(then, owner.id, (value) => ({ value: { ...value, lastLoginAt: Date.now() } }));
      await update(then, taker.id, (value) => ({ value: { ...value, email: DISPUTED, emailKey: DISPUTED } }));
      await two.release();

      for (const username of ['taker', 'owner', DISPUTED, 'owner@example.com', 'taker', 'owner'])
        ok(await signedIn(app, client.id, username), username);
      const found = (await app.admin('GET', `/users?email=${DISPUTED}`)).body.data.items ?? [];
      ok(found.some(({ id }) => id === taker.id));
      if (!isTold) return;
      const read = async (id: string) => (await app.admin('GET', `/users/${id}`)).body.data;
      deepEqual([(await read(owner.id)).other_emails, (await read(taker.id)).email], [[], DISPUTED]);
      const { body } = await app.admin('GET', '/audit?event=email.yielded');
      const [event, ...more] = body.data.items ?? [];
      equal(more.length, 0);
      match(JSON.stringify(event), new RegExp(`${owner.id}.*${taker.id}|${taker.id}.*${owner.id}`));
      match(JSON.stringify(event), /shared@example\.com/);
      // From here on it is a name like any other.
      equal((await app.admin('PATCH', `/users/${owner.id}`, { email: DISPUTED })).status, 409);
    } finally {
      await app.stop();
      await two.close();
    }
  };

const subject = 'attack: an address of two accounts, one of them by an older version';
test(`${subject}: sqlite`, attack(stores.sqlite, true));
test(`${subject}: mongodb, where sign-ins go on`, attack(stores.mongodb, false));
testOnRealMongo(`${subject}: mongodb`, attack(stores.mongodb, true));
