// What judging a table of users asks of the store: a list for each row, which is sorted and filtered, made the preview of 20,000
// rows take a quarter of a minute where there were as many users.
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import type { Collection, CollectionDefinition, Store } from '../../src/store/port.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

const PATH = '/admin/users/import/csv';
const ROWS = 300;

const lists: string[] = [];
const own = createMemoryStore({ clock: Date.now });
const store: Store = {
  ...own,
  collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    const collection = own.collection(definition);
    return {
      ...collection,
      query(query) {
        lists.push(definition.name);
        return collection.query(query);
      },
    };
  },
};

let app: TestApp;
let admin: Agent;
before(async () => {
  app = await startApp({ shared: store });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('Known-1', { email: 'known@example.com' });
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

test('preview of a table: looks users up by their names, and asks for no list of them', async () => {
  const rows = ['username,email,full name', 'KNOWN-1,,Known One', 'joan,known@example.com,Joan'];
  for (let number = 0; number < ROWS; number += 1) rows.push(`new-${number},new-${number}@example.com,`);
  const { csrf = '' } = hiddenFields((await admin.get(PATH)).body);
  lists.length = 0;
  const page = await admin.post(PATH, { csrf, rows: rows.join('\n'), update: 'on' });
  const words = page.body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  match(words, /New users 300 Users that change 1 Nothing to change 0 Refused rows 1/);
  deepEqual(
    lists.filter((name) => name === 'accounts'),
    [],
  );
});
