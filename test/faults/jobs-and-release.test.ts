// The other processes of a deployment: jobs run only in `worker`, each once per interval for any number of workers, with figures
// in the log; `release` creates what `web` requires.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { audit } from '../../src/store/collections.ts';
import { start } from '../browser/processes.ts';
import { run as runWeb } from '../processes/server-process.ts';
import { run } from '../scripts/run.ts';
import { SECRET_KEY } from '../support/app.ts';
import { startMongoServer } from '../support/mongodb-server.ts';
import { isLong, millisecondsUntil, startDeployment } from './deployment.ts';

/** Beyond the time in which everything was seen. */
const WATCH_MS = isLong ? 30_000 : 1_000;
const MAILS_MS = 2_000;
/** What a timer and a log line may be late by; two workers that both ran it would be less apart than the rest. */
const SLACK_MS = 900;
const ONCE = ['purge_expired', 'rotate_keys', 'finish_interrupted', 'count_events', 'forget_audit'];

interface Run {
  readonly job: string;
  readonly time: string;
  readonly ms: number;
  readonly [figure: string]: unknown;
}

const runsIn = (output: string): Run[] =>
  output.split('\n').flatMap((line) => (line.includes('"msg":"job done"') ? [JSON.parse(line)] : []));

test('two workers and two webs: each job runs once per interval, in no web process', async (t) => {
  const deployment = await startDeployment({ kind: 'split', logLevel: 'debug' });
  t.after(() => deployment.stop());
  const spec = {
    file: 'src/worker.ts',
    env: { ...deployment.env },
    ready: /("msg":"running background jobs")/,
  };
  const workers = await Promise.all([start(spec), start(spec)]);
  const runs = (): Run[] => runsIn(workers.map(({ output }) => output()).join('\n'));
  const begun = (job: string): number[] =>
    runs()
      .filter((one) => one.job === job)
      .map(({ time, ms }) => Date.parse(time) - ms)
      .sort((a, b) => a - b);
  await millisecondsUntil(
    () => begun('send_mail').length >= 3 && ONCE.every((job) => begun(job).length > 0),
    120_000,
  );
  await sleep(WATCH_MS);
  const codes = await Promise.all(workers.map((worker) => worker.stop()));
  assert.deepEqual(codes, [0, 0]);
  const mails = begun('send_mail');
  for (const [index, at] of mails.entries())
    if (index > 0) assert.ok(at - (mails[index - 1] ?? 0) >= MAILS_MS - SLACK_MS, mails.join());
  for (const job of ONCE) assert.equal(begun(job).length, 1, job);
  const purge = runs().find(({ job }) => job === 'purge_expired');
  assert.deepEqual([typeof purge?.expired_removed, typeof purge?.sessions_removed], ['number', 'number']);
  for (const web of deployment.webs) {
    assert.notEqual(web.process.output(), '');
    assert.deepEqual(runsIn(web.process.output()), []);
  }
});

test('web before release: exits and says what to run; after the release it serves', async (t) => {
  const mongo = await startMongoServer();
  t.after(() => mongo.stop());
  const uri = mongo.freshUri();
  // As an earlier version has left it: documents, and an index less than this version needs.
  const old = await createMongoStore({ uri, clock: Date.now });
  await old
    .collection({ ...audit, fields: {} })
    .insert('e', { at: 7, event: 'x', outcome: 'success', actorKind: 'system' });
  await old.close();
  const env = { MONGODB_URI: uri, SECRET_KEY };

  const web = runWeb({ ...env, PORT: '0', HOST: '127.0.0.1' });
  assert.ok(web.stdout && web.stderr);
  const [output, , [code]] = await Promise.all([text(web.stdout), text(web.stderr), once(web, 'exit')]);
  assert.equal(code, 1);
  assert.match(output, /MongoDB lacks indexes .*audit: .*f_at.* Run the release step: npm run release/);

  const release = await run('scripts/release.ts', [], { env });
  assert.deepEqual([release.code, release.stderr], [0, '']);
  t.diagnostic(release.stdout.trim());
  const store = await createMongoStore({ uri, clock: Date.now, definitions: allCollections });
  await store.close();
  const served = await start({
    file: 'src/main.ts',
    env: { ...env, PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://127.0.0.1:3000' },
    ready: /"base_url":"([^"]+)"/,
  });
  assert.equal(await served.stop(), 0);
});
