// C15 for SQLite (checklist R152): processes are killed at random moments, and what the store had
// acknowledged is there, what it had not is there whole or not at all. LONG=1 runs 1,000 rounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import type { Collection, Stored } from '../../src/store/port.ts';
import {
  type Child,
  isToBeRemoved,
  type Note,
  notes,
  startChild,
  temporaryDirectory,
  textOf,
} from './sqlite-support.ts';

const ROUNDS = process.env.LONG === '1' ? 1000 : 16;
const REMOVED = 3;

/** @returns how far each note was when the last acknowledgement about it was given */
function acknowledged(children: readonly Child[]): Map<string, number> {
  const lines = children.flatMap((child) => child.lines.map((line) => line.split(' ')));
  return new Map(lines.map(([id = '', step]) => [id, Number(step)]));
}

async function readAll(collection: Collection<Note>): Promise<Map<string, Stored<Note>>> {
  const found = new Map<string, Stored<Note>>();
  for (let after: { sortValue: undefined; id: string } | undefined; ; ) {
    const { items } = await collection.query({ sort: 'id', order: 'asc', limit: 1000, after });
    for (const stored of items) found.set(stored.id, stored);
    const last = items.at(-1);
    if (!last) return found;
    after = { sortValue: undefined, id: last.id };
  }
}

function checkStep(id: string, step: number, stored: Stored<Note> | undefined): void {
  // The one write that was under way at the kill may have happened or not.
  const possible = [step, step + 1];
  if (stored)
    assert.ok(possible.includes(stored.version), `${id}: version ${stored.version} after step ${step}`);
  else assert.ok(possible.includes(REMOVED) && isToBeRemoved(id), `${id}: lost after step ${step}`);
}

function checkWhole({ id, version, value }: Stored<Note>): void {
  assert.deepEqual(value, { id, text: textOf(id, version), tag: version === 1 ? 'new' : 'consumed' });
}

async function checkFile(file: string, steps: ReadonlyMap<string, number>): Promise<void> {
  const store = createSqliteStore({ file, clock: Date.now });
  const collection = store.collection(notes);
  const found = await readAll(collection);
  for (const [id, step] of steps) checkStep(id, step, found.get(id));
  for (const [id, stored] of found) {
    checkStep(id, steps.get(id) ?? 0, stored);
    checkWhole(stored);
  }
  for (const tag of ['new', 'consumed']) {
    const indexed = await collection.findBy('tag', tag);
    const expected = [...found.values()].filter(({ value }) => value.tag === tag);
    assert.equal(indexed.length, expected.length, `index of ${tag}`);
  }
  await collection.put('after', { id: 'after', text: 'the store takes writes again' });
  await store.close();
  const connection = openConnection(file);
  assert.deepEqual({ ...connection.statement('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  connection.close();
}

/** Two writers on one file; each is killed while the other writes. @returns how many acknowledgements were given */
async function killRound(round: number): Promise<number> {
  const directory = await temporaryDirectory();
  const file = `${directory.path}/killed.db`;
  const children = ['a', 'b'].map((label) => startChild(['churn', file, label]));
  await Promise.all(
    children.map(async (child) => {
      // Every fourth kill may hit the start: opening, the journal mode, the schema.
      if (round % 4 !== 3) await child.said('');
      await sleep(Math.random() * 120);
      child.kill();
      await child.ended();
    }),
  );
  const steps = acknowledged(children);
  await checkFile(file, steps);
  await directory.remove();
  return steps.size;
}

test(`C15 acknowledged writes survive kill -9 of two writers, ${ROUNDS} rounds`, async () => {
  let total = 0;
  for (let round = 0; round < ROUNDS; round += 1) total += await killRound(round);
  assert.ok(total > ROUNDS * 10, `only ${total} acknowledged writes were at stake`);
});
