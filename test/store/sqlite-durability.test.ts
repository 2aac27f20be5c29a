// C15 for SQLite: processes are killed at random moments; acknowledged writes are present, others whole or
// absent. LONG=1 runs 1,000 rounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { acknowledged, assertAcknowledged } from './acknowledged.ts';
import { gifts, notes, startChild, temporaryDirectory } from './sqlite-support.ts';

/** Acknowledgements of each writer before it is killed, however slow the machine is. */
const AT_STAKE = 6;
const ROUNDS = process.env.LONG === '1' ? 1000 : 4;

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
      if (round % 4 !== 3) while (child.lines.length < AT_STAKE) await sleep(1);
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
  assert.ok(total > ROUNDS, `only ${total} acknowledged writes were at stake`);
});

const TOGETHER_ROUNDS = process.env.LONG === '1' ? 100 : 1;

/** @returns how many rotations were acknowledged */
async function killRotations(): Promise<number> {
  const directory = await temporaryDirectory();
  const file = `${directory.path}/rotated.db`;
  const children = ['a', 'b'].map((label) => ({ label, child: startChild(['rotate', file, label]) }));
  await Promise.all(
    children.map(async ({ child }) => {
      while (child.lines.length < AT_STAKE) await sleep(1);
      await sleep(Math.random() * 120);
      child.kill();
      await child.ended();
    }),
  );
  const store = createSqliteStore({ file, clock: Date.now });
  const [tokens, given] = [store.collection(notes), store.ephemeral(gifts)];
  let total = 0;
  for (const { label, child } of children) {
    const acknowledged = Number(child.lines.at(-1));
    total += acknowledged;
    let last = 0;
    for (; (await tokens.find(`${label}-${last + 1}`)) !== undefined; last += 1) {
      assert.equal((await tokens.find(`${label}-${last}`))?.value.tag, 'used');
      assert.ok(await given.find(`${label}-${last + 1}`), `${label}-${last + 1} came without its gift`);
    }
    // One that was written may not have been acknowledged any more; never the other way round.
    assert.ok(last === acknowledged || last === acknowledged + 1, `${last} of ${acknowledged} are there`);
    assert.equal((await tokens.find(`${label}-${last}`))?.value.tag, undefined);
    assert.equal(await given.find(`${label}-${last + 1}`), undefined);
  }
  await store.close();
  await directory.remove();
  return total;
}

test(`C16 writes together are there whole or not at all after kill -9, ${TOGETHER_ROUNDS} rounds`, async () => {
  let total = 0;
  for (let round = 0; round < TOGETHER_ROUNDS; round += 1) total += await killRotations();
  assert.ok(total > TOGETHER_ROUNDS, `only ${total} rotations were at stake`);
});
