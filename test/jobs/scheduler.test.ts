// When jobs run: at their interval, once over all processes, never overlapping, and within a time limit.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { newId } from '../../src/ids.ts';
import { LEASE_MS } from '../../src/jobs/lease.ts';
import { createScheduler, type Job, type Scheduler } from '../../src/jobs/scheduler.ts';
import { type LeaseRecord, leases } from '../../src/store/collections.ts';
import { type EphemeralCollection, type Store, StoreUnavailable } from '../../src/store/port.ts';
import { recordingLog } from '../http/serve.ts';

interface Bench {
  readonly store: Store;
  /** Moves the clock that store and schedulers share. */
  pass(ms: number): void;
  /** One more process on the same store. */
  process(...jobs: Job[]): Scheduler;
  /** One that reaches its leases in its own way. */
  processOn(leases: EphemeralCollection<LeaseRecord>, ...jobs: Job[]): Scheduler;
  readonly lines: string[];
}

function bench(t: TestContext, openStore?: (clock: () => number) => Store): Bench {
  let now = Date.UTC(2026, 0, 1);
  const clock = (): number => now;
  const store = openStore?.(clock) ?? createMemoryStore({ clock });
  const { log, lines } = recordingLog();
  t.after(() => store.close());
  const processOn: Bench['processOn'] = (own, ...jobs) => {
    const scheduler = createScheduler({ jobs, leases: own, clock, newId, log });
    t.after(() => scheduler.stop());
    return scheduler;
  };
  return {
    store,
    lines,
    pass: (ms) => {
      now += ms;
    },
    process: (...jobs) => processOn(store.ephemeral(leases), ...jobs),
    processOn,
  };
}

/** A job that counts its runs and, while `gate` is shut, waits. */
function countingJob(intervalSeconds: number, gate?: Promise<unknown>) {
  const counts = { runs: 0, running: 0, most: 0 };
  const job: Job = {
    name: 'count',
    intervalSeconds: () => intervalSeconds,
    async run() {
      counts.runs += 1;
      counts.running += 1;
      counts.most = Math.max(counts.most, counts.running);
      await gate;
      counts.running -= 1;
      return { counted: 1 };
    },
  };
  return { job, counts };
}

const settled = () => sleep(20);

test('job: runs at once, then once per interval', async (t) => {
  const { pass, process } = bench(t);
  const { job, counts } = countingJob(300);
  const scheduler = process(job);
  await scheduler.tick();
  assert.equal(counts.runs, 1);
  for (const [ms, runs] of [
    [0, 1],
    [299_000, 1],
    [1_000, 2],
    [150_000, 2],
    [150_000, 3],
  ] as const) {
    pass(ms);
    await scheduler.tick();
    assert.equal(counts.runs, runs);
  }
});

test('job: over many processes it runs once per interval', async (t) => {
  const { pass, process } = bench(t);
  const { job, counts } = countingJob(300);
  const processes = Array.from({ length: 10 }, () => process(job));
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all(processes.map((scheduler) => scheduler.tick()));
    await Promise.all(processes.map((scheduler) => scheduler.tick()));
    assert.equal(counts.runs, round);
    assert.equal(counts.most, 1);
    pass(300_000);
  }
});

test('job: the last run counts over restarts', async (t) => {
  const { pass, process } = bench(t);
  const { job, counts } = countingJob(300);
  const first = process(job);
  await first.tick();
  await first.stop();
  const second = process(job);
  await second.tick();
  assert.equal(counts.runs, 1);
  pass(300_000);
  await second.tick();
  assert.equal(counts.runs, 2);
});

