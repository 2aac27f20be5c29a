// Mailed links in a real Chromium: password reset, address verification, sign-in; each mail from a real SMTP server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MailWorld, startMailWorld } from './mail-world.ts';
import { shoot } from './shots.ts';
import { enter, loaded } from './steps.ts';

let world: MailWorld;
before(async () => {
  world = await startMailWorld({ allow_magic_link: true });
});
after(() => world.stop());

const NEW_PASSWORD = 'eleven quiet herons at dusk';

test('password reset: requested, set by the link; old password and link are void', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('kim');
    // Signed in elsewhere: the reset ends that.
    await world.inWindow(async (elsewhere) => {
      await world.signIn(elsewhere, person);
      await world.expectHello(elsewhere, person);

      await world.openSignIn(page);
      await loaded(page, () => page.getByRole('button', { name: 'Forgot password?' }).click());
      await page.getByLabel('Username or e-mail').fill(person.email);
      await shoot(page, 'forgot-password');
      await loaded(page, () => page.getByRole('button', { name: 'Send reset link' }).click());
      await shoot(page, 'forgot-password-sent');

      const link = await world.mailedLink(person.email);
      await page.goto(link);
      await page.getByLabel('New password').fill('password');
      await page.getByLabel('Confirm password').fill('password');
      await loaded(page, () => page.getByRole('button', { name: 'Change password' }).click());
      assert.equal(await page.getByRole('alert').count(), 1);
      await shoot(page, 'reset-password-common');
      await page.getByLabel('New password').fill(NEW_PASSWORD);
      await page.getByLabel('Confirm password').fill(NEW_PASSWORD);
      await page.locator('.strength output').filter({ hasText: /\w/ }).waitFor();
      await shoot(page, 'reset-password');
      await loaded(page, () => page.getByRole('button', { name: 'Change password' }).click());
      await shoot(page, 'reset-done');

      await page.goto(link);
      assert.equal(await page.getByLabel('New password').count(), 0);
      await shoot(page, 'link-expired');

      // The application there may keep its own session; ours asks for the password again.
      const request = new URLSearchParams({
        client_id: world.clientId,
        redirect_uri: `${world.sample.origin}/callback`,
        response_type: 'code',
        scope: 'openid',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      });
      await elsewhere.goto(`${world.server.issuer}/authorize?${request}`);
      await elsewhere.getByLabel('Password', { exact: true }).waitFor();
    });
    await world.signIn(page, person);
    assert.equal(await page.getByRole('alert').count(), 1);
    await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await loaded(page, () => page.getByRole('button', { name: 'Sign in', exact: true }).click());
    await world.expectHello(page, person);
  }));

test('sign-in link: signs in once, in the browser that asked, by its button', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('lena');
    await world.openSignIn(page);
    await loaded(page, () => page.getByRole('button', { name: 'E-mail me a sign-in link' }).click());
    await page.getByLabel('Username or e-mail').fill(person.email);
    await loaded(page, () => page.getByRole('button', { name: 'Send sign-in link' }).click());
    const link = await world.mailedLink(person.email);

    // The mailbox is open on a phone: its browser asked for nothing, so it gets nothing.
    await world.inWindow(
      async (phone) => {
        await phone.goto(link);
        assert.equal(await phone.getByRole('button', { name: 'Sign in', exact: true }).count(), 0);
        await shoot(phone, 'magic-link-elsewhere');
      },
      { viewport: { width: 390, height: 844 } },
    );

    await page.goto(link);
    await shoot(page, 'magic-link');
    await loaded(page, () => page.getByRole('button', { name: 'Sign in', exact: true }).click());
    await world.expectHello(page, person);
    await page.goto(link);
    assert.equal(await page.getByRole('button', { name: 'Sign in', exact: true }).count(), 0);
  }));

test('e-mail verification: by the button behind the link, not by opening it', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('mona', { is_email_verified: false });
    await world.server.admin('POST', `/users/${person.id}/send-email-verification`);
    const link = await world.mailedLink(person.email);
    await page.goto(link);
    await page.reload();
    assert.equal((await world.server.admin('GET', `/users/${person.id}`)).is_email_verified, false);
    await shoot(page, 'verify-email');
    await loaded(page, () => page.getByRole('button').click());
    await shoot(page, 'verify-email-done');
    assert.equal((await world.server.admin('GET', `/users/${person.id}`)).is_email_verified, true);
    // Now it is a name to sign in with.
    await world.openSignIn(page);
    await loaded(page, () => enter(page, { username: person.email, password: person.password }));
    await world.expectHello(page, person);
  }));
