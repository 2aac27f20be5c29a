// The `worker` process: runs only the scheduled jobs, shares them with `web`, and stops on SIGTERM.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { start, startServer } from '../browser/processes.ts';
import { run } from './run.ts';

const count = (text: string, job: string): number =>
  text.split('\n').filter((line) => line.includes(`"job":"${job}"`) && line.includes('job done')).length;

test('web and two workers on one store: each job runs once', async () => {
  const server = await startServer({ LOG_LEVEL: 'debug' });
  const env = { DATA_DIR: server.dataDir, LOG_LEVEL: 'debug' };
  const spec = { file: 'src/worker.ts', env, ready: /("msg":"running background jobs")/ };
  const workers = await Promise.all([start(spec), start(spec)]);
  const outputs = (): string => [server, ...workers].map(({ output }) => output()).join('');
  try {
    const jobs = ['purge_expired', 'finish_interrupted'];
    while (jobs.some((job) => count(outputs(), job) === 0)) await sleep(100);
    // Two more looks of everyone: no one may do it again before it is due.
    await sleep(2_500);
    for (const job of jobs) assert.equal(count(outputs(), job), 1, job);
  } finally {
    const codes = await Promise.all(workers.map((worker) => worker.stop()));
    assert.deepEqual([...codes, await server.stop()], [0, 0, 0]);
  }
});

test('worker: a wrong configuration ends with 1 at once, every problem reported', async () => {
  const { code, stdout, stderr } = await run('src/worker.ts', [], {
    env: { PORT: 'x', SECRET_KEY: 'short' },
  });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /2 problems:\n.*PORT: .*\n.*SECRET_KEY: /);
});
