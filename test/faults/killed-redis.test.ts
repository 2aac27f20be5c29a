// Kill -9 of Redis under load, repeatedly: what needs it fails in time, the rest works, it recovers by
// itself, and no decision is made in the caller's favour because Redis could not be asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { slowness } from '../support/patience.ts';
import {
  DURABLE_REDIS,
  FEWER_ROUNDS,
  jitter,
  KILLS,
  millisecondsUntil,
  millisecondsUntilDown,
  spread,
} from './deployment.ts';
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
  startLoad,
  tokenRequest,
} from './load.ts';
import { openSite, type Site, sum, tell, untilBusy } from './site.ts';

/** Of the default settings. */
const LOCKOUT = 5;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

interface Kind {
  readonly name: string;
  readonly config: readonly string[];
  readonly rounds: number;
  readonly isForgetful: boolean;
}

const kinds: readonly Kind[] = [
  { name: 'with a log', config: DURABLE_REDIS, rounds: KILLS, isForgetful: false },
  // The other way that docs/operations.md allows: what it knew is gone, so that nothing of it is good any more.
  {
    name: 'without persistence',
    config: ['appendonly no'],
    rounds: FEWER_ROUNDS,
    isForgetful: true,
  },
];

/** While Redis is gone: what everyone needs it for, at both processes. */
async function assertRefused({ deployment, client }: Site, ledger: Ledger): Promise<void> {
  for (const web of deployment.webs) {
    const before = ledger.refusals.length;
    const agent = new Agent(web, { publicUrl: deployment.url });
    const [, live] = await Promise.all([
      millisecondsUntilDown(web, 'redis'),
      call(`${web.url}/healthz`, {}),
      ask(ledger, 'authorize', () => agent.authorize({ client_id: client.id })),
      ask(ledger, 'token', () =>
        tokenRequest(web, client, redemption({ code: 'c', verifier: 'v'.repeat(43) })),
      ),
    ]);
    assert.equal(live.status, 200);
    assert.deepEqual([ledger.odd, ledger.refusals.length - before >= 1], [[], true]);
  }
}

for (const { name, config, rounds, isForgetful } of kinds) {
  test(`kill -9 under load: Redis ${name}, ${rounds} times`, async (t) => {
    const site = await openSite({ kind: 'split', redisConfig: config });
    const { deployment, client } = site;
    t.after(() => deployment.stop());
    const { redis, webs } = deployment;
    assert.ok(redis);
    const ledgers: Ledger[] = [];
    const recoveries: number[] = [];
    const noticed: number[] = [];
    let replays = 0;
    for (let round = 0; round < rounds; round += 1) {
      const ledger = emptyLedger();
      ledgers.push(ledger);
      const endLoad = startLoad({ ...site, ledger, isForgetful });
      await untilBusy(ledger);
      await sleep(jitter(round, 80));
      await redis.kill();
      noticed.push(
        await millisecondsUntil(
          async () => (await webs[0].readiness()).status === 503,
          PROMPT_MS * slowness(),
        ),
      );
      await assertRefused(site, ledger);
      await redis.start();
      const startedAt = performance.now();
      for (const web of webs) await millisecondsUntil(() => web.isReady(), 60_000);
      recoveries.push(performance.now() - startedAt);
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
    t.diagnostic(
      `until readiness turned: ${spread(noticed)}; from Redis's start until ready again: ${spread(recoveries)}`,
    );
    assert.equal(all.broken, 0, 'no process and no connection to one is lost');
    assert.ok(all.refusals.length >= 4 * rounds && all.users.length >= rounds / 2);
    assert.ok(all.revoked.length >= rounds / 2 && replays >= rounds);
  });
}

test('attack: sign-in, guessing and use of revoked tokens while Redis is down', async (t) => {
  const site = await openSite({ kind: 'split' });
  const { deployment } = site;
  t.after(() => deployment.stop());
  const { redis, webs } = deployment;
  assert.ok(redis);
  const [web] = webs;
  const client = await web.register({
    grant_types: ['authorization_code', 'refresh_token', 'password', DEVICE_GRANT],
    scope: 'openid offline_access',
  });
  const { id } = await web.createUser('victim');
  const ledger = emptyLedger();
  const signedIn = new Agent(web, { publicUrl: deployment.url });
  const issued = await askForCode(ledger, signedIn, client, 'victim');
  const unused = await askForCode(ledger, signedIn, client, 'victim');
  assert.ok(issued && unused);
  const tokens: Record<string, string> = JSON.parse(
    (await tokenRequest(web, client, redemption(issued))).body,
  );
  const { access_token: access = '' } = tokens;
  const fresh = new Agent(web, { publicUrl: deployment.url });
  const form = await fresh.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  });
  assert.match(form.body, /name="password"/);
  // No one may be let in, told that a token is good, or told that it is ended.
  const bearer = { authorization: `Bearer ${access}` };
  const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    call(`${web.url}${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) });
  const acts: Readonly<Record<string, () => Promise<Answer>>> = {
    'the right password': () => fresh.submit(form, { username: 'victim', password: PASSWORD }),
    'a wrong password': () => fresh.submit(form, { username: 'victim', password: 'not the password' }),
    'a browser that is signed in': () =>
      signedIn.authorize({
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        scope: 'openid',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      }),
    'an unused code': () => tokenRequest(web, client, redemption(unused)),
    'a used code': () => tokenRequest(web, client, redemption(issued)),
    'the password grant': () =>
      tokenRequest(web, client, {
        grant_type: 'password',
        username: 'victim',
        password: PASSWORD,
        scope: 'openid',
      }),
    'a device': () => tokenRequest(web, client, { grant_type: DEVICE_GRANT, device_code: 'x'.repeat(43) }),
    userinfo: () => call(`${web.url}/oauth2/userinfo`, { headers: bearer }),
    'introspection of an access token': () => post('/oauth2/introspect', { token: access }, operator),
    'the end of an access token': () => post('/oauth2/revoke', { token: access }),
    'the administration by access token': () => call(`${web.url}/admin/api/users`, { headers: bearer }),
  };

  await redis.kill();
  for (const round of ['at once', 'later']) {
    await Promise.all(
      Object.entries(acts).map(async ([what, act]) => {
        const answer = await ask(ledger, what, act);
        assert.equal(answer, undefined, `${what} ${round}: ${answer?.status} ${answer?.body.slice(0, 200)}`);
      }),
    );
  }
  // Guesses by the one way that needs nothing of Redis until the password was looked at.
  const guesses = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      tokenRequest(web, client, {
        grant_type: 'password',
        username: 'victim',
        password: `wrong ${n}`,
        scope: 'openid',
      }),
    ),
  );
  const looked = guesses.filter(({ status }) => status === 400 || status === 401);
  t.diagnostic(`of 30 guesses while Redis is gone: ${looked.length} answered, the others refused unseen`);
  for (const { status } of guesses) assert.ok([400, 401, 429, 503].includes(status), String(status));
  await redis.start();
  await millisecondsUntil(() => web.isReady());
  // Who is guessed at is locked out as ever: that is counted where it lasts.
  assert.ok(looked.length >= LOCKOUT);
  assert.notEqual((await web.admin('GET', `/users/${id}`)).body.data.locked_until, null);
  assert.equal(ledger.broken, 0);
  assert.deepEqual(ledger.odd, []);
  t.diagnostic(`${Object.keys(acts).length} ways in: 503 ${spread(ledger.refusals)}`);
});
