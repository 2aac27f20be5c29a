// Attack: one password on many names, slowly enough that no account locks, from few addresses.
// The limits per address count at every endpoint, and no header changes the address.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { send } from './raw-http.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, passwordGrant } from './sign-in-form.ts';

const LIMIT = 10;
const WRONG = 'not the password';

async function start(env: Record<string, string> = {}) {
  const app = await startApp({ env });
  const client = await app.register(PASSWORD_GRANT);
  await app.createUser('alice');
  const { status } = await app.admin('PATCH', '/settings', {
    limit_login_ip: LIMIT,
    limit_login_account_ip: 0,
  });
  assert.equal(status, 200);
  return { app, client, stop: () => app.stop() };
}

/** Wrong passwords on new names until the address is refused. @returns how many were looked at */
async function spray(
  app: TestApp,
  clientId: string,
  headersOf: (index: number) => Record<string, string>,
  most = LIMIT * 3,
): Promise<number> {
  const { browser, hidden } = await openSignIn(app, clientId);
  for (let index = 0; index < most; index += 1) {
    const fields = { ...hidden, username: `victim-${index}`, password: WRONG };
    const page = await browser.post('/oauth2/login', fields, { headers: headersOf(index) });
    if (page.status === 401) continue;
    assert.equal(page.status, 429, `${page.status}`);
    assert.match(page.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    return index;
  }
  return most;
}

suite('attack: password spraying over many names', () => {
  test('is refused per address after too many failures, whatever the name', async (t) => {
    const { app, client, stop } = await start();
    t.after(stop);
    assert.equal(await spray(app, client.id, () => ({})), LIMIT);
    // Also the right one, or the limit would tell which it is; and by the other door, and with a new browser.
    const form = await openSignIn(app, client.id);
    assert.equal((await form.attempt('alice')).status, 429);
    assert.equal((await passwordGrant(app, client, 'alice')).status, 429);
  });

  test('no header changes the address', async (t) => {
    const { app, client, stop } = await start();
    t.after(stop);
    const lies = (index: number): Record<string, string> => ({
      'x-forwarded-for': `192.0.2.${index}`,
      'x-real-ip': `192.0.2.${index}`,
      forwarded: `for=192.0.2.${index}`,
      'user-agent': `agent ${index}`,
    });
    assert.equal(await spray(app, client.id, lies), LIMIT);
  });

  test('behind a proxy only its entry counts, and an IPv6 network is one address', async (t) => {
    const { app, client, stop } = await start({ TRUST_PROXY: '1' });
    t.after(stop);
    const lying = (index: number): Record<string, string> => ({
      'x-forwarded-for': `192.0.2.${index}, 198.51.100.7`,
    });
    assert.equal(await spray(app, client.id, lying), LIMIT);
    const hopping = (index: number): Record<string, string> => ({
      'x-forwarded-for': `2001:db8::${(index + 1).toString(16)}`,
    });
    assert.equal(await spray(app, client.id, hopping), LIMIT);
    // Someone elsewhere is not kept out.
    const { browser, hidden } = await openSignIn(app, client.id);
    const fields = { ...hidden, username: 'alice', password: 'correct horse battery staple' };
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    assert.ok(isAccepted(await browser.post('/oauth2/login', fields, { headers })));
  });

  test('successful sign-ins cost nothing: an office behind one address works all day', async (t) => {
    const { app, client, stop } = await start();
    t.after(stop);
    for (let index = 0; index < LIMIT * 2; index += 1) {
      const form = await openSignIn(app, client.id);
      assert.ok(isAccepted(await form.attempt('alice')), `${index}`);
    }
  });
});

test('attack: guessing an administrator’s bearer, wherever one is accepted', async (t) => {
  const { app, stop } = await start();
  t.after(stop);
  await app.admin('PATCH', '/settings', { limit_admin_failures_ip: LIMIT });
  const guess = async (index: number): Promise<number> => {
    const headers = [['Authorization', `Bearer guess-${index}-0123456789-0123456789`]] as const;
    const introspect = { path: '/oauth2/introspect', method: 'POST', headers };
    return (await send(app.url, index % 2 === 0 ? { path: '/admin/api/users', headers } : introspect)).status;
  };
  const statuses: number[] = [];
  for (let index = 0; index < LIMIT * 2; index += 1) statuses.push(await guess(index));
  assert.equal(statuses.filter((status) => status === 401).length, LIMIT, statuses.join());
  assert.equal(statuses.filter((status) => status === 429).length, LIMIT, statuses.join());
});
