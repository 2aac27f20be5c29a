// Goal P11 of docs/performance.md: a request costs the same with a million users as with a thousand. LONG=1 only, since filling the
// store takes minutes; what is compared is processor time, in turns.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { isMet, lineOf } from '../../scripts/bench/figures.ts';
import { growth } from '../../scripts/bench/growth.ts';
import { prepare } from '../../scripts/bench/prepare.ts';
import { startProduct } from '../../scripts/bench/processes.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts, clients } from '../../src/store/collections.ts';
import type { CollectionDefinition, Store, Stored } from '../../src/store/port.ts';
import { grants, oidcSessions } from '../../src/store/protocol-collections.ts';
import { fill, people } from '../support/crowd.ts';

interface Sizes {
  readonly users: number;
  readonly grants: number;
  readonly clients: number;
  readonly sessions: number;
}
const FEW: Sizes = { users: 1_000, grants: 1_000, clients: 10, sessions: 100 };
const MANY: Sizes = { users: 1_000_000, grants: 1_000_000, clients: 10_000, sessions: 100_000 };
const PACE = { rounds: 8, ms: 1000, connections: 16, warmUpMs: 10_000 };

const openStore = (folder: string): Store =>
  createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now, definitions: allCollections });

/** The first document that the product itself has written. */
async function sampleOf<T>(store: Store, definition: CollectionDefinition<T>): Promise<Stored<T>> {
  const { items } = await store.collection(definition).query({ sort: 'id', order: 'asc', limit: 1 });
  const [first] = items;
  assert.ok(first, definition.name);
  return first;
}

function* copies<T>(
  { version, expiresAt, value }: Stored<T>,
  count: number,
  differing: (id: string, n: number) => object,
): Generator<Stored<T>> {
  for (let n = 0; n < count; n += 1) {
    const id = `copy-${((n * 2_654_435_761) % 2 ** 32).toString(36)}-${n}`;
    yield {
      id,
      version,
      ...(expiresAt !== undefined && { expiresAt }),
      value: { ...value, ...differing(id, n) },
    };
  }
}

/** What one application and one user with a session and a grant are, as the product writes them. */
async function samples(folder: string) {
  const product = await startProduct({ data: folder });
  await (await prepare(product)).refreshTokens(1);
  await product.stop();
  const store = openStore(folder);
  try {
    return {
      client: await sampleOf(store, clients),
      grant: await sampleOf(store, grants),
      session: await sampleOf(store, oidcSessions),
    };
  } finally {
    await store.close();
  }
}

async function populate(
  folder: string,
  sizes: Sizes,
  { client, grant, session }: Awaited<ReturnType<typeof samples>>,
): Promise<string> {
  const file = join(folder, 'latchkey.db');
  await mkdir(folder);
  const [userIds, clientIds]: [string[], string[]] = [[], []];
  await fill(
    file,
    accounts,
    people(sizes.users, { now: Date.now(), passwordHash: '$argon2id$none' }).map((user) => {
      userIds.push(user.id);
      return user;
    }),
  );
  await fill(
    file,
    clients,
    copies(client, sizes.clients, (id) => {
      clientIds.push(id);
      return { metadata: { ...client.value.metadata, client_id: id } };
    }),
  );
  const owner = (n: number): object => ({ accountId: userIds[n % userIds.length] });
  await fill(
    file,
    grants,
    copies(grant, sizes.grants, (jti, n) => ({
      jti,
      clientId: clientIds[n % clientIds.length],
      ...owner(n),
    })),
  );
  await fill(
    file,
    oidcSessions,
    copies(session, sizes.sessions, (jti, n) => ({ jti, uid: jti, ...owner(n) })),
  );
  return folder;
}

if (process.env.LONG === '1') {
  test('a million users and grants: a request costs as much as with a thousand (P11)', async (t: TestContext) => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-growth-'));
    t.after(() => rm(folder, { recursive: true }));
    const originals = await samples(join(folder, 'originals'));
    const figures = await growth(
      {
        small: await populate(join(folder, 'small'), FEW, originals),
        large: await populate(join(folder, 'large'), MANY, originals),
      },
      PACE,
    );
    for (const figure of figures) t.diagnostic(lineOf(figure));
    assert.equal(figures.length, 6);
    assert.deepEqual(figures.filter((figure) => isMet(figure) !== true).map(lineOf), []);
  });
}
