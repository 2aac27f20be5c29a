// Attack: acting unseen while the audit log cannot be written. What grants access is refused, what ends it is
// done nevertheless, and no event is lost without a log line.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { openSignIn } from '../attacks/sign-in-form.ts';
import { Agent, redeem } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type BreakableStore, breakable } from '../support/broken-store.ts';

const inner = createMemoryStore({ clock: Date.now });
let app: TestApp;
let breaking: BreakableStore;
let client: { id: string; secret: string };

before(async () => {
  breaking = breakable(inner);
  app = await startApp({ shared: breaking.store });
  client = await app.register();
  await app.createUser('alice');
});
after(async () => {
  await app.stop();
  await inner.close();
});

async function withoutAudit<T>(act: () => Promise<T>): Promise<T> {
  breaking.broken.add('audit');
  try {
    return await act();
  } finally {
    breaking.broken.clear();
  }
}

const lost = (event: string): boolean =>
  app.logged.some((line) => line.includes('audit event not written') && line.includes(event));

test('attack: sign-in while audit is down: 503, no session, no continuation', async () => {
  const form = await openSignIn(app, client.id);
  const page = await withoutAudit(() => form.attempt('alice', PASSWORD));
  assert.equal(page.status, 503);
  assert.ok(Number(page.headers.get('retry-after')) > 0);
  assert.ok(lost('signin.success'));
  assert.ok(!page.headers.getSetCookie().some((line) => line.startsWith('latchkey_session=')));
  const again = await form.browser.get(
    '/oauth2/authorize?prompt=none&' +
      new URLSearchParams({
        client_id: client.id,
        redirect_uri: 'https://rp.example/callback',
        response_type: 'code',
        scope: 'openid',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      }),
  );
  assert.match(again.location ?? '', /error=login_required/);
});

test('attack: user enumeration while audit is down: a wrong password gets the same answer', async () => {
  const form = await openSignIn(app, client.id);
  const [right, wrong, unknown] = await withoutAudit(() =>
    Promise.all([
      form.attempt('alice', PASSWORD),
      form.attempt('alice', 'not the password'),
      form.attempt('nobody', 'not the password'),
    ]),
  );
  assert.deepEqual([right?.status, wrong?.status, unknown?.status], [503, 503, 503]);
});

test('password accepted while audit is down: no second step follows', async () => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const form = await openSignIn(app, client.id);
  const page = await withoutAudit(() => form.attempt('alice', PASSWORD));
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  assert.equal(page.status, 503);
  assert.ok(lost('signin.password_accepted'));
  assert.equal(page.location, undefined);
});

test('logout while audit is down: the session ends', async () => {
  const agent = new Agent(app);
  const { body } = await redeem(app, client, await agent.signIn(client.id, { username: 'alice' }));
  const userinfo = () =>
    fetch(`${app.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${body.access_token}` } });
  assert.equal((await userinfo()).status, 200);
  const answer = await withoutAudit(() =>
    agent.get('/oauth2/logout', {
      headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
    }),
  );
  assert.equal(answer.status, 503);
  assert.equal((await userinfo()).status, 401);
  assert.ok(lost('session.ended'));
});

test('administrator change while audit is down: 503, and the log has it', async () => {
  const { status } = await withoutAudit(() => app.admin('PATCH', '/settings', { product_name: 'Unseen' }));
  assert.equal(status, 503);
  assert.ok(lost('settings.changed'));
});
