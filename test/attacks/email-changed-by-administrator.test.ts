// E-mail address changed by an administrator: the holder of the old mailbox may have signed in with it, so sessions, refresh
// tokens, trusted browsers, sign-ins under way, codes and links end with it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { trustedDevices } from '../../src/store/collections.ts';
import { isActive, sessionsOf, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();

const createUser = (username: string) =>
  app.createUser(username, { email: `${username}@example.com`, is_email_verified: true });

async function move(id: string, email: string | null): Promise<void> {
  const { status, body } = await app.admin('PATCH', `/users/${id}`, { email });
  equal(status, 200, JSON.stringify(body));
}

test('e-mail changed by an administrator: sessions, access and refresh tokens end', async () => {
  for (const email of ['moved@example.com', null]) {
    const user = await createUser(email === null ? 'without' : 'moved-soon');
    const [first, second] = [new Agent(app), new Agent(app)];
    const tokens = await tokensOf(
      app,
      client,
      user,
      { scope: 'openid offline_access', prompt: 'consent' },
      first,
    );
    const others = await tokensOf(app, client, user, {}, second);
    await move(user.id, email);
    deepEqual(
      (await sessionsOf(app, user.id)).filter((session) => session.is_active === true),
      [],
    );
    for (const token of [tokens.access_token, tokens.refresh_token, others.refresh_token])
      equal(await isActive(app, token), false);
    equal((await refresh(app, client, tokens.refresh_token)).body.error, 'invalid_grant');
    equal((await userinfo(app, tokens.access_token)).status, 401);
    ok((await first.authorize(codeRequest(client.id))).body.includes('name="password"'), 'signed in no more');
  }
});

test('e-mail changed by an administrator: trusted browsers are forgotten', async () => {
  const user = await createUser('trusting');
  const devices = app.store.collection(trustedDevices);
  await devices.insert('trusted', {
    accountId: user.id,
    boundTo: 'x',
    label: 'Firefox',
    userAgent: 'x',
    ipAddress: '127.0.0.1',
    createdAt: app.now(),
    lastUsedAt: app.now(),
  });
  await move(user.id, 'elsewhere@example.com');
  deepEqual(await devices.findBy('account', user.id), []);
});

test('e-mail changed by an administrator: mailed links are void', async () => {
  const user = await createUser('linked');
  equal((await app.admin('POST', `/users/${user.id}/send-password-reset`)).status, 200);
  const { body } = await app.admin('GET', '/mails?to=linked@example.com');
  const [link = ''] = /https?:\S+reset-password\S+/.exec(String(body.data.items?.[0]?.text)) ?? [];
  ok((await new Agent(app).get(link)).body.includes('name="password"'), link);
  await move(user.id, 'linked-2@example.com');
  equal((await new Agent(app).get(link)).body.includes('name="password"'), false);
});

test('e-mail changed by an administrator: a sign-in waiting for consent gets no code', async () => {
  const user = await createUser('in-flight');
  const theirs = await app.register({ skip_consent: false });
  const agent = new Agent(app);
  const login = await agent.authorize(codeRequest(theirs.id));
  const consent = await agent.submit(login, { username: user.username, password: PASSWORD });
  ok(consent.body.includes('action="/oauth2/consent"'));
  await move(user.id, 'in-flight-2@example.com');
  const last = await agent.submit(consent, { action: 'allow' });
  equal(new URL(last.location ?? app.url).searchParams.get('code'), null);
});

test('e-mail changed by an administrator: the owner is notified at the old address', async () => {
  const user = await createUser('told');
  await move(user.id, 'told-2@example.com');
  const { body } = await app.admin('GET', '/mails?to=told@example.com');
  const mails = (body.data.items ?? []).filter(({ template }) => template === 'email_changed');
  equal(mails.length, 1);
  match(String(mails[0]?.text), /different address/);
});

test('e-mail address respelt or verified by an administrator: nothing ends', async () => {
  const user = await createUser('spelt');
  const tokens = await tokensOf(app, client, { ...user, password: PASSWORD });
  await move(user.id, 'Spelt@Example.com');
  equal((await app.admin('PATCH', `/users/${user.id}`, { is_email_verified: true })).status, 200);
  equal(await isActive(app, tokens.refresh_token), true);
});
