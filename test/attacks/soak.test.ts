// Hours of ordinary use: memory, open files and stored rows stay constant. Every run does a small round;
// LONG=1 half an hour.
// A process of its own: its memory is measured.
import { equal, ok } from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isActive, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, refresh } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { isLong } from './sizes.ts';
import { dumpStore } from './store-dump.ts';

// Minutes are for people who run it by hand; by default a round is counted, not timed.
const CYCLES = 40;
const WARM_UP = 40;
const LONG_MS = 30 * 60_000;
// What a leak of one object with its headers and cookies in each sign-in would come to.
const MAX_KIB_PER_CYCLE = 60;
const MAX_PERCENT_PER_HOUR = 5;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const scope = 'openid offline_access';
const client = await app.register({ scope });
const alice = await app.createUser('alice');

async function cycle(): Promise<void> {
  const agent = new Agent(app);
  const first = await tokensOf(app, client, alice, { scope, prompt: 'consent' }, agent);
  const { body } = await refresh(app, client, first.refresh_token);
  equal(await isActive(app, body.access_token), true);
  equal((await userinfo(app, body.access_token)).status, 200);
  await agent.get('/oauth2/logout');
  // The test's own memory of log lines is none of the product's.
  app.logged.length = 0;
}

function heapMib(): number {
  if (typeof collect === 'function') for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
/** Of everything but what is kept on purpose: events, sessions that ended, counters. */
const KEPT = /^(?:audit|token_events|event_hours|rates|sessions)(?:__|$)|^sqlite_/;
const rows = (): number =>
  [...dumpStore(app)].filter(([table]) => !KEPT.test(table)).reduce((sum, [, all]) => sum + all.length, 0);

test('soak: sign-ins, refreshes and sign-outs leak no memory, open file or row', async (t) => {
  for (let done = 0; done < WARM_UP; done += 1) await cycle();
  const tidy = async (): Promise<void> => {
    app.advance(60_000);
    await app.app.jobs.tick();
  };
  await tidy();
  const before = { heap: heapMib(), files: await openFiles(), rows: rows() };
  const started = performance.now();
  let done = 0;
  while (isLong ? performance.now() - started < LONG_MS : done < CYCLES) {
    await cycle();
    done += 1;
  }
  await tidy();
  const now = { heap: heapMib(), files: await openFiles(), rows: rows() };
  const hours = (performance.now() - started) / 3_600_000;
  const grown = now.heap - before.heap;
  const perHour = ((grown / before.heap) * 100) / hours;
  t.diagnostic(
    `${done} cycles in ${(hours * 60).toFixed(1)} min: heap ${before.heap.toFixed(1)} to ${now.heap.toFixed(1)} MiB ` +
      `(${((grown * 1024) / done).toFixed(1)} KiB a cycle), files ${before.files} to ${now.files}, rows ${before.rows} to ${now.rows}`,
  );
  ok((grown * 1024) / done <= MAX_KIB_PER_CYCLE, 'memory');
  if (isLong) ok(perHour <= MAX_PERCENT_PER_HOUR, `${perHour.toFixed(1)} % an hour`);
  ok(now.files <= before.files + 10, 'open files');
  // Codes, tokens and interactions of the last minutes live until they expire: that is a bound, and not one per sign-in.
  ok(now.rows - before.rows <= done * 8, 'rows');
  app.advance(40 * 24 * 3_600_000);
  await tidy();
  ok(rows() <= before.rows, `${rows()} rows after everything has expired, ${before.rows} at the beginning`);
});
