// Attack: fuzzed requests at every address. None may end in an unplanned 5xx (503 is planned: too
// busy) or reveal internals, and the process continues without an error. The seed is printed; FUZZ_SEED repeats a run.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { residentMib, type ServerProcess, startServer } from '../processes/server-process.ts';
import { Agent, hiddenFields, redeem } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { createGrammar, type MadeRequest, type Treasure } from './fuzz-grammar.ts';
import { liftLimits } from './limits.ts';
import { pooled } from './pool.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { allRoutes } from './routes.ts';
import { honestRequest } from './sign-in-form.ts';
import { sized } from './sizes.ts';
import { seeded } from './statistics.ts';

const REQUESTS = sized(600, 200_000);
const ROUND = 1000;
const WIDTH = 16;
const MAX_MS = 5000;
const MAX_GROWTH_MIB = sized(250, 450);
const SEED = Number(process.env.FUZZ_SEED ?? 140);

let server: ServerProcess;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-fuzz-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn' } });
});
after(async () => {
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Afresh in every round: what was made up in the last one may have removed it. */
async function gather(round: number): Promise<Treasure> {
  // A made-up change of settings may have made them strict.
  assert.equal((await server.admin('PUT', '/settings', {})).status, 200);
  await liftLimits(server);
  const web = await server.register();
  const spa = await server.register({ client_type: 'public', redirect_uris: [REDIRECT_URI] });
  const machine = await server.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  const user = await server.createUser(`person-${round}`);
  const browser = new Agent(server);
  const page = await browser.authorize(honestRequest(web.id));
  const waiting = browser.cookiesFor('/oauth2/authorize');
  const first = await browser.signIn(web.id, user);
  const { body } = await redeem(server, web, first);
  const unused = await browser.signIn(web.id, user);
  const device = hiddenFields((await browser.get('/oauth2/device')).body);
  return {
    routes: await allRoutes(server),
    adminToken: ADMIN_TOKEN,
    clients: [web, spa, machine],
    userIds: [user.id, user.username],
    values: [
      first.code,
      unused.code,
      unused.verifier,
      body.access_token,
      body.refresh_token,
      body.id_token,
      ...Object.values(hiddenFields(page.body)),
      ...Object.values(device),
    ],
    cookies: [browser.cookiesFor('/'), waiting, 'a=b'],
    redirectUri: REDIRECT_URI,
  };
}

function assertPlanned(request: MadeRequest, answer: RawAnswer): void {
  const shown = `seed ${SEED}: ${JSON.stringify(request).slice(0, 3000)}\n-> ${answer.status} ${answer.body.slice(0, 1000)}`;
  assert.ok(answer.status < 500 || answer.status === 503, shown);
  assert.doesNotMatch(answer.body, /node_modules|\.[jt]s:\d+:\d+|RangeError|TypeError|SQLITE/, shown);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff', shown);
  assert.ok(isWithin(answer.elapsedMs, MAX_MS), `${answer.elapsedMs} ms: ${shown}`);
}

test(`attack: ${REQUESTS} fuzzed requests: no unplanned 5xx, no exit, no unhandled error`, async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const statuses = new Map<number, number>();
  let treasure = await gather(0);
  const make = createGrammar(seeded(SEED), () => treasure);
  let memory: number | undefined;

  for (let done = 0; done < REQUESTS; done += ROUND) {
    if (done > 0) treasure = await gather(done / ROUND);
    const requests = Array.from({ length: Math.min(ROUND, REQUESTS - done) }, make);
    await pooled(requests, WIDTH, async (request) => {
      const answer = await send(server.url, request);
      assertPlanned(request, answer);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    });
    memory ??= await residentMib(server.pid);
  }

  t.diagnostic(JSON.stringify(Object.fromEntries([...statuses].sort(([one], [other]) => one - other))));
  assert.deepEqual(
    server.logged.filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
  );
  assert.equal((await send(server.url, { path: '/readyz' })).status, 200);
  const growth = (await residentMib(server.pid)) - (memory ?? 0);
  t.diagnostic(`resident memory grew by ${growth.toFixed(0)} MiB after the first ${ROUND}`);
  assert.ok(growth <= MAX_GROWTH_MIB);
  // A fuzz that is refused at the first door tells nothing.
  const share = (from: number): number =>
    [...statuses]
      .filter(([status]) => status >= from && status < from + 100)
      .reduce((sum, [, count]) => sum + count, 0) / REQUESTS;
  assert.ok(share(200) >= 0.05, `only ${share(200)} of the requests were taken`);
});
