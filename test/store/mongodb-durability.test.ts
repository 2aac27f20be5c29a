// C15 for MongoDB as far as clients can break it (checklist R152): writers are killed at random moments,
// and what the store had acknowledged is there, what it had not is there whole or not at all.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import type { Stored } from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { isToBeRemoved, type Note, notes, startChild, textOf } from './sqlite-support.ts';

const ROUNDS = process.env.LONG === '1' ? 100 : 10;
const REMOVED = 3;
const program = fileURLToPath(new URL('mongodb-child.ts', import.meta.url));

let server: MongoServer;
before(async () => {
  server = await startMongoServer();
});
after(() => server.stop());

function checkStep(id: string, step: number, stored: Stored<Note> | undefined): void {
  // The one write that was under way at the kill may have happened or not.
  const possible = [step, step + 1];
  if (stored) assert.ok(possible.includes(stored.version), `${id}: ${stored.version} after step ${step}`);
  else assert.ok(possible.includes(REMOVED) && isToBeRemoved(id), `${id}: lost after step ${step}`);
}

async function checkDatabase(uri: string, steps: ReadonlyMap<string, number>): Promise<void> {
  const store = await createMongoStore({ uri, clock: Date.now, timeoutMs: 20_000 });
  const collection = store.collection(notes);
  const { items } = await collection.query({ sort: 'id', order: 'asc', limit: 1000 });
  const found = new Map(items.map((stored) => [stored.id, stored]));
  for (const [id, step] of steps) checkStep(id, step, found.get(id));
  for (const [id, stored] of found) {
    checkStep(id, steps.get(id) ?? 0, stored);
    const tag = stored.version === 1 ? 'new' : 'consumed';
    assert.deepEqual(stored.value, { id, text: textOf(id, stored.version), tag });
  }
  for (const tag of ['new', 'consumed']) {
    const expected = items.filter(({ value }) => value.tag === tag).map(({ id }) => id);
    assert.deepEqual(
      (await collection.findBy('tag', tag)).map(({ id }) => id),
      expected,
    );
  }
  await store.close();
}

/** Two writers on one database, killed one after the other. @returns how many acknowledgements were given */
async function killRound(round: number): Promise<number> {
  const uri = server.freshUri();
  const children = ['a', 'b'].map((label) => startChild([uri, label], [], program));
  await Promise.all(
    children.map(async (child) => {
      // Every fifth kill may hit the start: connecting, making indexes.
      if (round % 5 !== 4) await child.said('');
      await sleep(Math.random() * 200);
      child.kill();
      await child.ended();
    }),
  );
  const lines = children.flatMap((child) => child.lines.map((line) => line.split(' ')));
  const steps = new Map(lines.map(([id = '', step]) => [id, Number(step)]));
  await checkDatabase(uri, steps);
  return steps.size;
}

test(`C15 acknowledged writes survive kill -9 of two writers, ${ROUNDS} rounds`, async () => {
  let total = 0;
  for (let round = 0; round < ROUNDS; round += 1) total += await killRound(round);
  assert.ok(total > ROUNDS * 5, `only ${total} acknowledged writes were at stake`);
});