describe('one runner at a time', () => {
  test('in one process: a running job is not started again', async (t) => {
    const { pass, process } = bench(t);
    const gate = Promise.withResolvers<void>();
    const { job, counts } = countingJob(1, gate.promise);
    const scheduler = process(job);
    const running = [scheduler.tick(), scheduler.tick()];
    await settled();
    pass(10_000);
    running.push(scheduler.tick());
    await settled();
    assert.deepEqual(counts, { runs: 1, running: 1, most: 1 });
    gate.resolve();
    await Promise.all(running);
  });

  test('over processes: while the lease is renewed no other process starts it', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { pass, process } = bench(t);
    const gate = Promise.withResolvers<void>();
    const { job, counts } = countingJob(1, gate.promise);
    const holder = process(job);
    const other = process(job);
    const running = holder.tick();
    await settled();
    for (let elapsed = 0; elapsed < 5 * LEASE_MS; elapsed += LEASE_MS / 4) {
      pass(LEASE_MS / 4);
      t.mock.timers.tick(LEASE_MS / 4);
      await settled();
      await other.tick();
    }
    assert.deepEqual(counts, { runs: 1, running: 1, most: 1 });
    gate.resolve();
    await running;
  });

  test('a dead holder blocks no one beyond its lease', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { pass, process } = bench(t);
    const never = new Promise<never>(() => undefined);
    const dead = countingJob(1, never);
    const alive = countingJob(1);
    const killed = process(dead.job);
    const survivor = process(alive.job);
    killed.stop = () => Promise.resolve();
    void killed.tick();
    await settled();
    await survivor.tick();
    assert.equal(alive.counts.runs, 0);
    pass(LEASE_MS);
    await survivor.tick();
    assert.equal(alive.counts.runs, 1);
  });

  test('a process that found it running elsewhere takes over once due and stopped', async (t) => {
    const { pass, process } = bench(t);
    const gate = Promise.withResolvers<void>();
    const { job, counts } = countingJob(2, gate.promise);
    const first = process(job);
    const second = process(job);
    const running = first.tick();
    await settled();
    await second.tick();
    gate.resolve();
    await running;
    await first.stop();
    assert.equal(counts.runs, 1);
    pass(2_000);
    await second.tick();
    assert.equal(counts.runs, 2);
  });

  test('a holder that lost its lease is told to stop', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { store, pass, process } = bench(t);
    let signal: AbortSignal | undefined;
    const gate = Promise.withResolvers<void>();
    const scheduler = process({
      name: 'count',
      intervalSeconds: () => 1,
      async run(given) {
        signal = given;
        await gate.promise;
        return {};
      },
    });
    const running = scheduler.tick();
    await settled();
    await store
      .ephemeral(leases)
      .put('count', { holder: 'somebody-else' }, { expiresAt: Date.UTC(2030, 0, 1) });
    pass(LEASE_MS / 4);
    t.mock.timers.tick(LEASE_MS / 4);
    await settled();
    assert.equal(signal?.aborted, true);
    gate.resolve();
    await running;
    assert.equal((await store.ephemeral(leases).find('count'))?.value.holder, 'somebody-else');
  });

  test('race: two processes on one SQLite file, 20 turns', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-jobs-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'latchkey.db');
    const left = bench(t, (clock) => createSqliteStore({ file, clock }));
    const right = bench(t, (clock) => createSqliteStore({ file, clock }));
    const { job, counts } = countingJob(60);
    const processes = [left.process(job), left.process(job), right.process(job), right.process(job)];
    for (let round = 1; round <= 20; round += 1) {
      await Promise.all(processes.map((scheduler) => scheduler.tick()));
      assert.equal(counts.runs, round);
      assert.equal(counts.most, 1);
      left.pass(60_000);
      right.pass(60_000);
    }
  });
});

describe('changed interval: applies at the next turn', () => {
  for (const [was, is] of [
    [3_600, 60],
    [60, 3_600],
  ] as const) {
    test(`from ${was} s to ${is} s`, async (t) => {
      const { pass, process } = bench(t);
      const { job, counts } = countingJob(0);
      let seconds: number = was;
      const changing: Job = { ...job, intervalSeconds: () => seconds };
      const here = process(changing);
      const there = process(changing);
      await here.tick();
      await there.tick();
      seconds = is;
      pass(61_000);
      await here.tick();
      await there.tick();
      assert.equal(counts.runs, 2);
      pass(61_000);
      await here.tick();
      await there.tick();
      assert.equal(counts.runs, is === 60 ? 3 : 2);
    });
  }
});

