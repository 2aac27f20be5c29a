// Behaviour of the second-factor pages: the code that submits itself, resending, enrolment, and recovery codes as a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Sample } from '../../src/admin/resources/branding/samples/sample.ts';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import {
  recoveryCodes,
  secondStepSamples,
} from '../../src/admin/resources/branding/samples/second-step-samples.ts';
import { launch, open } from './browser.ts';
import { type PageServer, startPages } from './server.ts';

const shown: Record<string, Sample> = {
  ...secondStepSamples,
  'mfa-passkey': samples['mfa-passkey'],
  'mfa-email-soon': {
    ...samples['mfa-email'],
    model: { ...samples['mfa-email'].model, resendInSeconds: 1 },
  },
  'mfa-email-spent': {
    ...samples['mfa-email-again'],
    model: { ...samples['mfa-email-again'].model, resendInSeconds: 42 },
  },
};

let browser: Browser;
let pages: PageServer;
before(async () => {
  [browser, pages] = await Promise.all([launch(), startPages({ samples: shown, delayMs: 300 })]);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const lastPosted = (): Record<string, string> => Object.fromEntries(new URLSearchParams(pages.posted.at(-1)));
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.id');
const mfa = '**/oauth2/mfa';

test('code field: a pasted "123 456" fills the boxes and submits once', async () => {
  const { page, complaints, close } = await open(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto(`${pages.origin}/show/mfa`);
  await page.locator('#code:focus').waitFor();
  const sent = pages.posted.length;
  const seen: unknown[] = [];
  await page.exposeFunction('tell', (...values: unknown[]) => seen.push(...values));
  // On its way: the button says so, and an impatient person changes nothing.
  await page.evaluate(`document.forms[0].addEventListener('submit', () => setTimeout(() => {
    const button = document.querySelector('.primary');
    tell(button.getAttribute('aria-busy'), document.getElementById('code').value);
    button.click();
  }), { once: true })`);
  await page.evaluate(`navigator.clipboard.writeText(' 123 456\\n')`);
  await page.keyboard.press('Control+V');
  await page.waitForURL(mfa);
  assert.deepEqual(seen, ['true', '123456']);
  assert.equal(pages.posted.length, sent + 1);
  const { csrf, interaction, client_id, method, code, trust_device, action } = lastPosted();
  assert.ok(csrf && interaction);
  assert.deepEqual(
    [client_id, method, code, trust_device, action],
    ['acme', 'totp', '123456', undefined, undefined],
  );
  assert.deepEqual(complaints, []);
  await close();
});

test('code field: accepts digits of other scripts, ignores the rest, submits at the sixth', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa?lang=ar`);
  const sent = pages.posted.length;
  await page.check('[name=trust_device]');
  await page.focus('#code');
  await page.keyboard.insertText('١۲ ３x');
  await page.keyboard.type('4-5');
  assert.equal(await page.inputValue('#code'), '12345');
  assert.equal(pages.posted.length, sent);
  await page.keyboard.type('6');
  await page.waitForURL(mfa);
  assert.deepEqual([lastPosted().code, lastPosted().trust_device], ['123456', 'on']);
  await close();
});

test('code field: an incomplete code is not sent, and the page says what is missing', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa`);
  await page.locator('#code:focus').waitFor();
  const sent = pages.posted.length;
  await page.keyboard.type('12345');
  await page.keyboard.press('Enter');
  assert.equal(await page.textContent('#code-error'), 'Enter all six digits.');
  assert.equal(await page.getAttribute('#code', 'aria-invalid'), 'true');
  assert.equal(pages.posted.length, sent);
  await page.keyboard.type('6');
  await page.waitForURL(mfa);
  assert.equal(lastPosted().code, '123456');
  await close();
});

test('code field: after a wrong code the next can be typed; the alert describes it until then', async () => {
  const { page, close } = await open(browser);
  for (const name of ['mfa-failed', 'mfa-enrol-failed', 'mfa-recovery-failed']) {
    await page.goto(`${pages.origin}/show/${name}`);
    assert.equal(await page.getAttribute('#alert', 'role'), 'alert');
    await page.locator('#code:focus').waitFor();
    assert.equal(await page.getAttribute('#code', 'aria-invalid'), 'true');
    assert.match((await page.getAttribute('#code', 'aria-describedby')) ?? '', /^alert code-error/);
    await page.keyboard.type('12');
    assert.equal(await page.getAttribute('#code', 'aria-invalid'), null, name);
    assert.equal(await page.textContent('#code-error'), '');
  }
  await close();
});

test('rate limit: the wait is announced first', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa-limited`);
  assert.equal(await focused(page), 'alert');
  assert.match((await page.textContent('[role=timer]')) ?? '', /^1:3[3-5]$/);
  await close();
});

test('e-mail code: another one can be requested after the countdown, not before', async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa-email`);
  const button = page.locator('button.way');
  assert.equal(await button.isVisible(), false);
  assert.match((await page.textContent('.ways [role=timer]')) ?? '', /^0:4[0-2]$/);
  await page.goto(`${pages.origin}/show/mfa-email-soon`);
  await button.waitFor({ state: 'visible' });
  assert.equal(await page.locator('p.way').isVisible(), false);
  await button.click();
  await page.waitForURL('**/oauth2/mfa/email');
  const { csrf, interaction, client_id, ...others } = lastPosted();
  assert.ok(csrf && interaction && client_id);
  assert.deepEqual(others, {});
  assert.deepEqual(complaints, []);
  await close();
});

