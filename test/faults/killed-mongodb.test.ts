// Kill -9 of MongoDB under load, repeatedly, and cutting every connection to it. The server for
// tests keeps everything in memory: a real one's journal and record of retried writes are imitated on the wire (journal.ts). Only
// the test's own servers are killed, never what MONGODB_TEST_URI names.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../support/app.ts';
import { slowness } from '../support/patience.ts';
import { isLong, jitter, millisecondsUntil, millisecondsUntilDown, ROUNDS, spread } from './deployment.ts';
import { createJournal } from './journal.ts';
import { assertNothingLost, assertRevokedStayRevoked, replayAll } from './ledger.ts';
import {
  type Answer,
  ask,
  askForCode,
  call,
  emptyLedger,
  type Ledger,
  PROMPT_MS,
  redemption,
  rotation,
  startLoad,
  tokenRequest,
} from './load.ts';
import { openSite, type Site, sum, tell, untilBusy } from './site.ts';
import { layWire, type Tap, type Wire } from './wire.ts';

const RECOVERY_MS = 60_000;
const RETRIED_MS = 2_000;
const CUTS = isLong ? 50 : 3;

/** While MongoDB is gone: no one is let in, believed, or told that something was done. */
async function assertClosed(
  { deployment, client, people }: Site,
  ledger: Ledger,
  part: string,
): Promise<void> {
  const known = ledger.refreshTokens.at(-1)?.token ?? 'x'.repeat(43);
  const [person] = people;
  const acts = (url: string): Record<string, () => Promise<Answer | undefined>> => ({
    users: () => call(`${url}/admin/api/users`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }),
    'a code': () => tokenRequest({ url }, client, redemption({ code: 'c', verifier: 'v'.repeat(43) })),
    'a refresh token': () => tokenRequest({ url }, client, rotation(known)),
    'the end of a token': () =>
      call(`${url}/oauth2/revoke`, { method: 'POST', body: new URLSearchParams({ token: known }) }),
  });
  for (const [index, web] of deployment.webs.entries()) {
    const [, live, issued] = await Promise.all([
      millisecondsUntilDown(web, part),
      call(`${web.url}/healthz`, {}),
      person && askForCode(ledger, person.agents[index === 0 ? 0 : 1], client, person.username),
      ...Object.entries(acts(web.url)).map(async ([what, act]) => {
        const answer = await ask(ledger, what, async () => (await act()) ?? assert.fail(what));
        assert.equal(answer, undefined, `${what}: ${answer?.status} ${answer?.body}`);
      }),
    ]);
    assert.equal(live.status, 200);
    assert.equal(issued, undefined);
  }
  assert.deepEqual(ledger.odd, []);
}

/** The site's database is reached by a wire only. @returns the wire, and what to reach by it */
function wired(tap?: () => Tap) {
  let wire: Wire | undefined;
  return {
    async reach(uri: string): Promise<string> {
      wire = await layWire(Number(new URL(uri).port), tap);
      return uri.replace(/:\d+\//, `:${wire.port}/`);
    },
    wire: (): Wire => wire ?? assert.fail('nobody has reached for it'),
  };
}

/** What no one may ever be answered, and what was acknowledged up to here. @returns how many second uses were refused */
async function settleAccounts({ deployment, client }: Site, ledger: Ledger, round: number): Promise<number> {
  assert.deepEqual(ledger.odd, []);
  const web = deployment.webs[round % 2] ?? deployment.webs[0];
  await assertNothingLost(web, ledger);
  await assertRevokedStayRevoked(web, ledger);
  return replayAll(web, client, ledger);
}

/** The same over all rounds, told. @returns their sum */
async function settleAll(t: TestContext, { deployment }: Site, ledgers: readonly Ledger[], replays: number) {
  const all = sum(ledgers);
  await assertNothingLost(deployment.webs[0], all);
  await assertRevokedStayRevoked(deployment.webs[1], all);
  tell(t, ledgers, replays);
  return all;
}

/** @returns after how many ms all of them were ready again */
async function mendAndRecover(webs: Site['deployment']['webs'], wire: Wire): Promise<number> {
  await wire.mend();
  const mendedAt = performance.now();
  for (const web of webs) await millisecondsUntil(() => web.isReady(), RECOVERY_MS);
  return performance.now() - mendedAt;
}

test(`MongoDB killed ${ROUNDS} times under load: no acknowledged write lost, none repeated`, async (t) => {
  const journal = createJournal();
  const { reach, wire } = wired(journal.tap);
  const site = await openSite({ kind: 'mongodb', reach });
  const { deployment } = site;
  t.after(async () => {
    await deployment.stop();
    await wire().cut();
  });
  const { mongo, webs } = deployment;
  assert.ok(mongo);
  const pids = webs.map(({ process }) => process.pid);
  const ledgers: Ledger[] = [];
  const recoveries: number[] = [];
  const noticed: number[] = [];
  let replays = 0;
  let written = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const ledger = emptyLedger();
    ledgers.push(ledger);
    const endLoad = startLoad({ ...site, ledger });
    await untilBusy(ledger);
    await sleep(jitter(round, 80));
    // In every other round MongoDB has written, and dies before anyone hears of it.
    if (round % 2 === 1) await wire().cut('unheard');
    await mongo.kill();
    await wire().cut();
    if (round % 4 === 0) {
      noticed.push(await millisecondsUntil(async () => !(await webs[0].isReady()), PROMPT_MS * slowness()));
      await assertClosed(site, ledger, 'store');
    }
    await mongo.restart();
    written = await journal.replay(mongo.freshUri());
    recoveries.push(await mendAndRecover(webs, wire()));
    await endLoad();
    replays += await settleAccounts(site, ledger, round);
  }
  const all = await settleAll(t, site, ledgers, replays);
  t.diagnostic(
    `${written} writes survived; until readiness turned: ${spread(noticed)}; from MongoDB's return until ready again: ${spread(recoveries)}`,
  );
  assert.equal(all.broken, 0, 'no process and no connection to one is lost');
  assert.ok(all.users.length >= ROUNDS / 2 && all.revoked.length >= ROUNDS / 2 && replays >= ROUNDS);
  assert.deepEqual(
    webs.map(({ process }) => process.pid),
    pids,
  );
});

test(`MongoDB connections cut ${CUTS} times under load: no write lost, none repeated`, async (t) => {
  const { reach, wire } = wired(createJournal().tap);
  const site = await openSite({ kind: 'split', reach });
  const { deployment } = site;
  t.after(async () => {
    await deployment.stop();
    await wire().cut();
  });
  const { webs } = deployment;
  const ledgers: Ledger[] = [];
  const recoveries: number[] = [];
  let replays = 0;
  for (let round = 0; round < CUTS; round += 1) {
    const ledger = emptyLedger();
    ledgers.push(ledger);
    const endLoad = startLoad({ ...site, ledger });
    await untilBusy(ledger);
    await sleep(jitter(round, 80));
    await wire().cut(round % 2 === 0 ? 'answered' : 'unheard');
    // Longer than anyone tries again.
    if (round % 3 === 2) await Promise.all([assertClosed(site, ledger, 'mongodb'), sleep(RETRIED_MS)]);
    recoveries.push(await mendAndRecover(webs, wire()));
    await endLoad();
    replays += await settleAccounts(site, ledger, round);
  }
  const all = await settleAll(t, site, ledgers, replays);
  t.diagnostic(`from the mended wire until ready again: ${spread(recoveries)}`);
  assert.equal(all.broken, 0);
  assert.ok(all.refusals.length >= CUTS && all.users.length >= CUTS / 2 && all.revoked.length >= CUTS / 2);
});
