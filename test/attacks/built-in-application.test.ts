// Attack: the built-in client deleted or changed by the admin API (a stolen API key, a cleanup script), which would lock
// everyone out of /admin and /account, or send their sign-ins elsewhere.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { CONSOLE_CLIENT_ID } from '../../src/clients/console-client.ts';
import { clients } from '../../src/store/collections.ts';
import { Agent, codeRequest, VERIFIER } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789';
const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const path = `/clients/${CONSOLE_CLIENT_ID}`;

async function expectSignInPages(): Promise<void> {
  for (const own of ['/admin', '/account']) {
    const agent = new Agent(app);
    const page = await agent.follow(await agent.get(own));
    ok(page.body.includes('name="password"'), `${own}: ${page.status}`);
  }
}

test('attack: deleting or changing the built-in application locks everyone out', async () => {
  for (const [method, at, body] of [
    ['DELETE', path],
    ['PATCH', path, { is_active: false }],
    ['PATCH', path, { allowed_groups: [] }],
    ['PATCH', path, { redirect_uris: ['https://evil.example/callback'] }],
    ['PATCH', path, { client_name: 'Another' }],
    ['PUT', path, { client_name: 'Another', redirect_uris: ['https://evil.example/callback'] }],
    ['POST', `${path}/rotate-secret`],
  ] as const) {
    const answer = await app.admin(method, at, body);
    const what = `${method} ${JSON.stringify(body)}`;
    deepEqual([answer.status, answer.body.error?.reason], [409, 'client.built_in'], what);
  }
  equal((await app.admin('GET', path)).status, 200);
  await expectSignInPages();
});

test('attack: a built-in application deactivated earlier is active again after a start', async () => {
  const stored = app.store.collection(clients);
  const made = await stored.find(CONSOLE_CLIENT_ID);
  ok(made !== undefined);
  await stored.replace(CONSOLE_CLIENT_ID, made.version, {
    ...made.value,
    isActive: false,
    skipConsent: false,
    allowedGroups: ['nobody'],
    metadata: { ...made.value.metadata, redirect_uris: ['https://evil.example/callback'] },
  });
  const again = await startApp({ shared: app.store, env: { SECRET_KEY, BASE_URL: app.url } });
  await again.stop();
  const repaired = (await stored.find(CONSOLE_CLIENT_ID))?.value;
  deepEqual({ ...repaired, updatedAt: 0 }, { ...made.value, updatedAt: 0 });
  await expectSignInPages();
});

test('attack: a code of the built-in application is redeemed by who knows code and verifier', async () => {
  const own = await startApp();
  try {
    await own.createUser('root', { role: 'admin' });
    const agent = new Agent(own);
    const client = await own.register();
    await agent.signIn(client.id, { username: 'root' });
    const { location } = await agent.authorize({
      ...codeRequest(CONSOLE_CLIENT_ID),
      redirect_uri: `${own.url}/admin/callback`,
    });
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    ok(code !== '', location);
    for (const headers of [{}, { cookie: agent.cookiesFor('/oauth2') }]) {
      const answer = await fetch(`${own.url}/oauth2/token`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: CONSOLE_CLIENT_ID,
          redirect_uri: `${own.url}/admin/callback`,
          code,
          code_verifier: VERIFIER,
        }),
      });
      const text = await answer.text();
      deepEqual([answer.status, JSON.parse(text).error], [400, 'invalid_grant'], text);
    }
    // Our own pages still redeem theirs.
    const page = await agent.follow(await agent.get('/admin'));
    equal(page.status, 200);
  } finally {
    await own.stop();
  }
});
