// Attack: more sign-ins at once than the machine can hash. Whatever needs no hash is served, and the
// excess is refused at once. The hashes are the shipped ones, in a process of its own.
// A process of its own: its times are compared.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMib, type ServerProcess, startServer } from '../processes/server-process.ts';
import { requestTokens } from '../support/agent.ts';
import { PASSWORD } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { liftLimits } from './limits.ts';
import { send } from './raw-http.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, type SignInForm } from './sign-in-form.ts';
import { atOnce, sized } from './sizes.ts';
import { quantile } from './statistics.ts';

const FLOOD = sized(300, 3000);
const P95_MS = 500;
// Two hashes at once take 38 MiB; what waits is a connection and a few kilobytes; the rest is what V8 lets lie on a busy
// machine before it clears up, 50 to 110 MiB from one run to the next.
const MAX_GROWTH_MIB = 180 + FLOOD * 0.125;

let server: ServerProcess;
let folder: string;
let client: { id: string; secret: string };
let machine: { id: string; secret: string };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-flood-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn', TRUST_PROXY: '1' } });
  // The limits per address would end the flood before it begins: it comes from many.
  await liftLimits(server);
  client = await server.register(PASSWORD_GRANT);
  machine = await server.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  await server.createUser('alice');
});
after(async () => {
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Asks again and again, as an honest client does, until told to stop. */
async function timesOf(ask: () => Promise<number>, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    assert.equal(await ask(), 200);
    times.push(performance.now() - startedAt);
    await sleep(10);
  }
  return times;
}

const get = async (path: string): Promise<number> => (await send(server.url, { path })).status;

test(`attack: ${FLOOD} sign-ins at once; probes, keys and tokens are served, the excess gets 503`, async (t) => {
  const form = await openSignIn(server, client.id);
  const memory = await residentMib(server.pid);
  const over = new AbortController();
  const honest = {
    healthz: timesOf(() => get('/healthz'), over.signal),
    jwks: timesOf(() => get('/.well-known/jwks.json'), over.signal),
    token: timesOf(
      async () => (await requestTokens(server, machine, { grant_type: 'client_credentials' })).status,
      over.signal,
    ),
  };
  const startedAt = performance.now();
  const answers = await atOnce(FLOOD, (index) => form.attempt(`user-${index}`, 'not the password'));
  const elapsed = performance.now() - startedAt;
  const growth = (await residentMib(server.pid)) - memory;
  over.abort();

  const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
  t.diagnostic(`${count(401)} looked at, ${count(503)} refused, in ${elapsed.toFixed(0)} ms`);
  assert.equal(count(401) + count(503), FLOOD);
  assert.ok(count(401) > 0 && count(503) > 0);
  for (const { status, headers } of answers) {
    if (status === 503) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  for (const [name, times] of Object.entries(honest)) {
    const p95 = quantile(await times, 0.95);
    t.diagnostic(`${name}: p95 ${p95.toFixed(1)} ms over ${(await times).length}`);
    assert.ok((await times).length >= 10, name);
    assert.ok(isWithin(p95, P95_MS), `${name}: p95 ${p95} ms`);
  }
  assert.ok(growth <= MAX_GROWTH_MIB, `grew by ${growth} MiB`);
  // And honest people can sign in as soon as it is over.
  assert.ok(isAccepted(await form.attempt('alice')));
});

test('attack: a flood at the password grant gets the OAuth error temporarily_unavailable', async () => {
  const answers = await atOnce(FLOOD, async (index) => {
    const { status, body } = await requestTokens(server, client, {
      grant_type: 'password',
      username: `user-${index}`,
      password: 'not the password',
    });
    return `${status} ${body.error}`;
  });
  assert.deepEqual(new Set(answers), new Set(['400 invalid_grant', '503 temporarily_unavailable']));
});

test('attack: a flood on one name keeps no other user out', async () => {
  const form = await openSignIn(server, client.id);
  const flood = atOnce(100, () => form.attempt('victim', 'not the password'));
  const other = await openSignIn(server, client.id);
  const answers = await atOnce(5, () => other.attempt('alice'));
  assert.ok(answers.some(isAccepted), 'nobody else could sign in');
  await flood;
});

test('attack: a flood from one network, under many names, keeps no other network out', async () => {
  const attemptFrom = async (form: SignInForm, address: string, username: string, password?: string) =>
    form.browser.post(
      '/oauth2/login',
      { ...form.hidden, username, password: password ?? PASSWORD },
      { headers: { 'x-forwarded-for': address } },
    );
  const form = await openSignIn(server, client.id);
  const over = new AbortController();
  const refused = atOnce(FLOOD / 2, async (index) => {
    let count = 0;
    for (let tries = 0; !over.signal.aborted; tries += 1) {
      const { status } = await attemptFrom(form, '203.0.113.7', `user-${index}-${tries}`, 'not it');
      if (status === 503) count += 1;
    }
    return count;
  });
  try {
    for (let tries = 0; tries < 3; tries += 1) {
      const own = await openSignIn(server, client.id);
      const answer = await attemptFrom(own, '198.51.100.7', 'alice');
      assert.ok(isAccepted(answer), `${answer.status}`);
    }
  } finally {
    over.abort();
  }
  assert.ok(
    (await refused).some((count) => count > 0),
    'the flood was too small',
  );
});
