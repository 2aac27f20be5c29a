// The ring of refused requests of an application: merged over processes, bounded, forgotten.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createRecentRefusals, MAX_REFUSALS } from '../../src/clients/recent-refusals.ts';
import { createLogger } from '../../src/log.ts';
import * as model from '../../src/store/collections.ts';
import { openTestStore } from '../support/test-store.ts';

const refused = { clientId: 'app', isKnown: true, endpoint: 'token', error: 'invalid_grant' };

async function world(t: TestContext) {
  let now = Date.UTC(2026, 0, 31, 12);
  const clock = () => now;
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-refusals-'));
  const store = await openTestStore({ asked: 'sqlite', clock, folder });
  t.after(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const log = createLogger({
    level: 'warn',
    pretty: false,
    destination: { write: (line) => void lines.push(line) },
  });
  const collection = store.ephemeral(model.clientRefusals);
  const clients = store.collection(model.clients);
  await clients.insert('app', {
    metadata: { client_id: 'app' },
    secrets: [],
    clientType: 'confidential',
    isActive: true,
    skipConsent: false,
    origin: 'admin',
    createdAt: now,
    updatedAt: now,
  });
  return {
    lines,
    collection,
    advance: (ms: number) => {
      now += ms;
    },
    /** Refusals as one process has them. */
    start: (flushMs = 1_000_000) => createRecentRefusals({ collection, clients, clock, log, flushMs }),
    broken: () =>
      createRecentRefusals({
        collection: { ...collection, find: () => Promise.reject(new Error('away')) },
        clients,
        clock,
        log,
      }),
  };
}

test('recent refusals: two processes that write at once are merged, counts and times', async (t) => {
  const { start, advance, collection } = await world(t);
  const [one, two] = [start(), start()];
  one.noted({ ...refused, reason: 'a' });
  advance(1000);
  two.noted({ ...refused, reason: 'a' });
  two.noted({ ...refused, reason: 'b' });
  await Promise.all([one.close(), two.close()]);
  deepEqual(
    (await start().of('app')).map(({ reason, count, firstAt, lastAt }) => [reason, count, lastAt - firstAt]),
    [
      ['a', 2, 1000],
      ['b', 1, 0],
    ],
  );
  equal((await collection.find('app'))?.value.entries.length, 2);
});

test('recent refusals: what is not written yet is shown by the process that has it', async (t) => {
  const { start, collection } = await world(t);
  const refusals = start();
  refusals.noted({ ...refused, reason: 'a' });
  equal((await refusals.of('app')).length, 1);
  equal(await collection.find('app'), undefined);
  await refusals.close();
  equal((await start().of('app')).length, 1);
});

test('recent refusals: written by themselves after a while', async (t) => {
  const { start, collection } = await world(t);
  start(1).noted({ ...refused, reason: 'a' });
  for (let round = 0; round < 500 && (await collection.find('app')) === undefined; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  ok(await collection.find('app'));
});

test('recent refusals: few entries, the newest first, and no kind takes all', async (t) => {
  const { start, advance } = await world(t);
  const refusals = start();
  for (const error of ['a', 'b', 'c', 'd']) {
    for (let n = 0; n < 50; n += 1) {
      refusals.noted({ ...refused, error, reason: String(n) });
      advance(1);
      if (n % 20 === 0) await refusals.flush();
    }
  }
  await refusals.flush();
  const entries = await start().of('app');
  equal(entries.length, MAX_REFUSALS);
  deepEqual([entries[0]?.error, entries[0]?.reason], ['d', '49']);
  equal(entries.filter(({ error }) => error === 'd').length, 8);
});

test('recent refusals: gone after seven days, each by its own time', async (t) => {
  const { start, advance } = await world(t);
  const refusals = start();
  refusals.noted({ ...refused, reason: 'old' });
  await refusals.flush();
  advance(6 * 86_400_000);
  refusals.noted({ ...refused, reason: 'new' });
  await refusals.flush();
  advance(2 * 86_400_000);
  deepEqual(
    (await refusals.of('app')).map(({ reason }) => reason),
    ['new'],
  );
  advance(6 * 86_400_000);
  deepEqual(await refusals.of('app'), []);
});

test('recent refusals: an unavailable store drops them with one line in the log', async (t) => {
  const { broken, lines } = await world(t);
  const refusals = broken();
  refusals.noted({ ...refused, reason: 'a' });
  await refusals.close();
  equal(lines.length, 1);
});
