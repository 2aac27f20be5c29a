// Branding in a browser: an administrator gives pages a logo, colours and a text, and takes them back; what random palettes make
// of the sign-in page is readable to axe. 4 palettes each run; with LONG=1 20, of account and administration too.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { watchStillness } from '../pages/stillness.ts';
import { bytesOf, PAGE_BYTES, PICTURE_BYTES, putOnScales, SIGN_IN_BYTES } from '../pages/weigh.ts';
import { grain, hills, png } from '../support/pictures.ts';
import { randomPalettes } from '../views/random-palettes.ts';
import { type AdminWorld, noticeOf, press, startAdminWorld } from './admin-world.ts';
import { shoot } from './shots.ts';
import { loaded } from './steps.ts';
import { openWindow, type Window } from './window.ts';

const isLong = process.env.LONG === '1';
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
  await press(page, 'Save');
  equal(await page.locator('#accent').inputValue(), 'navy');
  await page.locator('#accent').fill('#ffd400');
  await press(page, 'Save');
  await shoot(page, 'branding-form');
  await press(page, 'Texts and links', 'link');
  await page.locator('[name="texts.en.welcome"]').fill('Welcome to <Acme>');
  await page.getByText('Link 1', { exact: true }).click();
  await page.locator('[id="links.0.url"]').fill('javascript:alert(1)');
  await press(page, 'Save');
  equal(await page.locator('[name="texts.en.welcome"]').inputValue(), 'Welcome to <Acme>');
  await page.locator('[id="links.0.url"]').fill('https://acme.example/terms');
  await page.locator('[name="links.0.labels.en"]').fill('House rules');
  await page.locator('[name="links.0.labels.ar"]').fill('القواعد');
  await page.frameLocator('.beside iframe:not(.next)').getByText('House rules').waitFor();
  await shoot(page, 'branding-links');
  await press(page, 'Save');
  equal(await noticeOf(page), 'Saved. Pages have it within a second.');
  // Each of the two forms leaves what the other has.
  equal((await world.server.admin('GET', '/branding')).accent, '#ffd400');

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
  match(
    String(await page.locator('.notice').last().textContent()),
    /Not sent, because there is no mail server/,
  );
  match(
    JSON.stringify(await world.server.admin('GET', '/mails?state=kept')),
    /Hallo von Latchkey: .*Fragen\? Rufen Sie 2222 an\./,
  );
  await world.open('/branding/mails');
  await shoot(page, 'branding-mails');
  deepEqual(await (await createAxe(page)).violations(), []);
  await page.getByRole('link', { name: 'Import', exact: true }).click();
  const texts = {
    en: { password_changed: { lead: 'Hi.' } },
    ar: { invitation: { closing: 'اتصل بالرقم 2222.' } },
  };
  await page.locator('#json').fill(JSON.stringify({ kind: 'latchkey-mail-texts', texts }));
  await press(page, 'Review changes');
  await page.getByText('The first sentence is too short for the preview beside the subject.').waitFor();
  await shoot(page, 'branding-mails-import');
  deepEqual(await (await createAxe(page)).violations(), []);
  await press(page, 'Save these texts');
  equal(await noticeOf(page), 'Saved. The next e-mail has these texts.');
  deepEqual([...world.admin.complaints], []);
});

/** By path, what came over the wire since the page was opened. */
function watchWeight({ page }: Pick<Window, 'page'>) {
  let asked: Request[] = [];
  page.on('request', (request) => asked.push(request));
  return async (): Promise<Map<string, number>> => {
    const each = asked.map(
      async (request) => [new URL(request.url()).pathname, await bytesOf(request)] as const,
    );
    asked = [];
    return new Map(await Promise.all(each));
  };
}

