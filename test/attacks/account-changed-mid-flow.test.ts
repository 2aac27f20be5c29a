// Attack: continuing a sign-in after the account was deactivated, deleted or given another password. Wrong passwords of
// strangers end no sign-in: locking-out-the-owner.test.ts (Keycloak CVE-2026-9798, CVE-2026-16103, #26177;
// authentik CVE-2025-64521).
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { redeem, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';
import { accountChanges } from './account-changes.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, passwordGrant, VERIFIER } from './sign-in-form.ts';

const userinfo = (app: TestApp, token: string): Promise<Response> =>
  fetch(`${app.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } });

async function isActive(app: TestApp, token: string): Promise<boolean> {
  const response = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await response.text()).active;
}

for (const [name, change] of Object.entries(accountChanges)) {
  suite(`attack: the account is ${name} during the flow`, () => {
    async function start(metadata: Record<string, unknown> = {}) {
      const app = await startApp();
      const client = await app.register({ ...PASSWORD_GRANT, ...metadata });
      const user = await app.createUser('alice');
      const form = await openSignIn(app, client.id);
      return { app, client, user, form, stop: () => app.stop() };
    }

    test('before the password is sent', async (t) => {
      const { app, client, user, form, stop } = await start();
      t.after(stop);
      await change(app, user);
      assert.equal(isAccepted(await form.attempt('alice')), false);
      assert.equal((await passwordGrant(app, client, 'alice')).status, 400);
    });

    test('between the correct password and the redirect back', async (t) => {
      const { app, user, form, stop } = await start();
      t.after(stop);
      const accepted = await form.attempt('alice');
      assert.ok(isAccepted(accepted));
      await change(app, user);
      const end = await form.browser.follow(accepted);
      assert.equal(end.location, undefined, 'sent on to the application');
      assert.match(end.body, /name="password"|This page has expired/);
      // The page that comes is one more chance to type a password, not a way around it.
      assert.equal((await app.admin('GET', '/sessions?is_active=true')).body.data.total, 0);
    });

    test('at the consent page', async (t) => {
      const { app, user, form, stop } = await start({ skip_consent: false });
      t.after(stop);
      const consent = await form.browser.follow(await form.attempt('alice'));
      assert.match(consent.body, /\/oauth2\/consent/);
      await change(app, user);
      const end = await form.browser.submit(consent, { action: 'allow' });
      assert.doesNotMatch(end.location ?? '', /[?&]code=/);
    });

    test('between the code and its redemption', async (t) => {
      const { app, client, user, form, stop } = await start();
      t.after(stop);
      const end = await form.browser.follow(await form.attempt('alice'));
      const code = new URL(end.location ?? assert.fail()).searchParams.get('code') ?? assert.fail();
      await change(app, user);
      const answer = await redeem(app, client, { code, verifier: VERIFIER });
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
    });

    test('with tokens and a session issued', async (t) => {
      const { app, client, user, form, stop } = await start();
      t.after(stop);
      const end = await form.browser.follow(await form.attempt('alice'));
      const code = new URL(end.location ?? assert.fail()).searchParams.get('code') ?? assert.fail();
      const { body } = await redeem(app, client, { code, verifier: VERIFIER });
      assert.equal((await userinfo(app, body.access_token)).status, 200);
      await change(app, user);
      assert.equal((await userinfo(app, body.access_token)).status, 401);
      assert.equal(await isActive(app, body.access_token), false);
      assert.equal(await isActive(app, body.refresh_token), false);
      assert.equal((await refresh(app, client, body.refresh_token)).status, 400);
      const again = await openSignIn(app, client.id, {}, form.browser);
      assert.equal(again.page.status, 200);
    });
  });
}