test('e-mail code: an expired one leads to the button that sends another, which the alert names', async () => {
  const { page, complaints, close } = await open(browser);
  for (const language of ['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar']) {
    await page.goto(`${pages.origin}/show/mfa-email-again?lang=${language}`);
    const button = page.locator('button.way:focus');
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-describedby'), 'alert');
    const label = (await button.innerText()).trim();
    assert.ok((await page.locator('#alert').innerText()).includes(label), `${language}: ${label}`);
  }
  await page.keyboard.press('Enter');
  await page.waitForURL('**/oauth2/mfa/email');
  // While no other can be sent yet there is no button: the alert comes first, then the time that is left.
  await page.goto(`${pages.origin}/show/mfa-email-spent`);
  assert.equal(await focused(page), 'alert');
  assert.deepEqual(complaints, []);
  await close();
});

test('second step: says who signs in, as far as the browser knows, and leads to someone else', async () => {
  const { page, close } = await open(browser);
  for (const name of ['mfa', 'mfa-email', 'mfa-recovery', 'mfa-passkey']) {
    await page.goto(`${pages.origin}/show/${name}`);
    assert.match(await page.locator('.chip').innerText(), /Ada Lovelace\s+ada\.lovelace\s+Not you\?/, name);
    assert.match(
      (await page.getByRole('link', { name: 'Not you?' }).getAttribute('href')) ?? '',
      /^\/oauth2\/login\?interaction=\w+&as=other$/,
    );
  }
  await page.goto(`${pages.origin}/show/mfa-plain`);
  assert.equal(await page.locator('.chip').count(), 0);
  await close();
});

test('e-mail code: none is sent before the user asks, who can still go back', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa-email-unsent`);
  assert.equal(await page.locator('#code').count(), 0);
  await page.click('.primary');
  await page.waitForURL('**/oauth2/mfa/email');
  await page.goto(`${pages.origin}/show/mfa-email-unsent`);
  await page.click('.quiet');
  await page.waitForURL(mfa);
  assert.equal(lastPosted().action, 'cancel');
  await close();
});

test('other methods: links that keep the interaction', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa`);
  const hrefs = await page.evaluate(
    `[...document.querySelectorAll('a.way')].map((link) => link.getAttribute('href'))`,
  );
  assert.deepEqual(hrefs, [
    '/oauth2/mfa?interaction=Vb3qZk1x9rT0&method=email',
    '/oauth2/mfa?interaction=Vb3qZk1x9rT0&method=recovery',
  ]);
  await page.goto(`${pages.origin}/show/mfa-plain`);
  assert.equal(await page.locator('.ways').count(), 0);
  assert.equal(await page.locator('[name=trust_device]').count(), 0);
  await close();
});

