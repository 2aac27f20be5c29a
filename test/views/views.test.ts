// Page responses: headers, CSP, language, and size.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { initialOf } from '../../src/views/initial.ts';
import type { PageContext } from '../../src/views/views.ts';
import { createViews } from '../../src/views/views.ts';
import { type PageServer, plainTheme, startPages } from '../pages/server.ts';

let pages: PageServer;
before(async () => {
  pages = await startPages({ samples, basePath: '/auth' });
});
after(() => pages.close());

const show = (name: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${pages.origin}/show/${name}`, { headers });

const policy = (response: Response): Map<string, string> => {
  const header = response.headers.get('content-security-policy') ?? '';
  return new Map(header.split('; ').map((part) => [part.split(' ', 1)[0] ?? '', part]));
};

/** What a template makes of a model, without HTTP. */
const render = (template: string, model: object, theme = plainTheme): string => {
  const ctx: PageContext = {
    get: () => '',
    set: () => {},
    method: 'POST',
    originalUrl: '/',
    status: 0,
    body: undefined,
  };
  createViews({ theme: () => theme, basePath: '', host: 'id.example.com' }).send(ctx, template, model);
  return String(ctx.body);
};

test('initials: one rule for every script, by what readers count as a letter', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['ada lovelace', 'A'],
    [' ada', 'A'],
    ['“Ada”', 'A'],
    ['e\u0301mile', 'E\u0301'],
    ['ßeta', 'S'],
    ['ǆemal', 'Ǆ'],
    ['山田太郎', '山'],
    ['محمد', 'م'],
    ['किरण', 'कि'],
    ['김', '김'],
    ['👩🏽‍🚀 Mae', '👩🏽‍🚀'],
    ['\u202eada', 'A'],
    ['7of9', '7'],
    ['...', '·'],
    ['', '·'],
  ];
  assert.deepEqual(
    cases.map(([name]) => [name, initialOf(name)]),
    cases,
  );
});

test('page response: private, typed, with language and own CSP with a fresh nonce', async () => {
  const one = await show('login');
  const other = await show('login');
  assert.equal(one.status, 200);
  assert.equal(one.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(one.headers.get('cache-control'), 'no-store');
  assert.equal(one.headers.get('content-language'), 'en');
  assert.equal(one.headers.get('content-encoding'), null);
  const nonces = [one, other].map(
    (page) => /'nonce-([\w+/=]{24})'/.exec(policy(page).get('style-src') ?? '')?.[1],
  );
  assert.ok(nonces[0] && nonces[1] && nonces[0] !== nonces[1]);
  assert.ok((await one.text()).includes(`<style nonce="${nonces[0]}">`));
  const strict = policy(one);
  strict.delete('style-src');
  assert.deepEqual(
    [...strict.values()],
    [
      "default-src 'none'",
      "script-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "font-src 'none'",
      "object-src 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
    ],
  );
});

test('CSP: form-action allows the form’s destination only', async () => {
  assert.equal(policy(await show('continue')).get('form-action'), "form-action 'self' https://acme.example");
});

test('error page: has its own status', async () => {
  assert.equal((await show('error-missing')).status, 404);
  assert.equal((await show('error-server')).status, 500);
});

test('page addresses: all carry the base path', async () => {
  for (const name of Object.keys(samples)) {
    // A document to keep: it has no address.
    if (name === 'account-export') continue;
    const html = await (await show(name)).text();
    const found = [...html.matchAll(/\s(?:href|src|action)="(\/[^"]*)"/g)].map(([, url = '']) => url);
    // These samples hand over addresses themselves, as callers do: whole.
    const foreign = found.filter(
      (url) =>
        !url.startsWith('/auth/') && !/^\/(oauth2\/(device|authorize|signup|login\?)|landed)/.test(url),
    );
    assert.deepEqual(foreign, [], name);
    assert.ok(
      found.some((url) => /^\/auth\/assets\/page\.[\w-]{12}\.js$/.test(url)),
      name,
    );
  }
});

test('page language: that of the request, Arabic right to left', async () => {
  const german = await (await show('login', { 'accept-language': 'de-CH,fr;q=0.4' })).text();
  assert.match(german, /<html lang="de" dir="ltr">/);
  assert.match(german, /Bei <b><bdi>Acme Analytics<\/bdi><\/b> anmelden/);
  const arabic = await (await show('login?lang=ar', { 'accept-language': 'de' })).text();
  assert.match(arabic, /<html lang="ar" dir="rtl">/);
});

test('error text: catalogue messages are translated, custom ones shown as given', async () => {
  const generic = await (await show('error-server?lang=de')).text();
  assert.match(generic, /Der Fehler liegt bei uns/);
  const own = render('error', { status: 400, message: 'Own words', reason: 'server.error', requestId: 'r' });
  assert.match(own, /Own words/);
});

test('error text: external ones are truncated', () => {
  const html = render('error', { status: 400, message: 'spam '.repeat(2000), requestId: 'r' });
  assert.ok(html.length < 4000, `${html.length}`);
});

test('attack: values are escaped everywhere', () => {
  const html = render('login', {
    csrf: '"><script>',
    interaction: '\'"<',
    clientName: '<img src=x onerror=alert(1)>{product}{{ 7*7331 }}',
    values: { username: '" onfocus="alert(1)' },
  });
  assert.ok(!html.includes('<img'));
  assert.ok(!html.includes('onfocus="'));
  assert.ok(!html.includes('51317'));
  assert.equal(html.match(/<script/g)?.length, 1);
});

test('template: a missing value is an error', () => {
  assert.throws(() => render('login', { interaction: 'i', values: { username: '' } }), /undefined|null/);
  assert.throws(() => render('no-such-page', {}), /template not found/);
});

const logo = 'abcdefghijklmnopqrstuv-400x80';

test('branding: shown; hostile branding is not', () => {
  const look = { logo, logoDark: logo, icon: logo, accent: '#aa0033', radius: 4, font: 'serif' };
  const html = render('login', samples['login-plain'].model, {
    ...plainTheme,
    productName: 'Contoso <ID>',
    look: { ...look, links: [{ url: 'https://c.example/', labels: { en: 'Staff <b>' } }] },
  });
  assert.match(html, /Contoso &lt;ID&gt;/);
  assert.match(
    html,
    /<img src="\/pictures\/abcdefghijklmnopqrstuv-400x80\.png" alt="" width="200" height="40">/,
  );
  assert.match(html, /--accent:#aa0033/);
  assert.match(html, /--radius:4px;--card-radius:6px;--font:Charter/);
  assert.match(html, /<a href="https:\/\/c\.example\/" lang="en"><bdi>Staff &lt;b&gt;<\/bdi><\/a>/);
  const hostile = {
    ...plainTheme,
    supportUrl: 'javascript:2',
    privacyUrl: '',
    termsUrl: '//x',
  };
  assert.doesNotMatch(render('login', samples['login-plain'].model, hostile), /javascript:|<footer/);
});

test('attack: branding as CSS injection; what no rule let through reaches no style sheet', () => {
  const evil = 'red;}</style><script>alert(1)</script>{background:url(//evil.example)';
  // As if it had been written into the store beside the API.
  const look = Object.assign(
    {},
    ...[
      'accent',
      'accentDark',
      'background',
      'backgroundDark',
      'radius',
      'font',
      'layout',
      'logo',
      'logoDark',
      'icon',
    ].map((name) => ({ [name]: evil })),
    {
      texts: { en: { welcome: evil, panel: evil, help: evil } },
      links: [{ url: 'javascript:alert(1)', labels: { en: evil } }],
    },
  );
  const html = render('login', samples['login-plain'].model, { ...plainTheme, accentColor: evil, look });
  const style = /<style[^>]*>(.*?)<\/style>/s.exec(html)?.[1] ?? assert.fail('no style');
  assert.match(
    style,
    /^:root\{(?:--[a-z-]+:#[0-9a-f]{6};?)+\}@media\(prefers-color-scheme:dark\)\{:root\{(?:--[a-z-]+:#[0-9a-f]{6};?)+\}\}$/,
  );
  assert.doesNotMatch(html, /<script>alert|javascript:/);
  assert.match(html, /red;\}&lt;\/style&gt;&lt;script&gt;/);
});

test('branding: nothing is loaded that an unbranded page does not load', () => {
  const html = render('login', samples['login-plain'].model);
  assert.equal([...html.matchAll(/(?:src|href)="[^"]*\/assets\//g)].length, 3);
  assert.doesNotMatch(html, /brand\.|<picture|pictures\//);
});

test('texts of branding: in the language of the page, else in English, marked as such', () => {
  const look = { texts: { de: { welcome: 'Willkommen' }, en: { welcome: 'Welcome', help: 'Call us' } } };
  const html = render('login', samples['login-plain'].model, { ...plainTheme, look });
  assert.match(html, /<p class="welcome" lang="en" dir="auto">Welcome<\/p>/);
  assert.match(html, /<p class="brand-help" lang="en" dir="auto">Call us<\/p>/);
});

test('an application’s look: whose page it is stays visible', () => {
  const html = render('login', samples['login-plain'].model, {
    ...plainTheme,
    look: { logo, isNameInLogo: false, isOfApplication: true },
  });
  assert.match(html, /<span>Latchkey<\/span>/);
  assert.match(
    html,
    /<p class="brand-of"><bdi>Latchkey<\/bdi> · <bdi dir="ltr">id\.example\.com<\/bdi><\/p>/,
  );
});

test('login page: under 30 kB with its CSS, 15 kB on the wire, from this host only', async () => {
  const html = await (await show('login-full')).text();
  const loaded = [...html.matchAll(/(?:href|src)="(\/auth\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
  // What is loaded later, when there is a passkey to speak of (webauthn.js, 13 kB), comes after the page is usable.
  assert.equal(loaded.length, 4);
  let [plain, wire] = [Buffer.byteLength(html), Buffer.byteLength(html)];
  for (const url of loaded) {
    const body = Buffer.from(await (await fetch(pages.origin + url)).arrayBuffer());
    if (url.endsWith('.css')) plain += body.length;
    wire += brotliCompressSync(body).length;
  }
  assert.ok(plain < 30_000, `${plain} bytes`);
  assert.ok(wire < 15_000, `${wire} bytes on the wire`);
});
