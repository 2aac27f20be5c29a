// C15 for MongoDB as far as clients can break it: writers are killed at random moments; acknowledged writes are
// present, others whole or absent.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import type { Store } from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { acknowledged, assertAcknowledged } from './acknowledged.ts';
import { notes, startChild } from './sqlite-support.ts';

/** Acknowledgements of each writer before it is killed, however slow the machine is. */
const AT_STAKE = 6;
const ROUNDS = process.env.LONG === '1' ? 100 : 1;
const program = fileURLToPath(new URL('mongodb-child.ts', import.meta.url));

let server: MongoServer;
before(async () => {
  server = await startMongoServer();
});
after(() => server.stop());

/** The server may still carry out what it had received when the client died. */
async function settled(store: Store): Promise<void> {
  const read = async (): Promise<string> =>
    JSON.stringify(await store.collection(notes).query({ sort: 'id', order: 'asc', limit: 1000 }));
  for (let before = ''; ; ) {
    const now = await read();
    if (now === before) return;
    before = now;
    await sleep(100);
  }
}

async function checkDatabase(uri: string, steps: ReadonlyMap<string, number>): Promise<void> {
  const store = await createMongoStore({ uri, clock: Date.now, timeoutMs: 20_000 });
  await settled(store);
  await assertAcknowledged(store.collection(notes), steps);
  await store.close();
}

/** Two writers on one database, killed one after the other. @returns how many acknowledgements were given */
async function killRound(round: number): Promise<number> {
  const uri = server.freshUri();
  const children = ['a', 'b'].map((label) => startChild([uri, label], [], program));
  await Promise.all(
    children.map(async (child) => {
      // Every fifth kill may hit the start: connecting, making indexes.
      if (round % 5 !== 4) while (child.lines.length < AT_STAKE) await sleep(1);
      await sleep(Math.random() * 200);
      child.kill();
      await child.ended();
    }),
  );
  const steps = acknowledged(children);
  await checkDatabase(uri, steps);
  return steps.size;
}

test(`C15 acknowledged writes survive kill -9 of two writers, ${ROUNDS} rounds`, async () => {
  let total = 0;
  for (let round = 0; round < ROUNDS; round += 1) total += await killRound(round);
  assert.ok(total > ROUNDS, `only ${total} acknowledged writes were at stake`);
});
