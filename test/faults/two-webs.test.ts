// Two web processes of one deployment, each reached by itself: what one issues the other accepts, what one revokes
// is invalid at the other at once, what one changes the other applies within a second, and every token verifies while keys are
// rotated under load.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isWithin } from '../support/patience.ts';
import { isLong, ROUNDS, spread, type Web } from './deployment.ts';
import { isActive } from './ledger.ts';
import { askForCode, call, emptyLedger, redemption, rotation, tokenRequest } from './load.ts';
import { openSite, type Site } from './site.ts';

const SOON_MS = 1_000;
const SETTING_ROUNDS = isLong ? 50 : 2;
/** Between two sign-ins of one person while keys are rotated; with LONG=1 as fast as can be. */
const PAUSE_MS = isLong ? 0 : 60;
/** An immediate rotation: three seconds until every process has seen the key, and what follows. */
const ROTATION_MS = 4_500;

type Tokens = Readonly<Record<'access_token' | 'refresh_token' | 'id_token', string>>;

async function tokensFrom(site: Site, turn: number, n: 0 | 1 = 0): Promise<Tokens> {
  const { deployment, client, people } = site;
  const person = people[turn % people.length] ?? assert.fail();
  const ledger = emptyLedger();
  const code = await askForCode(ledger, person.agents[n], client, person.username);
  assert.ok(code, JSON.stringify(ledger.odd));
  const { status, body } = await tokenRequest(deployment.webs[n === 0 ? 1 : 0], client, redemption(code));
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

/** When the last request was sent, counted from the change, that did not know of it yet; 0 when all did. */
async function blindFor(change: () => Promise<unknown>, knows: () => Promise<boolean>): Promise<number> {
  await change();
  const changedAt = performance.now();
  let blind = 0;
  for (;;) {
    const sentAt = performance.now();
    if (await knows()) return blind;
    blind = sentAt - changedAt;
    assert.ok(blind < 60_000, 'never');
    await sleep(20);
  }
}

for (const kind of ['split', 'mongodb'] as const) {
  describe(`two web processes, ${kind}`, { concurrency: false }, () => {
    const opening = openSite({ kind });
    const pair = (site: Site, turn: number): readonly [Web, Web] => {
      const [one, other] = site.deployment.webs;
      return turn % 2 === 0 ? [one, other] : [other, one];
    };

    test(`a code of one is redeemed at the other and refreshed at the first, ${ROUNDS} times`, async () => {
      const site = await opening;
      for (let turn = 0; turn < ROUNDS; turn += 1) {
        const n = turn % 2 === 0 ? 0 : 1;
        const { refresh_token } = await tokensFrom(site, turn, n);
        const { status, body } = await tokenRequest(
          site.deployment.webs[n],
          site.client,
          rotation(refresh_token),
        );
        assert.equal(status, 200, body);
      }
    });

    test(`a revocation at one is effective at the other at the next request, ${ROUNDS} times`, async () => {
      const site = await opening;
      for (let turn = 0; turn < ROUNDS; turn += 1) {
        const { access_token, refresh_token } = await tokensFrom(site, turn);
        const [one, other] = pair(site, turn);
        assert.equal(await isActive(other, access_token), true);
        const body = new URLSearchParams({ token: turn % 4 < 2 ? refresh_token : access_token });
        assert.equal((await call(`${one.url}/oauth2/revoke`, { method: 'POST', body })).status, 200);
        assert.equal(await isActive(other, access_token), false);
        assert.equal(await isActive(other, refresh_token), turn % 4 >= 2);
      }
    });

    test('a setting changed at one applies at the other within a second', async (t) => {
      const site = await opening;
      const blind: number[] = [];
      for (let turn = 0; turn < SETTING_ROUNDS; turn += 1) {
        const [one, other] = pair(site, turn);
        const page = async (): Promise<string> => (await call(`${other.url}/onboard`, {})).body;
        await page();
        const name = `Named ${kind} ${turn}`;
        blind.push(
          await blindFor(
            () => one.admin('PATCH', '/settings', { product_name: name }),
            async () => (await page()).includes(name),
          ),
        );
      }
      t.diagnostic(`${kind}: obeyed elsewhere after ${spread(blind)}`);
      // A single one may meet a machine that is busy with something else; all of them do not.
      assert.ok(isWithin(Math.min(...blind), SOON_MS), String(blind));
      assert.ok(isWithin(Math.max(...blind), 2 * SOON_MS), String(blind));
    });

    test('keys are rotated twice under load; every token verifies with the other’s keys', async (t) => {
      const site = await opening;
      const { webs, url } = site.deployment;
      // As an application does it: it keeps the list, and fetches again when it meets a key that it does not know.
      const keysOf = ({ url: at }: Web): JWTVerifyGetKey =>
        createRemoteJWKSet(new URL(`${at}/oauth2/.well-known/jwks.json`), { cooldownDuration: 0 });
      const lists = [keysOf(webs[0]), keysOf(webs[1])] as const;
      const issuer = `${url}/oauth2`;
      const kids = new Set<string | undefined>();
      const kept: Tokens[] = [];
      let verified = 0;
      let isOver = false;
      const verify = async (tokens: Tokens): Promise<void> => {
        for (const list of lists) {
          await jwtVerify(tokens.id_token, list, { issuer, audience: site.client.id });
          await jwtVerify(tokens.access_token, list, { issuer });
          verified += 2;
        }
        kids.add(decodeProtectedHeader(tokens.id_token).kid);
      };
      const work = async (worker: number): Promise<void> => {
        for (let turn = worker; !isOver; turn += 1) {
          const tokens = await tokensFrom(site, worker, turn % 2 === 0 ? 0 : 1);
          await verify(tokens);
          if (turn % 5 === 0) kept.push(tokens);
          await sleep(PAUSE_MS);
        }
      };
      const working = Promise.all([work(0), work(1)]).catch((error: unknown) => {
        isOver = true;
        throw error;
      });
      for (const web of webs) {
        const { status } = await web.admin('POST', '/keys/rotate', { mode: 'immediate' });
        assert.equal(status, 200);
        await Promise.race([sleep(ROTATION_MS), working]);
      }
      isOver = true;
      await working;
      // What the first key has signed is good to the end of its time, also for whoever fetches the keys only now.
      const late = [keysOf(webs[0]), keysOf(webs[1])];
      for (const tokens of kept)
        for (const list of late) await jwtVerify(tokens.id_token, list, { issuer, audience: site.client.id });
      t.diagnostic(
        `${kind}: ${verified} verifications with ${kids.size} keys, ${kept.length} late ones, none failed`,
      );
      assert.equal(kids.size, 3);
      assert.ok(verified >= 40);
    });

    test('every process has stopped', async () => {
      await (await opening).deployment.stop();
    });
  });
}
