// What a child process of the SQLite tests does: the first argument names the act, the second the database file.
// It prints a line for what is done; the parent takes a line as the store's acknowledgement.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { update } from '../../src/store/update.ts';
import { isToBeRemoved, notes, textOf } from './sqlite-support.ts';

const [act = '', file = '', label = '', amount = '0'] = process.argv.slice(2);
const repeat = (times: number, what: (n: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, (_, n) => what(n)));

// Straight to the pipe: a line that still sat in a buffer at the kill would be an acknowledgement never seen.
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

// When the parent is gone, so is its end of the pipe: no child outlives a test that failed.
const input = createInterface({ input: process.stdin });
input.once('close', () => process.exit(1));

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

  /** Creates, consumes and removes notes until it is killed; says how far each one is. */
  async churn() {
    const { collection } = openNotes();
    await repeat(8, async (writer) => {
      for (let n = 0; ; n += 1) {
        const id = `${label}-${writer}-${n}`;
        await collection.insert(id, { id, text: textOf(id, 1), tag: 'new' });
        say(`${id} 1`);
        await collection.replace(id, 1, { id, text: textOf(id, 2), tag: 'consumed' });
        say(`${id} 2`);
        if (!isToBeRemoved(id)) continue;
        await collection.remove(id);
        say(`${id} 3`);
      }
    });
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
