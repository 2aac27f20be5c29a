// Attack: one person with as many networks as a provider gives for the asking (an IPv6 /48 has 65,536 of them), to get past
// what is counted by address and to take the turns of others at the queue of password hashes.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ServerProcess, startServer } from '../processes/server-process.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { isAccepted, openSignIn, type SignInForm } from './sign-in-form.ts';
import { atOnce } from './sizes.ts';

const CONNECTIONS = 48;

let app: TestApp;
let client: { id: string; secret: string };
let form: SignInForm;
let server: ServerProcess;
let folder: string;

before(async () => {
  app = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1' } });
  client = await app.register();
  form = await openSignIn(app, client.id);
  folder = await mkdtemp(join(tmpdir(), 'latchkey-networks-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn', TRUST_PROXY: '1' } });
  await liftLimits(server);
});
after(async () => {
  await app.stop();
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

const attempt = (one: SignInForm, address: string, username: string, password = 'not the password') =>
  one.browser.post(
    '/oauth2/login',
    { ...one.hidden, username, password },
    { headers: { 'x-forwarded-for': address } },
  );

/** How many of so many guesses, each from another network, are looked at. */
async function lookedAt(count: number, addressOf: (index: number) => string): Promise<number> {
  let judged = 0;
  for (let index = 0; index < count; index += 1) {
    const { status } = await attempt(form, addressOf(index), `name-${index}`);
    if (status === 401) judged += 1;
  }
  return judged;
}

test('attack: guesses from every network of a /56, a /48, an IPv4 /24 and /16', async () => {
  const factors = { network_factor_56: 4, network_factor_48: 8, network_factor_24: 4, network_factor_16: 8 };
  const limits = { limit_login_ip: 5, limit_login_account_ip: 0 };
  assert.equal((await app.admin('PATCH', '/settings', { ...factors, ...limits })).status, 200);
  const hex = (index: number): string => index.toString(16).padStart(2, '0');
  // A ceiling is looser by what one process has not reported, a point or two.
  const isNear = (count: number, ceiling: number): boolean => count >= ceiling - 2 && count <= ceiling + 2;
  const of56 = await lookedAt(60, (index) => `2001:db8:a:ab${hex(index)}::1`);
  assert.ok(isNear(of56, 20), `/56: ${of56}`);
  const of48 = await lookedAt(60, (index) => `2001:db8:a:${hex(index)}00::1`);
  assert.ok(isNear(of56 + of48, 40), `/48: ${of56} + ${of48}`);
  const of24 = await lookedAt(60, (index) => `198.18.7.${index}`);
  assert.ok(isNear(of24, 20), `/24: ${of24}`);
  const of16 = await lookedAt(60, (index) => `198.18.${100 + index}.1`);
  assert.ok(isNear(of24 + of16, 40), `/16: ${of24} + ${of16}`);
  assert.equal((await attempt(form, '2001:db8:b::1', 'x')).status, 401, 'another /48');
  assert.equal((await attempt(form, '198.19.0.1', 'x')).status, 401, 'another /16');
});

test('attack: guesses at one name from every network of a /48', async () => {
  const limits = { limit_login_ip: 0, limit_login_account_ip: 2, network_factor_56: 2, network_factor_48: 4 };
  assert.equal((await app.admin('PATCH', '/settings', limits)).status, 200);
  const judged: number[] = [];
  for (let index = 0; index < 20; index += 1) {
    const { status } = await attempt(form, `2001:db8:c:${index.toString(16)}00::1`, 'nobody');
    judged.push(status);
  }
  const count = judged.filter((status) => status === 401).length;
  assert.ok(count >= 6 && count <= 10, judged.join(' '));
  assert.equal((await attempt(form, '2001:db8:c:1400::1', 'somebody else')).status, 401);
});

for (const [what, addressOf] of [
  ['one /48', (index: number) => `2001:db8:d:${index.toString(16)}::1`],
  ['one IPv4 /24', (index: number) => `203.0.113.${index}`],
] as const)
  test(`attack: a flood of wrong passwords from ${what} delays no sign-in from elsewhere`, async (t) => {
    const machine = await server.register();
    const username = `victim-${what.replace(/\W/g, '')}`;
    await server.createUser(username);
    const crowd = await openSignIn(server, machine.id);
    const over = new AbortController();
    let done = 0;
    const flood = atOnce(CONNECTIONS, async (index) => {
      for (let tries = 0; !over.signal.aborted; tries += 1) {
        await attempt(crowd, addressOf(index), `user-${index}-${tries}`);
        done += 1;
      }
    });
    try {
      for (let tries = 0; tries < 5; tries += 1) {
        // Someone new each time: no browser that an account knows.
        const own = await openSignIn(server, machine.id);
        const [before, startedAt] = [done, performance.now()];
        const answer = await attempt(own, '2001:db8:e::1', username, PASSWORD);
        t.diagnostic(
          `${(performance.now() - startedAt).toFixed(0)} ms, ${done - before} of the flood answered`,
        );
        assert.ok(isAccepted(answer), `${answer.status}`);
        // Counted in turns, which no busy machine changes: those that run, one turn of theirs, and answers on their way.
        assert.ok(done - before <= CONNECTIONS / 3, `${done - before} of the flood came first`);
      }
    } finally {
      over.abort();
    }
    await flood;
  });
