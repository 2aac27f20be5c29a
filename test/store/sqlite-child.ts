// The child process of the SQLite tests: the first argument names the act, the second the database file.
import { once } from 'node:events';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { update } from '../../src/store/update.ts';
import { churn, input, say } from './child-support.ts';
import { gifts, notes, textOf } from './sqlite-support.ts';

const [act = '', file = '', label = '', amount = '0'] = process.argv.slice(2);
const repeat = (times: number, what: (n: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, (_, n) => what(n)));

const openNotes = () => {
  const store = createSqliteStore({ file, clock: Date.now });
  return { store, collection: store.collection(notes) };
};

const acts: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds the write lock for `amount` ms. */
  async hold() {
    const connection = openConnection(file);
    connection.withBusyWait(() => connection.exec('BEGIN IMMEDIATE'));
    say('held');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(amount));
    connection.exec('COMMIT');
    connection.close();
  },

  /** Does to the note `n` what each line says. */
  async obey() {
    const { collection } = openNotes();
    say('ready');
    for await (const line of input) {
      const [what, turn = ''] = line.split(' ');
      if (what === 'put') await collection.put('n', { id: 'n', text: `turn ${turn}`, tag: 't' });
      else if (what === 'remove') await collection.remove('n');
      else await collection.removeBy('tag', 't');
      say(`done ${turn}`);
    }
  },

  /** Adds 1 to the note `counter`, `amount` times, all at once. */
  async count() {
    const { store, collection } = openNotes();
    const increment = (): Promise<unknown> =>
      update(collection, 'counter', (note) => ({ value: { ...note, count: (note.count ?? 0) + 1 } }));
    await repeat(Number(amount), increment);
    await store.close();
  },

  /** Writes `amount` notes by 64 writers at once. */
  async crowd() {
    const { store, collection } = openNotes();
    const each = Number(amount) / 64;
    await repeat(64, async (writer) => {
      for (let n = 0; n < each; n += 1) {
        const id = `${label}-${writer}-${n}`;
        await collection.insert(id, { id, text: textOf(id, 1), tag: label });
      }
    });
    await store.close();
  },

  /** Until it is killed. */
  churn: () => churn(openNotes().collection, label, 8),

  /** Rotates a token, each time consumed with its successor and what that gives in one act, until it is killed. */
  async rotate() {
    const { store, collection } = openNotes();
    await collection.insert(`${label}-0`, { id: `${label}-0`, text: '' });
    for (let n = 0; ; n += 1) {
      const [old, next] = [`${label}-${n}`, `${label}-${n + 1}`];
      await store.writeTogether((writes) => {
        writes.to(notes).replace(old, 1, { id: old, text: '', tag: 'used' });
        writes.to(notes).insert(next, { id: next, text: textOf(next, 1) });
        writes.to(gifts).insert(next, { id: next, text: textOf(next, 1) });
      });
      say(`${n + 1}`);
    }
  },

  /** Writes until the disk refuses, tries again once told to, and says what is there then. */
  async fill() {
    const { store, collection } = openNotes();
    const put = (id: string): Promise<unknown> => collection.put(id, { id, text: textOf(id, 1) });
    let written = 0;
    try {
      for (; ; written += 1) await put(`n${written}`);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    const isReadable = (await collection.find('n0')) !== undefined;
    say(`refused ${isReadable ? 'readable' : 'unreadable'}`);
    await once(input, 'line');
    await put('again');
    const found = await collection.query({ sort: 'id', order: 'asc', limit: 1 });
    say(`recovered ${found.total - written}`);
    await store.close();
  },
};

const run = acts[act];
if (!run) throw new Error(`no act ${act}`);
await run();
process.exit(0);
