// C15 for SQLite (checklist R152): processes are killed at random moments; acknowledged writes are present, others whole or
// absent. LONG=1 runs 1,000 rounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { acknowledged, assertAcknowledged } from './acknowledged.ts';
import { notes, startChild, temporaryDirectory } from './sqlite-support.ts';

const ROUNDS = process.env.LONG === '1' ? 1000 : 16;

async function checkFile(file: string, steps: ReadonlyMap<string, number>): Promise<void> {
  const store = createSqliteStore({ file, clock: Date.now });
  const collection = store.collection(notes);
  await assertAcknowledged(collection, steps);
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