/** Texts that can be seen, and have no ground of one colour between them and the page's. */
const ON_THE_PICTURE = `[...document.querySelectorAll('body *')].filter((one) => {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  if (!own || !one.checkVisibility() || one.closest('script, style, .unseen')) return false;
  for (let box = one; box !== document.body; box = box.parentElement) {
    const { backgroundColor, backgroundImage } = getComputedStyle(box);
    if (/^rgb\\(/.test(backgroundColor)) return false;
    if (backgroundImage.includes('url(')) return true;
  }
  const behind = getComputedStyle(document.body, '::before');
  return behind.display !== 'none' && behind.backgroundImage.includes('url(');
}).map((one) => one.outerHTML.slice(0, 120))`;

test('branding: with a heavy look the sign-in page stays light, still and readable', async (t) => {
  const page = await world.open('/branding');
  await page
    .getByLabel('Background picture: file')
    .setInputFiles({ name: 'hills.jpg', mimeType: 'image/jpeg', buffer: await hills() });
  await loaded(page, () =>
    page.getByRole('button', { name: 'Upload Background picture', exact: true }).click(),
  );
  match(await page.locator('.made').innerText(), /1600 × 1000 pixels, 1?\d{2} kB\. Browsers load it once/);
  await shoot(page, 'branding-background-form');
  const upload = async (mean: number, width: number) => {
    const data = (await grain(width, 80, mean)).toString('base64');
    return (await world.server.admin('POST', '/branding/pictures', { data })).id;
  };
  const texts = {
    welcome: 'Welcome '.repeat(15),
    panel: 'In one place '.repeat(23),
    help: 'Call us. '.repeat(22),
  };
  const kept = (text: string) => text.trim();
  const look = {
    logo: await upload(120, 400),
    logo_dark: await upload(60, 400),
    icon: await upload(128, 80),
    font: 'serif',
    radius: 4,
    accent: '#7a1f3d',
    texts: {
      en: { welcome: kept(texts.welcome), panel: kept(texts.panel), help: kept(texts.help) },
    },
    links: [1, 2, 3, 4, 5, 6].map((at) => ({
      url: `https://acme.example/${at}`,
      labels: { en: `Link number ${at} of six` },
    })),
  };
  const visitor = await openWindow(world.browser);
  const axe = await createAxe(visitor.page);
  const stillness = await watchStillness(visitor.page);
  const weigh = watchWeight(visitor);
  const found: string[] = [];
  for (const layout of ['card', 'split'] as const) {
    const saved = await world.server.admin('PATCH', '/branding', { ...look, layout });
    await weigh();
    await visitor.page.goto(signIn);
    found.push(...(await stillness.moved()).map((one) => `${layout} moves: ${one}`));
    const weights = await weigh();
    const of = (name: string) => weights.get(`/pictures/${name}`) ?? 0;
    const { logo_dark: dark, background_picture: picture } = saved;
    const [logo, background] = [of(`${saved.logo}.png`), of(`${picture}.webp`)];
    // Asked for when the browser has nothing else to do, so perhaps not yet.
    const icon = `${saved.icon}.png`;
    const ofIcon = (await (await fetch(`${world.server.origin}/pictures/${icon}`)).arrayBuffer()).byteLength;
    equal(of(`${dark}.png`), 0, 'a dark logo is loaded in place of the other');
    const bare = [...weights.values()].reduce((sum, one) => sum + one, 0) - logo - of(icon) - background;
    t.diagnostic(`${layout}: page ${bare}, logo ${logo}, icon ${ofIcon}, background ${background} bytes`);
    ok(bare <= SIGN_IN_BYTES, `${layout}: ${bare} bytes without pictures`);
    ok(logo > 0 && logo <= PICTURE_BYTES.logo && ofIcon > 0 && ofIcon <= PICTURE_BYTES.icon);
    ok(background > 50_000 && background <= PICTURE_BYTES.background);
    await shoot(visitor.page, `branding-background-${layout}`);
    for (const width of [1440, 640]) {
      await visitor.page.setViewportSize({ width, height: 900 });
      found.push(...(await visitor.page.evaluate<string[]>(ON_THE_PICTURE)));
      for (const colorScheme of width === 1440 || isLong ? (['light', 'dark'] as const) : []) {
        await visitor.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        found.push(...(await axe.violations()).map((one) => `${layout} ${width} ${colorScheme}: ${one}`));
      }
    }
    await visitor.page.emulateMedia({ colorScheme: null, reducedMotion: null });
    await visitor.page.setViewportSize({ width: 1440, height: 900 });
  }
  deepEqual(found, []);
  deepEqual([...visitor.complaints], []);
  await visitor.close();

  // A line so slow that the picture never comes: the form is there and works. A phone, whose card fills it, asks for none.
  const slow = await openWindow(world.browser);
  let hasAsked = false;
  await slow.page.route('**/*.webp', () => {
    hasAsked = true;
  });
  await slow.page.goto(signIn, { waitUntil: 'domcontentloaded' });
  await slow.page.locator('#username').fill('ada');
  ok(hasAsked);
  await slow.close();
  const phone = await openWindow(world.browser, { viewport: { width: 390, height: 844 } });
  const weighPhone = watchWeight(phone);
  await phone.page.goto(signIn);
  deepEqual(
    [...(await weighPhone()).keys()].filter((path) => path.endsWith('.webp')),
    [],
  );
  await phone.close();

  await world.server.admin('PUT', '/branding', {});
});