test('recovery code: sent as typed, when submitted', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa-recovery`);
  await page.locator('#code:focus').waitFor();
  const sent = pages.posted.length;
  await page.keyboard.type('K3V9 0qzt-123456');
  assert.equal(pages.posted.length, sent);
  await page.keyboard.press('Enter');
  await page.waitForURL(mfa);
  assert.deepEqual([lastPosted().code, lastPosted().method], ['K3V9 0qzt-123456', 'recovery']);
  await close();
});

test('TOTP enrolment: key copied without blanks, first code enables it, "Cancel" needs none', async () => {
  const { page, complaints, close } = await open(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
    viewport: { width: 390, height: 844 },
  });
  await page.goto(`${pages.origin}/show/mfa-enrol`);
  await page.click('[data-copy=key]');
  await page.locator('[data-copy=key]', { hasText: 'Copied' }).waitFor();
  const key = samples['mfa-enrol'].model.secret.replaceAll(' ', '');
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
  assert.equal(await page.evaluate('document.querySelector(".qr").naturalWidth > 200'), true);
  const link = page.getByRole('link', { name: 'Open the app on this device' });
  assert.equal(await link.getAttribute('href'), samples['mfa-enrol'].model.otpauthUri);
  assert.equal(await link.isVisible(), true);
  // With a mouse and a wide window the app is elsewhere.
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.equal(await link.isVisible(), false);

  await page.click('.quiet');
  await page.waitForURL(mfa);
  assert.equal(lastPosted().action, 'cancel');
  await page.goto(`${pages.origin}/show/mfa-enrol`);
  await page.locator('#code:focus').waitFor();
  await page.keyboard.type('123456');
  await page.waitForURL(mfa);
  assert.deepEqual([lastPosted().code, lastPosted().action], ['123456', 'enrol']);
  assert.deepEqual(complaints, []);
  await close();
});

test('recovery codes: downloaded without a request, copied by line, printed alone', async () => {
  const { page, complaints, close } = await open(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto(`${pages.origin}/show/recovery-codes`);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[data-download]')]);
  assert.equal(download.suggestedFilename(), 'Recovery codes Latchkey.txt');
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  const host = new URL(pages.origin).host;
  assert.deepEqual(lines, ['Latchkey: Recovery codes', host, '', ...recoveryCodes, '']);
  assert.deepEqual(
    requests.filter((url) => !/^blob:|favicon/.test(url)),
    [],
  );

  await page.click('[data-copy=codes]');
  await page.locator('[data-copy=codes]', { hasText: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), recoveryCodes.join('\n'));

  await page.evaluate('window.print = () => { document.title = "printed"; }');
  await page.click('[data-print]');
  assert.equal(await page.title(), 'printed');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('button:visible').count(), 0);
  assert.equal(await page.locator('#codes li:visible').count(), 10);
  await page.emulateMedia({ media: null });

  await page.click('.primary');
  await page.waitForURL(mfa);
  assert.equal(lastPosted().action, 'continue');
  assert.deepEqual(complaints, []);
  await close();
});

test('back button: restores no code', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/mfa`);
  const kept = await page.evaluate(`(() => {
    const field = document.getElementById('code');
    field.value = '12345';
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    return field.value;
  })()`);
  assert.equal(kept, '');
  await close();
});

test('without scripts: code by button, another one on request, no scripted control', async () => {
  const { page, complaints, close } = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${pages.origin}/show/mfa`);
  await page.locator('#code').fill('123 456');
  await page.locator('.primary').click();
  await page.waitForURL(mfa);
  assert.equal(lastPosted().code, '123 456');

  await page.goto(`${pages.origin}/show/mfa-email`);
  await page.locator('button.way').click();
  await page.waitForURL('**/oauth2/mfa/email');

  await page.goto(`${pages.origin}/show/mfa-enrol`);
  await page.locator('#code').fill('٠١٢٣٤٥');
  await page.locator('.primary').click();
  await page.waitForURL(mfa);
  assert.equal(lastPosted().action, 'enrol');

  await page.goto(`${pages.origin}/show/recovery-codes`);
  assert.equal(await page.locator('button:visible').count(), 1);
  await page.locator('.primary').click();
  await page.waitForURL(mfa);
  assert.equal(lastPosted().action, 'continue');
  assert.deepEqual(complaints, []);
  await close();
});
