// Branding in a browser: an administrator gives pages a logo, colours and a text, and takes them back; what random palettes make
// of the sign-in page is readable to axe. 4 palettes each run, 20 with LONG=1.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { png } from '../support/pictures.ts';
import { randomPalettes } from '../views/random-palettes.ts';
import { type AdminWorld, noticeOf, press, startAdminWorld } from './admin-world.ts';
import { shoot } from './shots.ts';
import { loaded } from './steps.ts';
import { openWindow } from './window.ts';

let world: AdminWorld;
let signIn = '';
before(async () => {
  world = await startAdminWorld();
  const { id } = await world.createApplication({});
  const asked = {
    client_id: id,
    response_type: 'code',
    redirect_uri: 'http://localhost:9/callback',
    scope: 'openid',
  };
  const pkce = {
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  };
  signIn = `${world.server.issuer}/authorize?${new URLSearchParams({ ...asked, ...pkce })}`;
});
after(() => world.stop());

test('branding: logo, colours and texts by the form; a version comes back', async () => {
  const page = await world.open('/branding');
  await page
    .getByLabel('Logo: file')
    .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png(320, 64) });
  await loaded(page, () => page.getByRole('button', { name: 'Upload Logo', exact: true }).click());
  equal(await noticeOf(page), 'Saved. Pages have it within a second.');
  await page.locator('#accent').fill('navy');
  await page.locator('[id="texts.en.welcome"]').fill('Welcome to <Acme>');
  await press(page, 'Save');
  equal(await page.locator('#accent').inputValue(), 'navy');
  equal(await page.locator('[id="texts.en.welcome"]').inputValue(), 'Welcome to <Acme>');
  await page.locator('#accent').fill('#ffd400');
  await page.getByText('Link 1', { exact: true }).click();
  await page.locator('[id="links.0.url"]').fill('https://acme.example/terms');
  await page.locator('[id="links.0.labels.en"]').fill('House rules');
  await page.locator('[id="links.0.labels.ar"]').fill('القواعد');
  await page.frameLocator('.beside iframe:not(.next)').getByText('House rules').waitFor();
  await shoot(page, 'branding-links');
  await press(page, 'Save');
  await shoot(page, 'branding-form');

  const visitor = await openWindow(world.browser);
  await visitor.page.goto(signIn);
  equal(await visitor.page.locator('.card > .welcome').textContent(), 'Welcome to <Acme>');
  equal(
    await visitor.page.getByRole('link', { name: 'House rules' }).getAttribute('href'),
    'https://acme.example/terms',
  );
  equal(await visitor.page.evaluate("document.querySelector('.brand img').naturalWidth"), 320);
  await world.open('/branding/import');
  const file = {
    kind: 'latchkey-look',
    look: { accent: '#0b1f3a' },
    pictures: { logo: png(200, 80).toString('base64') },
  };
  await page.locator('#json').fill(JSON.stringify(file));
  await press(page, 'Review changes');
  await page.getByRole('cell', { name: '#0b1f3a' }).waitFor();
  await shoot(page, 'branding-import');
  deepEqual(await (await createAxe(page)).violations(), []);
  await press(page, 'Save this look');
  equal(await page.locator('#accent').inputValue(), '#0b1f3a');
  await page.getByRole('button', { name: 'Restore version 1', exact: true }).click();
  await page.waitForURL(/\/branding/);
  equal(await page.locator('#accent').inputValue(), '');
  deepEqual([...visitor.complaints], []);
  await shoot(visitor.page, 'branding-sign-in');
  await visitor.close();
});

/** The colour of what is found in a frame, as the browser drew it. */
const colorIn = async (page: Page, frame: string, found: string): Promise<string> => {
  const inFrame = `document.querySelector('${frame}').contentDocument.querySelector('${found}')`;
  return String(await page.evaluate(`getComputedStyle(${inFrame}).backgroundColor`));
};

