// Wrong clocks, between processes and within one. Each request is handled by a process whose clock is off:
// nothing lives longer than it may by the clock of the process asked, no one is locked out for longer than the clock was
// wrong, nothing crashes. A sign-in whose account was changed "later" than now is refused until the clocks agree: the safe
// side.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateSync } from 'otplib';
import { claimsOf, isActive, later, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const scope = 'openid offline_access';
let app: TestApp;
let client: { id: string; secret: string };
let people = 0;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  client = await app.register({ scope });
});
after(() => app.stop());

/** Someone whose account was made long before all that follows. */
const someone = (): Promise<{ id: string; username: string }> => {
  people += 1;
  return later(-24 * HOUR, () => app.createUser(`person-${people}`));
};

test('clocks 30 s apart: a sign-in over both processes completes, and its tokens work', async () => {
  const user = await someone();
  for (const [begun, typed, redeemed, used] of [
    [0, 30, -30, 30],
    [30, -30, 0, -30],
    [-30, 0, 30, 0],
  ] as const) {
    const agent = new Agent(app);
    const first = await later(begun * SECOND, () => agent.authorize({ ...codeRequest(client.id), scope }));
    const url = await later(typed * SECOND, () => agent.finish(first, user));
    const code = url.searchParams.get('code') ?? '';
    const grant = { code, verifier: 'v'.repeat(43) };
    const tokens = await later(redeemed * SECOND, () => redeem(app, client, grant));
    equal(tokens.status, 200, `${begun} ${typed} ${redeemed}: ${JSON.stringify(tokens.body)}`);
    const renewed = await later(used * SECOND, () => refresh(app, client, tokens.body.refresh_token));
    equal(renewed.status, 200, JSON.stringify(renewed.body));
    // A process whose clock is behind by more than the tolerance takes it a little later (iat lies ahead of it).
    equal(await later(used * SECOND, () => isActive(app, renewed.body.access_token)), true);
    equal(await later(30 * SECOND, () => isActive(app, renewed.body.access_token)), true);
  }
});

test('attack: an expired token at a slow clock; accepted 15 s past exp at the most', async () => {
  const user = await someone();
  for (const skew of [0, HOUR, -HOUR, 30 * SECOND, -30 * SECOND]) {
    const { access_token: token } = await later(skew, () => tokensOf(app, client, user, { scope }));
    const { exp } = claimsOf(token);
    const until = Number(exp) * SECOND - Date.now();
    const at = (ms: number) =>
      later(until + ms, async () => [await isActive(app, token), (await userinfo(app, token)).status]);
    deepEqual(await at(-5 * SECOND), [true, 200], `${skew}`);
    deepEqual(await at(15 * SECOND), [false, 401], `${skew}`);
    deepEqual(await at(48 * HOUR), [false, 401], `${skew}`);
  }
});

test('clock set back by an hour, and by a leap second: no crash, no one is signed out', async () => {
  const user = await someone();
  const agent = new Agent(app);
  const tokens = await tokensOf(app, client, user, { scope, prompt: 'consent' }, agent);
  for (const skew of [-SECOND, -HOUR, HOUR, 0]) {
    await later(skew, async () => {
      const page = await agent.authorize({ ...codeRequest(client.id), prompt: 'none' });
      ok([200, 303].includes(page.status), `${skew}: ${page.status}`);
      ok((await userinfo(app, tokens.access_token)).status < 500);
      for (const path of ['/users', '/sessions', '/tokens?kind=refresh_token', '/stats', '/audit', '/keys'])
        equal((await app.admin('GET', path)).status, 200, `${path} ${skew}`);
      await app.app.jobs.tick();
    });
  }
  const page = await agent.authorize({ ...codeRequest(client.id), prompt: 'none' });
  ok(new URL(page.location ?? '').searchParams.has('code'), page.location);
  equal((await refresh(app, client, tokens.refresh_token)).status, 200);
  deepEqual(
    app.logged.filter((line) => /"level":"?(?:error|fatal|50|60)/.test(line)),
    [],
  );
});

test('attack: a lock written by a fast clock; it still ends', async () => {
  const user = await someone();
  await later(HOUR, async () => {
    for (let tries = 0; tries < 8; tries += 1) {
      const agent = new Agent(app);
      const typed = { username: user.username, password: 'not the password' };
      equal((await agent.submit(await agent.authorize(codeRequest(client.id)), typed)).status, 401);
    }
  });
  const tokens = await later(HOUR + 16 * MINUTE, () => tokensOf(app, client, user, { scope: 'openid' }));
  ok(tokens.access_token);
});

test('attack: TOTP codes outside this clock’s window, or used before', async () => {
  const set = (mfa_mode: string) => app.admin('PATCH', '/settings', { mfa_mode });
  const user = await someone();
  await set('required');
  const enrolling = new Agent(app);
  const { phone } = await enrolPhone(
    app,
    enrolling,
    await enrolling.authorize(codeRequest(client.id)),
    user.username,
  );
  await set('optional');
  const statusOf = async (code: string): Promise<number> => {
    const agent = new Agent(app);
    const typed = { username: user.username, password: PASSWORD };
    const asked = await agent.submit(await agent.authorize(codeRequest(client.id)), typed);
    return (await agent.submit(asked, { code, method: 'totp' })).status;
  };
  app.advance(5 * MINUTE);
  const codeAt = (ms: number): string =>
    generateSync({ secret: phone.secret, epoch: Math.floor((app.now() + ms) / SECOND) });
  for (const ms of [-HOUR, -91 * SECOND, 91 * SECOND, HOUR]) equal(await statusOf(codeAt(ms)), 401, `${ms}`);
  const code = codeAt(0);
  equal(await statusOf(code), 303);
  equal(await statusOf(code), 401, 'used');
  app.advance(-30 * SECOND);
  equal(await statusOf(code), 401, 'used, and the clock set back');
  app.advance(2 * MINUTE);
  equal(await statusOf(codeAt(0)), 303, 'the next step is good');
});