describe('failure', () => {
  test('of a job is logged and retried at its next turn; other jobs continue', async (t) => {
    const { pass, process, lines } = bench(t);
    const { job, counts } = countingJob(60);
    let attempts = 0;
    const failing: Job = {
      name: 'failing',
      intervalSeconds: () => 60,
      run() {
        attempts += 1;
        throw new Error('no luck');
      },
    };
    const scheduler = process(failing, job);
    await scheduler.tick();
    await scheduler.tick();
    assert.deepEqual([attempts, counts.runs], [1, 1]);
    assert.match(lines.join(''), /"job":"failing".*no luck/);
    pass(60_000);
    await scheduler.tick();
    assert.deepEqual([attempts, counts.runs], [2, 2]);
  });

  test('a lease whose acknowledgement was lost is still held', async (t) => {
    const { store, pass, processOn } = bench(t);
    const { job, counts } = countingJob(2);
    const all = store.ephemeral(leases);
    let isDeaf = true;
    const scheduler = processOn(
      {
        ...all,
        async insert(...args) {
          const stored = await all.insert(...args);
          if (isDeaf) throw new StoreUnavailable('no answer in time');
          return stored;
        },
      },
      job,
    );
    await scheduler.tick();
    isDeaf = false;
    assert.equal(counts.runs, 0);
    pass(2_000);
    await scheduler.tick();
    assert.equal(counts.runs, 1);
  });

  test('of the store is logged, and retried a little later', async (t) => {
    let at = Date.UTC(2026, 0, 1);
    const clock = (): number => at;
    let isDown = true;
    const real = createMemoryStore({ clock }).ephemeral(leases);
    const flaky: typeof real = {
      ...real,
      find: (id) => (isDown ? Promise.reject(new StoreUnavailable('away')) : real.find(id)),
    };
    const { log, lines } = recordingLog();
    const { job, counts } = countingJob(300);
    const scheduler = createScheduler({ jobs: [job], leases: flaky, clock, newId, log });
    t.after(() => scheduler.stop());
    await scheduler.tick();
    assert.equal(counts.runs, 0);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"job":"count".*"type":"StoreUnavailable".*job not scheduled/);
    isDown = false;
    await scheduler.tick();
    assert.equal(counts.runs, 0, 'not every second while the store may be away');
    at += 10_000;
    await scheduler.tick();
    assert.equal(counts.runs, 1);
  });
});

describe('stop', () => {
  test('aborts the running job, waits for it, and lets another process continue at once', async (t) => {
    const { process } = bench(t);
    let hasEnded = false;
    const long: Job = {
      name: 'count',
      intervalSeconds: () => 300,
      async run(signal) {
        while (!signal.aborted) await sleep(5);
        await sleep(30);
        hasEnded = true;
        return {};
      },
    };
    const leaving = process(long);
    void leaving.tick();
    await settled();
    void leaving.tick();
    await settled();
    await leaving.stop();
    assert.equal(hasEnded, true);
    const { job, counts } = countingJob(300);
    await process(job).tick();
    assert.equal(counts.runs, 1);
  });

  test('nothing runs afterwards', async (t) => {
    const { process } = bench(t);
    const { job, counts } = countingJob(1);
    const scheduler = process(job);
    scheduler.start();
    await scheduler.stop();
    await scheduler.tick();
    await sleep(1_100);
    assert.equal(counts.runs, 0);
  });
});

test('scheduler: once started it checks every second', async (t) => {
  const { process, pass } = bench(t);
  const { job, counts } = countingJob(1);
  const scheduler = process(job);
  scheduler.start();
  const deadline = performance.now() + 60_000;
  while (counts.runs < 2) {
    assert.ok(performance.now() < deadline, `${counts.runs} runs`);
    await sleep(50);
    pass(500);
  }
});

test('scheduler: a job with a schedule runs at start, then at the times of its schedule', async (t) => {
  const { process, pass } = bench(t);
  const { job, counts } = countingJob(1);
  const scheduler = process({ ...job, schedule: '*/3 * * * * *' });
  const until = async (runs: number): Promise<void> => {
    const startedAt = performance.now();
    while (counts.runs < runs) {
      assert.ok(performance.now() - startedAt < 60_000, `${counts.runs} runs`);
      await sleep(20);
    }
  };
  scheduler.start();
  await until(1);
  pass(10_000);
  // The look of every second leaves it alone.
  await until(2);
});

test('job log: a run that did something at info, an idle one at debug', async (t) => {
  const { process, lines } = bench(t);
  const jobOf = (name: string, removed: number): Job => ({
    name,
    intervalSeconds: () => 60,
    run: () => Promise.resolve({ removed }),
  });
  await process(jobOf('busy', 3), jobOf('idle', 0)).tick();
  const levels = lines
    .map((line) => JSON.parse(line))
    .map(({ job, level, removed }) => [job, level, removed]);
  assert.deepEqual(levels.sort(), [
    ['busy', 'info', 3],
    ['idle', 'debug', 0],
  ]);
});