test('branding: preview and gallery follow what is picked before it is saved', async () => {
  const page = await world.open('/branding');
  const frame = page.frameLocator('.beside iframe:not(.next)');
  await frame.locator('button.primary').first().waitFor();
  const below = () => page.evaluate("document.getElementById('accent_dark').offsetTop");
  const before = await below();
  await page.locator('#accent').fill('#ffd400');
  await page.locator('#pairs-accent small', { hasText: '#ffd400 would have' }).first().waitFor();
  equal(await below(), before, 'a correction moves nothing');
  match(
    String(await page.getByRole('status').filter({ hasText: '#ffd400 would have' }).textContent()),
    / : 1 /,
  );
  await page.waitForFunction("!document.querySelector('.next')");
  equal(await colorIn(page, '.beside iframe:not(.next)', 'button.primary'), 'rgb(255, 212, 0)');
  await page.locator('#language').selectOption('ar');
  await page.locator('#scheme').selectOption('dark');
  await page.locator('#sample').selectOption('mail-invitation');
  await frame.locator('html[dir=rtl] [role=article]').waitFor();
  match(await colorIn(page, '.beside iframe:not(.next)', 'body'), /16, 18, 20/);
  await shoot(page, 'branding-preview');
  equal((await world.server.admin('GET', '/branding')).accent, null);
  const axe = await createAxe(page);
  deepEqual(await axe.violations(), []);

  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'All pages and e-mails' }).click(),
  ]);
  await tab.locator('[data-title="Sign-in"] iframe').waitFor();
  const [all, inView] = [tab.locator('.stage'), tab.locator('.stage iframe')];
  ok((await inView.count()) < (await all.count()));
  await tab.frameLocator('[data-title="Sign-in"] iframe').locator('button.primary').waitFor();
  equal(await colorIn(tab, '[data-title="Sign-in"] iframe', 'button.primary'), 'rgb(255, 212, 0)');
  await shoot(tab, 'branding-gallery');
  deepEqual(await (await createAxe(tab)).violations(), []);
  await tab.close();
  // Leaving what is not saved, the browser would ask.
  await press(page, 'Save');
  deepEqual([...world.admin.complaints], []);
});

test('branding: texts of a mail are written, judged, seen, saved and sent', async () => {
  const page = await world.open('/branding/mails/password_reset/de');
  await page.locator('#lead').fill('Siehe {link} auf evil.example');
  await page.locator('#checked', { hasText: 'There is no {link} in this text.' }).waitFor();
  await page.locator('#lead').fill('Hallo von {product}: Wählen Sie ein neues Passwort.');
  await page.locator('#closing').fill('Fragen? Rufen Sie 2222 an.');
  await page.locator('#plain', { hasText: 'Fragen? Rufen Sie 2222 an.' }).waitFor();
  await page.locator('.fine').waitFor();
  const frame = page.frameLocator('.beside iframe:not(.next)');
  await frame.getByText('Hallo von Latchkey: Wählen Sie ein neues Passwort.').last().waitFor();
  await shoot(page, 'branding-mail');
  deepEqual(await (await createAxe(page)).violations(), []);
  await press(page, 'Save');
  equal(await noticeOf(page), 'Saved. The next e-mail has these texts.');
  await press(page, 'Send a test e-mail to me');
  match(String(await page.locator('.notice').last().textContent()), /the e-mail is in the outbox/);
  match(
    JSON.stringify(await world.server.admin('GET', '/mails?state=kept')),
    /Hallo von Latchkey: .*Fragen\? Rufen Sie 2222 an\./,
  );
  await world.open('/branding/mails');
  await shoot(page, 'branding-mails');
  deepEqual(await (await createAxe(page)).violations(), []);
  deepEqual([...world.admin.complaints], []);
});

test('branding: random palettes have no violation, light and dark, card and split', async () => {
  const visitor = await openWindow(world.browser);
  const axe = await createAxe(visitor.page);
  const found: string[] = [];
  const texts = {
    en: { welcome: 'Welcome back', panel: 'Everything in one place.', help: 'Call 2222 for help.' },
  };
  for (const [at, picked] of randomPalettes(process.env.LONG === '1' ? 20 : 4).entries()) {
    const layout = at % 2 === 0 ? 'card' : 'split';
    await world.server.admin('PUT', '/branding', {
      accent: picked.accent,
      accent_dark: picked.accentDark ?? null,
      background: picked.background ?? null,
      background_dark: picked.backgroundDark ?? null,
      is_gradient: picked.isGradient,
      layout,
      texts,
    });
    await visitor.page.goto(signIn);
    await shoot(visitor.page, `branding-random-${at}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await visitor.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await visitor.page.goto(signIn);
      found.push(
        ...(await axe.violations()).map(
          (one) => `${JSON.stringify(picked)} ${layout} ${colorScheme}: ${one}`,
        ),
      );
    }
  }
  deepEqual(found, []);
  await visitor.close();
});
