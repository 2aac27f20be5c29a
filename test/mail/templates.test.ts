// Mail templates: each in every language, readable in light and dark, one button, nothing fetched, text and HTML alike.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { type MailTemplate, type MailValues, mailTemplates } from '../../src/mail/templates.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { languages } from '../../src/views/strings.ts';
import { contrast } from '../../src/views/theme.ts';
import { plainTheme } from '../pages/server.ts';
import { baseUrl, start } from './support.ts';

// Object.keys() forgets the names in its type; they are exactly the keys of the list.
const names = Object.keys(mailTemplates) as readonly MailTemplate[];
const render = createMailViews({ theme: () => plainTheme, baseUrl });

const samples: Readonly<Record<string, string | number>> = {
  code: '314159',
  url: `${baseUrl}/oauth2/go?token=abc`,
  expiresSeconds: 1800,
  lockedSeconds: 900,
  codesLeft: 7,
};
const request = { at: start, username: 'ann', ipAddress: '203.0.113.5', device: 'Firefox on Windows' };

/** What the template needs and no more, with what is known of the request. */
const valuesOf = (name: MailTemplate): MailValues => {
  const needed = mailTemplates[name].map((value): [string, string | number] => [value, samples[value] ?? '']);
  return { ...request, ...Object.fromEntries(needed) };
};

const everywhere = (check: (name: MailTemplate, language: string) => void): void => {
  for (const name of names) for (const language of languages) check(name, language);
};

const plain = (html: string): string =>
  html
    .replace(/<head>.*<\/head>|<[^>]+>/gs, '\n')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&');

test('mail templates: one file per mail and one mail per file', () => {
  const files = readdirSync(new URL('../../templates/mail/', import.meta.url))
    .filter((file) => !file.startsWith('layout.'))
    .map((file) => file.replace('.njk', ''));
  assert.deepEqual(files.sort(), [...names].sort());
});

test('mail templates: each renders in every language, text and HTML agree', () => {
  everywhere((name, language) => {
    const { subject, text, html } = render(name, valuesOf(name), language);
    const where = `${name} ${language}`;
    assert.ok(subject.length > 5 && subject.length < 90 && !/[\n{}]/.test(subject), `${where}: ${subject}`);
    assert.doesNotMatch(text, /\{\w+\}|\b(?:undefined|null|NaN)\b|&#|<\w/, where);
    const lines = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && line !== '--');
    const shown = plain(html).replace(/\s+/g, ' ');
    for (const line of lines) {
      for (const part of line.split(/(?<=[?？]) /)) assert.ok(shown.includes(part), `${where}: ${part}`);
    }
    assert.ok(html.includes(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`));
  });
});

test('mail: names the origin of the request and what to do if it was someone else', () => {
  everywhere((name, language) => {
    const { text } = render(name, valuesOf(name), language);
    for (const part of ['ann', '203.0.113.5', 'Firefox on Windows', 'UTC', baseUrl])
      assert.ok(text.includes(part), `${name} ${language}: ${part}`);
    const { text: english } = render(name, valuesOf(name), 'en');
    const isToOwner = name !== 'test' && name !== 'compromise_reported';
    assert.equal(/Wasn’t you\?/.test(english), isToOwner, name);
  });
});

test('mail: unknown request data is left out', () => {
  const { text, html } = render('password_changed', { at: start }, 'en');
  for (const form of [text, html]) assert.doesNotMatch(form, /Account:|IP address:|Device:|<a /);
  assert.match(text, /Time: January 15, 2027 at 8:00.AM UTC/);
});

test('mail: codes and links in the text, never in the subject', () => {
  everywhere((name, language) => {
    const { subject, text, html } = render(name, { ...valuesOf(name), ...samples }, language);
    assert.doesNotMatch(subject, /314159|token|https?:/);
    for (const form of [text, html]) assert.match(form, /token=abc/);
  });
  assert.match(render('sign_in_code', valuesOf('sign_in_code'), 'en').text, /\n {4}314159\n/);
});

test('mail: times in words of the language', () => {
  const lifetime = (seconds: number, language: string) =>
    render('magic_link', { ...valuesOf('magic_link'), expiresSeconds: seconds }, language).text;
  assert.match(lifetime(900, 'en'), /in 15 minutes\./);
  assert.match(lifetime(60, 'en'), /in 1 minute\./);
  assert.match(lifetime(5400, 'de'), /90 Minuten lang/);
  assert.match(lifetime(86_400, 'fr'), /24.heures/);
  assert.match(lifetime(7 * 86_400, 'es'), /7 días/);
  assert.match(lifetime(600, 'ar'), /10 دقائق/);
});

test('mail layout: one column, at most one button, nothing fetched or run', () => {
  everywhere((name, language) => {
    const { html } = render(name, { ...valuesOf(name), url: samples.url ?? '' }, language);
    assert.doesNotMatch(
      html,
      /<(?:table|img|script|link|style|iframe|form|svg|object)|url\(|@import|\son\w+=/i,
    );
    assert.deepEqual(
      [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url),
      [samples.url],
    );
    assert.ok(html.length < 5000, `${name}: ${html.length}`);
  });
});

test('mail in dark mode: only the button is coloured, and readable for every accent', () => {
  for (const accentColor of ['#1f6f5c', '#ffffff', '#000000', '#ffff00', '#777777', 'red;}</style>']) {
    const branded = createMailViews({ theme: () => ({ ...plainTheme, accentColor }), baseUrl });
    const { html } = branded('magic_link', valuesOf('magic_link'), 'en');
    assert.match(html, /<meta name="color-scheme" content="light dark">/);
    const colors = [...html.matchAll(/(?<=[;"])(background-color|color):([^;"]*)/g)].map(
      ([, , color = '']) => color,
    );
    assert.equal(colors.length, 2, html);
    const [fill = '', ink = ''] = colors;
    assert.ok(contrast(fill, ink) >= 4.5, `${accentColor}: ${fill} ${ink}`);
  }
});

test('mail: values are escaped in HTML and unchanged in plain text', () => {
  const values = { ...valuesOf('password_reset'), username: '<b>"ann" & \'bob\'</b>' };
  const { text, html } = render('password_reset', values, 'en');
  assert.ok(text.includes('<b>"ann" & \'bob\'</b>'));
  assert.ok(!html.includes('<b>') && html.includes('&lt;b&gt;'));
});

test('mail language: chosen from region tags, lists and malformed input as for pages', () => {
  const subject = (tag: string | undefined) => render('test', valuesOf('test'), tag).subject;
  assert.equal(subject('pt-BR'), 'E-mail de teste de Latchkey');
  assert.equal(subject('xx de'), 'Test-E-Mail von Latchkey');
  assert.equal(subject('../../etc'), subject(undefined));
});
