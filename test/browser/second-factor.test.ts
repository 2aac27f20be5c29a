// The second factor in a real Chromium: the secret read from the picture as a camera would, codes as users type them, mails from
// a real SMTP server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MailWorld, startMailWorld } from './mail-world.ts';
import { codeOf, enrol, spaced, type, useRecoveryCode } from './phone-steps.ts';
import { shoot } from './shots.ts';
import { enter, heading, loaded } from './steps.ts';

let world: MailWorld;
before(async () => {
  world = await startMailWorld({ mfa_mode: 'required' });
});
after(() => world.stop());

test('second factor: enrolment by QR, typed code, trusted device, reset by an administrator', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('grace');
    await world.signIn(page, person);
    const { uri, recovery } = await enrol(page, 'second-factor');
    assert.equal(uri.protocol, 'otpauth:');
    assert.match(decodeURIComponent(uri.pathname), /Latchkey:grace$/);
    assert.equal(new Set(recovery).size, 10);
    await world.expectHello(page, person);
    await world.signOut(page);

    await world.signIn(page, person);
    assert.equal(await heading(page), 'Enter the code from your app');
    await type(page, '000 000');
    assert.match((await page.getByRole('alert').textContent()) ?? '', /code/i);
    await shoot(page, 'second-factor-wrong-code');
    await page.getByLabel(/Don’t ask on this device again/).check();
    await type(page, spaced(codeOf(uri, 1)));
    await world.expectHello(page, person);
    await world.signOut(page);

    await world.signIn(page, person);
    await world.expectHello(page, person);
    await world.signOut(page);
    // Another browser is not trusted because this one is.
    await world.inWindow(async (other) => {
      await world.signIn(other, person);
      assert.equal(await heading(other), 'Enter the code from your app');
    });

    await world.server.admin('PUT', `/users/${person.id}`, { totp_verified: false });
    await world.signIn(page, person);
    const fresh = await enrol(page);
    assert.notEqual(fresh.uri.searchParams.get('secret'), uri.searchParams.get('secret'));
    assert.ok(!fresh.recovery.some((code) => recovery.includes(code)));
    await world.expectHello(page, person);
  }));

test('recovery code: signs in once', async () => {
  const person = await world.createPerson('heidi');
  let recovery: string[] = [];
  await world.inWindow(async (page) => {
    await world.signIn(page, person);
    ({ recovery } = await enrol(page));
    await world.expectHello(page, person);
  });
  const [code = '', next = ''] = recovery;
  await world.inWindow(async (page) => {
    await world.signIn(page, person);
    await useRecoveryCode(page, code.toUpperCase());
    await world.expectHello(page, person);
  });
  await world.inWindow(async (page) => {
    await world.signIn(page, person);
    await useRecoveryCode(page, code);
    assert.equal(await heading(page), 'Enter a recovery code');
    assert.equal(await page.getByRole('alert').count(), 1);
    await shoot(page, 'second-factor-recovery');
    await page.getByLabel('Recovery code').fill(next);
    await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
    await world.expectHello(page, person);
  });
});

test('e-mail code: instead of TOTP, read from the mail server', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('erin');
    const address = 'erin@example.com';
    await world.signIn(page, person);
    await loaded(page, () => page.getByRole('button', { name: 'Use codes by e-mail instead' }).click());
    assert.equal(await heading(page), 'Enter the code from your e‑mail');
    assert.ok(!((await page.locator('main').textContent()) ?? '').includes(address), 'the address is masked');
    await shoot(page, 'second-factor-email');
    const code = await world.mailedCode(address);
    await type(page, spaced(code));
    if ((await heading(page)) === 'Save your recovery codes')
      await loaded(page, () => page.getByRole('button', { name: 'I’ve saved my codes' }).click());
    await world.expectHello(page, person);
    await world.signOut(page);

    // The next time the code is on its way before anyone asks for it.
    await world.signIn(page, person);
    assert.equal(await heading(page), 'Enter the code from your e‑mail');
    await type(page, await world.mailedCode(address, code));
    await world.expectHello(page, person);
  }));

test('back button during the second factor: leads nowhere without a code', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('ivan');
    await world.signIn(page, person);
    const { uri } = await enrol(page);
    await world.signOut(page);

    await world.signIn(page, person);
    await page.goBack();
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    await page.goForward();
    await page.locator('#code:focus').waitFor();
    assert.equal(await heading(page), 'Enter the code from your app');
    // Back to the password and in again: still the code.
    await page.goBack();
    await loaded(page, () => enter(page, person));
    assert.equal(await heading(page), 'Enter the code from your app');
    // The application's own address of the answer, without a code.
    const application = page.context();
    const other = await application.newPage();
    await other.goto(`${world.sample.origin}/`);
    assert.equal(await heading(other), 'You’re not signed in');
    await other.close();

    await type(page, codeOf(uri, 1));
    await world.expectHello(page, person);
    // What is behind is over: the form of the step before signs no one in a second time.
    await page.goBack();
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /Error|stack/);
  }));

test('two tabs during the second factor: the second asks again, both can finish', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('judy');
    await world.signIn(page, person);
    const { uri } = await enrol(page);
    await world.signOut(page);

    await world.signIn(page, person);
    const half = page.url();
    const tab = await page.context().newPage();
    // The application in the second tab: what the first proved is the first's alone.
    await world.openSignIn(tab);
    await tab.getByLabel('Password', { exact: true }).waitFor();
    // The first tab's address: the same step, not past it.
    await tab.goto(half);
    assert.equal(await heading(tab), 'Enter the code from your app');
    await tab.close();

    await type(page, codeOf(uri, 1));
    await world.expectHello(page, person);
  }));
