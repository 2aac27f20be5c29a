// Two processes at one part of an import of a table, as when one stood still for longer than its lease and another took over: each
// row is counted once, as what was done with it, also where the one that did it has died.
import { deepEqual, equal } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { leases } from '../../src/store/collections.ts';
import {
  type Collection,
  type CollectionDefinition,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';
import { userImports } from '../../src/store/user-imports.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';

const PATH = '/admin/users/import/csv';
const names = ['grace', 'kept', 'late'];

let app: TestApp;
let admin: Agent;

before(async () => {
  app = await startApp({ env: { SECRET_KEY } });
  await app.createUser('root-admin', { role: 'admin' });
  for (const name of names) await app.createUser(name, { name });
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

/** @returns its id */
async function begin(rows: string): Promise<string> {
  const { csrf = '' } = hiddenFields((await admin.get(PATH)).body);
  const begun = await admin.post(PATH, { csrf, rows, step: 'import', update: 'on' });
  equal(begun.status, 303, begun.body);
  return new URL(begun.location ?? '').pathname.split('/').at(-1) ?? '';
}

async function fullNames(): Promise<unknown[]> {
  const found = await app.admin('GET', '/users?limit=100');
  return names.map((name) => found.body.data.items?.find(({ username }) => username === name)?.name);
}

async function counts(id: string) {
  const stored = await app.store.collection(userImports).find(id);
  const { state, done, created, updated, unchanged, refused } = stored?.value ?? {};
  return { state, done, created, updated, unchanged, refused };
}

type Named = CollectionDefinition<never>;

/** The store as a process sees it; what it does to a collection may be held up or fail. */
function seenBy(before: (act: 'read' | 'write', collection: string) => Promise<void>): Store {
  return {
    ...app.store,
    async writeTogether(fill) {
      await before('write', 'together');
      return app.store.writeTogether(fill);
    },
    collection<T>(definition: CollectionDefinition<T>): Collection<T> {
      const collection = app.store.collection(definition);
      const { name }: Named = definition;
      const wait = (act: 'read' | 'write') => before(act, name);
      return {
        ...collection,
        find: async (...args) => wait('read').then(() => collection.find(...args)),
        query: async (...args) => wait('read').then(() => collection.query(...args)),
        replace: async (...args) => wait('write').then(() => collection.replace(...args)),
        insert: async (...args) => wait('write').then(() => collection.insert(...args)),
      };
    },
  };
}

async function tickAs(process: TestApp): Promise<void> {
  process.advance(Math.max(app.now() - process.now(), 0) + 3_000);
  await app.store.ephemeral(leases).remove('import_users');
  await process.app.jobs.tick();
}

const starting = (shared: Store): Promise<TestApp> => startApp({ shared, env: { SECRET_KEY } });

/** @returns one that dies after so many changes of users: nothing that it does afterwards arrives */
async function startDying(changes: number): Promise<{ dying: TestApp; isDead(): boolean }> {
  let left = changes;
  let isArmed = false;
  const dying = await starting(
    seenBy(async (act, name) => {
      if (!isArmed || act === 'read') return;
      if (left > 0 && name === 'accounts') left -= 1;
      else if (left === 0) throw new StoreUnavailable('it is dead');
    }),
  );
  isArmed = true;
  return { dying, isDead: () => left === 0 };
}

const cases = [
  { title: 'killed half-way', changes: 1, rows: 'grace,Grace 1\nkept,kept\nlate,Late 1', of: [2, 1] },
  {
    title: 'killed before it counted',
    changes: 2,
    rows: 'grace,Grace 2\nkept,kept\nlate,Late 2',
    of: [2, 1],
  },
] as const;

for (const { title, changes, rows, of } of cases) {
  test(`two processes at one part of an import, one ${title}: what it changed is counted as changed`, async () => {
    const { dying, isDead } = await startDying(changes);
    // It has the rows as they were before the other one noted anything, and looks at users after the other one changed some.
    let reads = 0;
    let isArmed = false;
    const late = await starting(
      seenBy(async (act, name) => {
        if (isArmed && act === 'read' && name === 'user_import_parts' && reads === 0) {
          reads = 1;
        } else if (reads === 1 && act === 'read' && name === 'accounts') {
          reads = 2;
          await tickAs(dying);
        }
      }),
    );
    isArmed = true;
    try {
      const id = await begin(`username,name\n${rows}`);
      await tickAs(late);
      equal(isDead(), true, 'the first one changed users');
      if ((await counts(id)).state === 'running') await tickAs(app);
      const [updated, unchanged] = of;
      const expected = { state: 'done', done: 3, created: 0, updated, unchanged, refused: 0 };
      deepEqual(await counts(id), expected);
      deepEqual(
        await fullNames(),
        rows.split('\n').map((row) => row.split(',')[1]),
      );
    } finally {
      await Promise.all([dying.stop(), late.stop()]);
    }
  });
}
