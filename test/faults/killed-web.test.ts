// Kill -9 of a web process under load, repeatedly, while another one serves: acknowledged writes are present,
// used and revoked things stay so, and the other process answers throughout. MongoDB alone, whose data split.test.ts and
// killed-mongodb.test.ts have each time, with LONG=1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FEWER_ROUNDS, isLong, jitter, KILLS, millisecondsUntil, spread } from './deployment.ts';
import { assertNothingLost, assertRevokedStayRevoked, replayAll } from './ledger.ts';
import { emptyLedger, type Ledger, startLoad } from './load.ts';
import { openSite, sum, tell, untilBusy } from './site.ts';

for (const kind of ['split', 'embedded', ...(isLong ? (['mongodb'] as const) : [])] as const) {
  // The process is the same, what it leaves behind is not: fewer where there is one backend less.
  const rounds = kind === 'split' ? KILLS : FEWER_ROUNDS;

  test(`${kind}: a web process killed ${rounds} times under load`, async (t) => {
    const site = await openSite({ kind });
    const { deployment, client } = site;
    t.after(() => deployment.stop());
    const ledgers: Ledger[] = [];
    const recoveries: number[] = [];
    let replays = 0;
    const isSeen = (): boolean => ledgers.some(({ broken }) => broken > 0);
    // A kill that met no request says nothing.
    for (let round = 0; round < rounds || (!isSeen() && round < 20); round += 1) {
      const ledger = emptyLedger();
      ledgers.push(ledger);
      const endLoad = startLoad({ ...site, ledger });
      const [victim, survivor] =
        round % 2 === 0 ? deployment.webs : ([deployment.webs[1], deployment.webs[0]] as const);
      await untilBusy(ledger);
      await sleep(jitter(round, 80));
      await victim.kill();
      const killedAt = performance.now();
      const isBack = victim.start().then(async () => {
        await millisecondsUntil(() => victim.isReady());
        recoveries.push(performance.now() - killedAt);
      });
      await sleep(30);
      await endLoad();
      // Before the other one is back: it is the survivor that knows.
      await assertNothingLost(survivor, ledger);
      await assertRevokedStayRevoked(survivor, ledger);
      replays += await replayAll(survivor, client, ledger);
      await isBack;
      await assertRevokedStayRevoked(victim, ledger);
      assert.deepEqual(ledger.odd, []);
    }
    const all = sum(ledgers);
    for (const web of deployment.webs) {
      await assertNothingLost(web, all);
      await assertRevokedStayRevoked(web, all);
    }
    tell(t, ledgers, replays);
    t.diagnostic(`from the kill until a new process is ready: ${spread(recoveries)}`);
    // What shows nothing is no test.
    assert.ok(isSeen(), 'no request was cut off');
    assert.ok(all.users.length >= rounds / 2 && all.revoked.length >= rounds / 2 && replays >= rounds);
  });
}
