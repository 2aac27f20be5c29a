// Several workers on one port (WEB_CONCURRENCY): each gives the same answer at once, and a dead one is replaced (architecture
// §7, decisions 0003 and 0011).
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RawAnswer, type RawRequest, send } from '../attacks/raw-http.ts';
import { Agent, redeem } from '../support/agent.ts';
import { ADMIN_TOKEN } from '../support/app.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const WORKERS = 2;
const ROUNDS = 20;

let server: ServerProcess;
let folder: string;
let client: { id: string; secret: string };
let browser: Agent;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-cluster-'));
  server = await startServer({ dataDir: folder, env: { WEB_CONCURRENCY: String(WORKERS) } });
  client = await server.register();
  await server.createUser('alice');
  browser = new Agent(server);
  await browser.signIn(client.id, { username: 'alice' });
  await untilBothAnswer();
});
after(async () => {
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

/** The process that answered, by the request's id in its log. */
async function workerOf({ headers }: RawAnswer): Promise<number> {
  const id = headers['x-request-id'];
  const { pid } = await server.waitForLine(
    ({ request_id: logged, msg }) => logged === id && msg === 'request',
  );
  return pid ?? assert.fail();
}

/** A connection of its own each time, so that each worker has its turn. */
const ask = (path: string, rest: Omit<RawRequest, 'path'> = {}): Promise<RawAnswer> =>
  send(server.url, { path, ...rest });

const postForm = (path: string, fields: Record<string, string>): Promise<RawAnswer> =>
  ask(path, {
    method: 'POST',
    headers: [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ...(path === '/oauth2/introspect' ? [['Authorization', `Bearer ${ADMIN_TOKEN}`] as const] : []),
    ],
    body: new URLSearchParams(fields).toString(),
  });

/** By time, not by count: 200 requests take the other worker a second, while a replacement may take longer to start. */
async function untilBothAnswer(): Promise<Set<number>> {
  const pids = new Set<number>();
  const until = performance.now() + 60_000;
  while (pids.size < WORKERS) {
    assert.ok(performance.now() < until, `only ${[...pids].join()} answer`);
    pids.add(await workerOf(await ask('/oauth2/userinfo')));
  }
  return pids;
}

async function isActive(token: string): Promise<{ active: boolean; pid: number }> {
  const answer = await postForm('/oauth2/introspect', { token });
  const { active }: { active: boolean } = JSON.parse(answer.body);
  return { active, pid: await workerOf(answer) };
}

test('cluster: a code issued by one worker is redeemed by any', async () => {
  const issuers = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const authorization = await browser.signIn(client.id, { username: 'alice' });
    const { status, body } = await redeem(server, client, authorization);
    assert.equal(status, 200, JSON.stringify(body));
    issuers.add((await isActive(body.access_token)).pid);
  }
  assert.equal(issuers.size, WORKERS, 'all rounds went to one process: nothing was shown');
});

test('cluster: a token revoked by one is invalid at another at the next request', async () => {
  const askedAt = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body } = await redeem(server, client, await browser.signIn(client.id, { username: 'alice' }));
    assert.equal((await isActive(body.access_token)).active, true);
    const token = round % 2 === 0 ? body.access_token : body.refresh_token;
    assert.equal((await postForm('/oauth2/revoke', { token })).status, 200);
    for (let other = 0; other < WORKERS; other += 1) {
      const { active, pid } = await isActive(body.access_token);
      assert.equal(active, false);
      askedAt.add(pid);
    }
  }
  assert.equal(askedAt.size, WORKERS);
});

test('cluster: a setting changed by one applies at another at the next request', async () => {
  const seenBy = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `Named ${round}`;
    const { status } = await server.admin('PATCH', '/settings', { product_name: name });
    assert.equal(status, 200);
    for (let other = 0; other < WORKERS; other += 1) {
      const page = await ask('/nothing/here', { headers: [['Accept', 'text/html']] });
      assert.ok(page.body.includes(name), `round ${round}`);
      seenBy.add(await workerOf(page));
    }
  }
  assert.equal(seenBy.size, WORKERS);
});

test('cluster: a user locked by one is locked at another', async () => {
  const { id } = await server.createUser('bob');
  const form = new Agent(server);
  const page = await form.authorize({
    client_id: client.id,
    redirect_uri: 'https://rp.example/callback',
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  });
  const wrong = Array.from({ length: 12 }, () =>
    form.submit(page, { username: 'bob', password: 'not the password' }),
  );
  await Promise.all(wrong);
  const { body } = await server.admin('GET', `/users/${id}`);
  assert.notEqual(body.data.locked_until, null);
  const looked = server.logged.filter(
    ({ event, outcome, accountId }) => event === 'signin' && outcome === 'wrong' && accountId === id,
  );
  // A first guess is compared while it is being counted. Where the other locked the account in that time, even a right
  // one would not have signed in, so it tells the guesser nothing.
  assert.ok(looked.length <= 5 + WORKERS - 1, `${looked.length} guesses were looked at`);
  assert.equal((await form.submit(page, { username: 'bob' })).status, 401);
});

test('cluster: a killed worker is replaced, and requests are soon served again', async () => {
  const before = await untilBothAnswer();
  const [victim = 0] = before;
  process.kill(victim, 'SIGKILL');
  await server.waitForLine(({ msg, worker }) => msg === 'worker lost' && worker === victim);
  // The other one serves meanwhile.
  assert.equal((await ask('/readyz')).status, 200);
  const until = performance.now() + 60_000;
  let now = new Set<number>();
  while (now.size < WORKERS || now.has(victim)) {
    assert.ok(performance.now() < until, 'no replacement');
    now = await untilBothAnswer();
  }
  assert.ok([...now].some((pid) => !before.has(pid)));
});

test('cluster: SIGTERM ends every process with 0 and frees the port', async () => {
  const pids = await untilBothAnswer();
  const running = Array.from({ length: 50 }, () => ask('/healthz').then(({ status }) => status));
  await Promise.race(running);
  const exit = await server.stop();
  assert.deepEqual(exit, { code: 0, signal: null });
  assert.deepEqual(new Set(await Promise.all(running)), new Set([200]));
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
