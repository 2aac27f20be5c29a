// Owns kill -9 of MongoDB under load, again and again (issue D; checklist Q1, Q5, R169, R170). The server for tests keeps
// everything in its memory, so two things stand for what a real one does: it is killed and comes back empty (what callers
// are told, and recovery), and every connection to it is cut while it lives (what was acknowledged is there, as with one
// that has its journal). Servers of its own only: what MONGODB_TEST_URI names is nobody's to kill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../support/app.ts';
import { jitter, ROUNDS as MANY, millisecondsUntil, spread } from './deployment.ts';
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
import { openSite, type Site, settle, sum, tell, untilBusy } from './site.ts';
import { layWire, type Wire } from './wire.ts';

const RECOVERY_MS = 15_000;
const RETRIED_MS = 2_000;

/** While MongoDB is gone: nobody is let in, believed, or told that something was done. */
async function assertClosed({ deployment, client, people }: Site, ledger: Ledger): Promise<void> {
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
    const [ready, live, issued] = await Promise.all([
      web.readiness(),
      call(`${web.url}/healthz`, {}),
      person && askForCode(ledger, person.agents[index === 0 ? 0 : 1], client, person.username),
      ...Object.entries(acts(web.url)).map(async ([what, act]) => {
        const answer = await ask(ledger, what, async () => (await act()) ?? assert.fail(what));
        assert.equal(answer, undefined, `${what}: ${answer?.status} ${answer?.body}`);
      }),
    ]);
    assert.deepEqual([ready, live.status], [{ status: 503, down: ['mongodb'] }, 200]);
    assert.equal(issued, undefined);
  }
  assert.deepEqual(ledger.odd, []);
}

// A round takes as long as people may wait for their 503: fewer of them here.
const ROUNDS = MANY / 2;

test(`MongoDB is killed ${ROUNDS} times under load: callers are told, and it is back by itself`, async (t) => {
  let site = await openSite({ kind: 'split' });
  const { deployment } = site;
  t.after(() => deployment.stop());
  const { mongo, webs } = deployment;
  const pids = webs.map(({ process }) => process.pid);
  const ledgers: Ledger[] = [];
  const recoveries: number[] = [];
  const noticed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ledger = emptyLedger();
    ledgers.push(ledger);
    const endLoad = startLoad({ ...site, ledger });
    await untilBusy(ledger);
    await sleep(jitter(round, 80));
    await mongo.kill();
    noticed.push(await millisecondsUntil(async () => !(await webs[0].isReady()), PROMPT_MS));
    await assertClosed(site, ledger);
    await endLoad();
    assert.deepEqual(ledger.odd, []);
    await mongo.restart();
    const startedAt = performance.now();
    for (const web of webs) await millisecondsUntil(() => web.isReady(), RECOVERY_MS);
    recoveries.push(performance.now() - startedAt);
    // It knows nobody any more: that people can be added and sign in again is what counts here.
    site = { deployment, ...(await settle(deployment, ['ada'])) };
  }
  tell(t, ledgers, 0);
  t.diagnostic(
    `until readiness turned: ${spread(noticed)}; from MongoDB's start until ready again: ${spread(recoveries)}`,
  );
  const { broken, refusals } = sum(ledgers);
  assert.equal(broken, 0, 'no process and no connection to one is lost');
  assert.ok(refusals.length >= 8 * ROUNDS);
  assert.deepEqual(
    webs.map(({ process }) => process.pid),
    pids,
  );
});

test(`all connections to MongoDB are cut ${ROUNDS} times under load: nothing lost, nothing twice`, async (t) => {
  const wires: Wire[] = [];
  const site = await openSite({
    kind: 'split',
    async reach(uri) {
      const wire = await layWire(Number(new URL(uri).port));
      wires.push(wire);
      return uri.replace(/:\d+\//, `:${wire.port}/`);
    },
  });
  const { deployment, client } = site;
  const [wire] = wires;
  assert.ok(wire);
  t.after(async () => {
    await deployment.stop();
    await wire.cut();
  });
  const { webs } = deployment;
  const ledgers: Ledger[] = [];
  const recoveries: number[] = [];
  let replays = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const ledger = emptyLedger();
    ledgers.push(ledger);
    const endLoad = startLoad({ ...site, ledger });
    await untilBusy(ledger);
    await sleep(jitter(round, 80));
    // The driver sends a write again once, and a real server remembers that it has seen it; the one for tests does not.
    // So answers are cut off only where the wire stays down longer than anybody tries again.
    const isShort = round % 2 === 0;
    await wire.cut(isShort);
    if (!isShort) await Promise.all([assertClosed(site, ledger), sleep(RETRIED_MS)]);
    await wire.mend();
    const mendedAt = performance.now();
    for (const web of webs) await millisecondsUntil(() => web.isReady(), RECOVERY_MS);
    recoveries.push(performance.now() - mendedAt);
    await endLoad();
    assert.deepEqual(ledger.odd, []);
    const web = webs[round % 2] ?? webs[0];
    await assertNothingLost(web, ledger);
    await assertRevokedStayRevoked(web, ledger);
    replays += await replayAll(web, client, ledger);
  }
  const all = sum(ledgers);
  await assertNothingLost(webs[0], all);
  await assertRevokedStayRevoked(webs[1], all);
  tell(t, ledgers, replays);
  t.diagnostic(`from the mended wire until ready again: ${spread(recoveries)}`);
  assert.equal(all.broken, 0);
  assert.ok(
    all.refusals.length >= ROUNDS && all.users.length >= ROUNDS / 2 && all.revoked.length >= ROUNDS / 2,
  );
});