test('branding: both forms stay light in Arabic with everything at its longest', async (t) => {
  const page = await world.open('/branding');
  const letters = { en: 'm', de: 'ü', es: 'ñ', fr: 'é', pt: 'ã', ja: '日', ar: 'ع' };
  const each = <Value>(make: (letter: string) => Value) =>
    Object.fromEntries(Object.entries(letters).map(([language, letter]) => [language, make(letter)]));
  const texts = each((one) => ({
    welcome: one.repeat(120),
    panel: one.repeat(300),
    help: one.repeat(200),
  }));
  const links = [1, 2, 3, 4, 5, 6].map((at) => ({
    url: `https://acme.example/${'long/'.repeat(30)}${at}`,
    labels: each((one) => one.repeat(40)),
  }));
  // As many versions as are kept, the last of which has everything.
  for (let radius = 0; radius < 31; radius += 1)
    await world.server.admin('PATCH', '/branding', { radius: radius % 25 });
  const colors = { accent: '#ffd400', accent_dark: '#111111', background: '#ffffff' };
  await world.server.admin('PATCH', '/branding', { ...colors, background_dark: '#000000', texts, links });
  await page.context().addCookies([{ name: 'latchkey_language', value: 'ar', url: world.server.origin }]);
  // With a route, nothing is cached.
  await page.route('**/never', (route) => route.continue());
  const scales = putOnScales(page);
  for (const path of ['/branding', '/branding/texts']) {
    await world.open(path);
    const weight = await scales.weight();
    t.diagnostic(`${path}: ${weight} bytes`);
    ok(weight > 40_000 && weight <= PAGE_BYTES, `${path}: ${weight} bytes`);
    await shoot(page, `branding-longest${path.replaceAll('/', '-')}`);
  }
  await page.context().clearCookies({ name: 'latchkey_language' });
  await world.server.admin('PUT', '/branding', {});
});

test('branding: random palettes have no violation, light and dark, card and split', async () => {
  const visitor = await openWindow(world.browser);
  const { admin, server } = world;
  const [axe, ofAdmin] = [await createAxe(visitor.page), await createAxe(admin.page)];
  const looked = [
    [signIn, visitor, axe],
    ...(isLong
      ? ([
          [`${server.origin}/account`, admin, ofAdmin],
          [`${server.origin}/admin/users`, admin, ofAdmin],
        ] as const)
      : []),
  ] as const;
  const found: string[] = [];
  const texts = {
    en: { welcome: 'Welcome back', panel: 'Everything in one place.', help: 'Call 2222 for help.' },
  };
  for (const [at, picked] of randomPalettes(isLong ? 20 : 4).entries()) {
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
    for (const [address, { page }, judge] of looked)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.goto(address);
        const where = `${JSON.stringify(picked)} ${layout} ${colorScheme} ${address}`;
        found.push(...(await judge.violations()).map((one) => `${where}: ${one}`));
      }
  }
  deepEqual(found, []);
  await visitor.close();
});
