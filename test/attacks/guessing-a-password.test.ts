// Attack: guessing one account's password by other spellings, in parallel, at other endpoints, and from other places once it
// is locked (Authelia CVE-2025-24806, Keycloak CVE-2024-4629, CVE-2026-9798, CVE-2026-16103).
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { systemClock } from '../../src/clock.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, passwordGrant } from './sign-in-form.ts';
import { atOnce, sized } from './sizes.ts';

const THRESHOLD = 5;
const WRONG = 'not the password';

const outcomes = (app: TestApp): string[] =>
  app.logged.flatMap((line) => {
    const { event, outcome }: { event?: string; outcome?: string } = JSON.parse(line);
    return event === 'signin' && outcome !== undefined ? [outcome] : [];
  });

async function userOf(app: TestApp, id: string) {
  return (await app.admin('GET', `/users/${id}`)).body.data;
}

async function lock(app: TestApp, clientId: string, username: string): Promise<void> {
  const form = await openSignIn(app, clientId);
  for (let attempt = 0; attempt < THRESHOLD; attempt += 1) await form.attempt(username, WRONG);
}

suite('attack: guessing a password; one counter per account', () => {
  const spellings = ['Ålice-fi', 'ÅLICE-FI', '  ålice-fi ', 'Ålice-ﬁ', 'Ålıce-fi', 'Ａ\u030alice-fi'];

  for (const name of spellings) {
    test(`locked by ${JSON.stringify(name)} among other spellings`, async (t) => {
      const app = await startApp();
      t.after(() => app.stop());
      const client = await app.register();
      const { id } = await app.createUser('Ålice-fi', {
        email: 'alice@example.com',
        is_email_verified: true,
      });
      const form = await openSignIn(app, client.id);
      for (const other of spellings.filter((one) => one !== name).slice(0, THRESHOLD - 1)) {
        assert.equal((await form.attempt(other, WRONG)).status, 401);
      }
      assert.equal((await userOf(app, id)).locked_until, null);
      await form.attempt(name, WRONG);
      assert.notEqual((await userOf(app, id)).locked_until, null);
      for (const any of [...spellings, 'ALICE@example.com']) {
        assert.equal(isAccepted(await form.attempt(any)), false, any);
      }
    });
  }

  test('the verified e-mail address counts for the same account as the username', async (t) => {
    const app = await startApp();
    t.after(() => app.stop());
    const client = await app.register();
    const { id } = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
    const form = await openSignIn(app, client.id);
    for (const name of ['alice', 'alice@example.com', 'ALICE@EXAMPLE.COM', 'alice＠example.com', 'Alice']) {
      await form.attempt(name, WRONG);
    }
    assert.notEqual((await userOf(app, id)).locked_until, null);
  });

  test('another browser, address or interaction starts no new count', async (t) => {
    const app = await startApp({ env: { TRUST_PROXY: '1' } });
    t.after(() => app.stop());
    const client = await app.register();
    const { id } = await app.createUser('alice');
    for (let attempt = 0; attempt < THRESHOLD; attempt += 1) {
      const form = await openSignIn(app, client.id);
      const fields = { ...form.hidden, username: 'alice', password: WRONG };
      const headers = { 'x-forwarded-for': `192.0.2.${attempt}`, 'user-agent': `agent ${attempt}` };
      assert.equal((await form.browser.post('/oauth2/login', fields, { headers })).status, 401);
    }
    assert.notEqual((await userOf(app, id)).locked_until, null);
  });
});

suite('attack: guessing a password in parallel', () => {
  const GUESSES = sized(200, 2000);

  for (const processes of [1, 2]) {
    test(`${GUESSES} at once over ${processes} process(es): at most ${THRESHOLD} evaluated`, async (t) => {
      const store = createMemoryStore({ clock: systemClock });
      const apps = await atOnce(processes, () => startApp({ shared: store }));
      t.after(async () => {
        for (const app of apps) await app.stop();
        await store.close();
      });
      const [app] = apps;
      assert.ok(app);
      await liftLimits(app);
      const client = await app.register();
      const { id } = await app.createUser('alice');
      const forms = await Promise.all(apps.map((one) => openSignIn(one, client.id)));
      // The right password comes last, after many more wrong ones than are allowed.
      const answers = await atOnce(GUESSES, (index) => {
        const form = forms[index % forms.length];
        assert.ok(form);
        return form.attempt('alice', index === GUESSES - 1 ? PASSWORD : `${WRONG} ${index}`);
      });

      const looked = apps.flatMap(outcomes).filter((one) => one === 'wrong' || one === 'success');
      assert.ok(looked.length <= THRESHOLD, `${looked.length} guesses were looked at`);
      assert.equal(isAccepted(answers.at(-1) ?? assert.fail()), false);
      assert.ok(answers.every(({ status }) => status === 401 || status === 503));
      assert.notEqual((await userOf(app, id)).locked_until, null);
      for (const form of forms) assert.equal(isAccepted(await form.attempt('alice')), false);
    });
  }

  test('an expired lock gives as many attempts as before, not one more', async (t) => {
    const app = await startApp();
    t.after(() => app.stop());
    await liftLimits(app);
    const client = await app.register();
    await app.createUser('alice');
    await lock(app, client.id, 'alice');
    app.advance(901_000);
    const before = outcomes(app).filter((one) => one === 'wrong').length;
    const form = await openSignIn(app, client.id);
    await atOnce(30, () => form.attempt('alice', WRONG));
    assert.equal(outcomes(app).filter((one) => one === 'wrong').length - before, THRESHOLD);
    // As long as the first time.
    assert.equal(isAccepted(await form.attempt('alice')), false);
    app.advance(901_000);
    assert.equal(isAccepted(await form.attempt('alice')), true);
  });
});

test('attack: guessing at the sign-in page and the password grant shares count and lock', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const client = await app.register(PASSWORD_GRANT);
  const { id } = await app.createUser('alice');
  const form = await openSignIn(app, client.id);
  for (let attempt = 0; attempt < 3; attempt += 1) await form.attempt('alice', WRONG);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    assert.equal((await passwordGrant(app, client, 'alice', WRONG)).status, 400);
  }
  assert.notEqual((await userOf(app, id)).locked_until, null);
  assert.equal(isAccepted(await form.attempt('alice')), false);
  assert.equal((await passwordGrant(app, client, 'alice')).status, 400);

  await app.admin('POST', '/users/unlock', { user_id: id });
  assert.equal((await passwordGrant(app, client, 'alice')).status, 200);
  assert.equal(isAccepted(await form.attempt('alice')), true);
});
