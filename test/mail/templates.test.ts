// Mail templates: what each says of the request, in which words, and in which colours. What all have in common: lint.test.ts.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { simpleParser } from 'mailparser';
import { compose } from '../../src/mail/compose.ts';
import type { MailLogo, MailValues } from '../../src/mail/templates.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { type MailTemplate, mailNames as names } from '../../src/model/mails.ts';
import { type MailColors, mailColors } from '../../src/views/mail-colors.ts';
import { contrast } from '../../src/views/palette.ts';
import { plainTheme } from '../pages/server.ts';
import { sampleValues as valuesOf } from './samples.ts';
import { baseUrl, start } from './support.ts';

const render = createMailViews({ theme: () => plainTheme, baseUrl });

/** One grey pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

const words = (html: string): string => html.replace(/<head>.*<\/head>|<[^>]+>/gs, ' ');

const mapped = (colors: MailColors, map: (color: string) => string): MailColors => ({
  page: map(colors.page),
  sheet: map(colors.sheet),
  soft: map(colors.soft),
  line: map(colors.line),
  text: map(colors.text),
  muted: map(colors.muted),
  link: map(colors.link),
  fill: map(colors.fill),
  ink: map(colors.ink),
});

test('mail templates: one file per mail and one mail per file', () => {
  const files = readdirSync(new URL('../../templates/mail/', import.meta.url))
    .filter((file) => !file.startsWith('layout.'))
    .map((file) => file.replace('.njk', ''));
  assert.deepEqual(files.sort(), [...names].sort());
});

/** An invitation is of no request of its reader's. */
const tellsRequest = (name: MailTemplate): boolean => name !== 'invitation';

test('mail: names who, when, where and with what, in the words and the time of its reader', () => {
  const placeOf = (ipAddress: string, language: string) => `${ipAddress} in ${language}`;
  const withPlaces = createMailViews({ theme: () => plainTheme, baseUrl, placeOf });
  for (const name of names.filter(tellsRequest)) {
    const { text: english } = withPlaces(name, valuesOf(name), 'en');
    for (const part of [
      'Account: Ann Lee (ann)\n',
      'Time: 15 January 2027 at 09:00 GMT+1\n',
      'Place: 203.0.113.5 in en\n',
      'IP address: 203.0.113.5\n',
      'Device: Firefox on Windows\n',
    ])
      assert.ok(
        english
          .replaceAll(/[\u202f\u200b]/g, ' ')
          .replaceAll('. ', '.')
          .includes(part),
        `${name}: ${part} ${english}`,
      );
    for (const [language, part] of [
      ['de', 'Firefox unter Windows'],
      ['ja', 'Windows の Firefox'],
      ['ar', 'Firefox على Windows'],
    ] as const)
      assert.ok(withPlaces(name, valuesOf(name), language).text.includes(part), name);
  }
});

test('mail: what to do if it was someone else; one way on where something is to be secured', () => {
  const secured = names.filter((name) =>
    render(name, valuesOf(name), 'en').html.includes(`href="${baseUrl}/account/not-me"`),
  );
  assert.deepEqual(secured.sort(), [
    'data_exported',
    'deletion_undone',
    'email_removed',
    'new_sign_in',
    'passkey_added',
    'passkey_removed',
    'password_changed',
    'recovery_code_used',
    'recovery_codes_replaced',
    'second_factor_added',
    'second_factor_removed',
    'second_factor_replaced',
    'second_factor_reset',
    'sign_in_code',
  ]);
  for (const name of names) {
    const { text } = render(name, valuesOf(name), 'en');
    const isQuestion = !['test', 'compromise_reported', 'invitation', 'enrolment'].includes(name);
    assert.equal(/Wasn’t you\?/.test(text), isQuestion, name);
  }
});

test('invitation: says who invites, and to what, as far as that is known', () => {
  const lead = (values: MailValues) =>
    render('invitation', { url: `${baseUrl}/x`, expiresSeconds: 1800, ...values }, 'en').text.split('\n')[2];
  assert.equal(lead({}), 'You are invited to create an account at Latchkey.');
  assert.equal(lead({ inviter: 'Ada' }), 'Ada invites you to create an account at Latchkey.');
  assert.equal(
    lead({ inviter: 'Ada', application: 'Wiki' }),
    'Ada invites you to create an account at Latchkey. You’ll use it to sign in to Wiki.',
  );
  const { html } = render('invitation', valuesOf('invitation'), 'de');
  assert.ok(html.includes('<b><bdi>Ada Lovelace</bdi></b> lädt Sie ein'));
  assert.doesNotMatch(html, /203\.0\.113/);
});

test('mail: unknown request data is left out', () => {
  const { text, html } = render('account_deleted', { at: start, device: 'Unknown' }, 'en');
  for (const form of [text, html])
    assert.doesNotMatch(form, /Account:|IP address:|Place:|Device:|Unknown|<a /);
  assert.match(text, /Time: 15 January 2027 at 08:00 UTC/);
  const timeOf = (timeZone: string) =>
    /Time: (.*)/.exec(render('test', { at: start, timeZone }, 'en').text)?.[1];
  assert.match(timeOf('Nowhere/Land') ?? '', /08:00 UTC$/);
  assert.match(timeOf('Asia/Tokyo') ?? '', /17:00 GMT\+9$/);
});

test('mail: the code stands by itself, where programs that copy codes find it', () => {
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

const accents = ['#1f6f5c', '#ffffff', '#000000', '#ffff00', '#777777', '#ff0000', 'red;}</style>'];
const COLOR = /#[0-9a-f]{6}/g;

test('mail colours: readable in light, dark and turned over by programs, for every accent', () => {
  const inverted = (color: string): string =>
    color.replace(/[0-9a-f]{2}/g, (part) => (255 - Number.parseInt(part, 16)).toString(16).padStart(2, '0'));
  for (const accent of accents) {
    const light = mailColors(accent, 'light');
    const dark = mailColors(accent, 'dark');
    for (const colors of [light, dark, mapped(light, inverted)]) {
      const pairs = [colors.page, colors.sheet, colors.soft].flatMap((ground) =>
        [colors.text, colors.muted, colors.link].map((color) => [color, ground] as const),
      );
      for (const [color, ground] of [...pairs, [colors.ink, colors.fill] as const])
        assert.ok(contrast(color, ground) >= 4.5, `${accent}: ${color} on ${ground}`);
    }
    const branded = createMailViews({ theme: () => ({ ...plainTheme, accentColor: accent }), baseUrl });
    const { html } = branded('magic_link', valuesOf('magic_link'), 'en');
    const known = new Set<string>([...Object.values(light), ...Object.values(dark), '#ffffff']);
    for (const [color] of html.matchAll(COLOR)) assert.ok(known.has(color), color);
  }
});

test('mail colours: each text and its ground name theirs, both again for dark', () => {
  const { html } = render('new_sign_in', valuesOf('new_sign_in'), 'en');
  assert.match(html, /<meta name="color-scheme" content="light dark">/);
  for (const [, names = '', style = ''] of html.matchAll(/class="([\w ]+)"[^>]*style="([^"]*)"/g)) {
    const of = names.split(' ');
    const isText = of.some((name) => ['ink', 'muted', 'link', 'label'].includes(name));
    const isGround = of.some((name) => ['page', 'sheet', 'soft', 'button', 'mark'].includes(name));
    assert.equal(/(?:^|;)color:/.test(style), isText, names);
    assert.equal(/background-color:/.test(style), isGround, names);
  }
  for (const name of ['page', 'sheet', 'soft', 'ink', 'muted', 'link', 'button', 'label'])
    assert.ok(html.includes(`\n.${name}`) && html.includes(`] .${name}`), name);
});

test('mail colours: Thunderbird in dark mode leaves the button and the ground of the logo', () => {
  const logo = { width: 96, height: 32 };
  const { html } = render('magic_link', valuesOf('magic_link'), 'en', logo);
  const styleOf = (name: string) => new RegExp(`class="${name}"[^>]*style="([^"]*)"`).exec(html)?.[1] ?? '';
  // A ground that is on one element with its text's colour is taken away, any that is bright, too; borders and shadows stay.
  assert.doesNotMatch(styleOf('button'), /(?:^|;)color:/);
  const [, fill] = /background-color:(#\w{6})/.exec(styleOf('button')) ?? [];
  assert.ok(styleOf('button').includes(`border:1px solid ${fill}`));
  assert.match(html, /<a class="button"[^>]*><span class="label" style="color:#ffffff">/);
  assert.match(styleOf('logo'), /box-shadow:inset 0 0 0 400px #ffffff,0 0 0 6px #ffffff/);
});

test('mail with a logo: it comes along inside, with the name for those who do not see it', async () => {
  const logo: MailLogo = { contentType: 'image/png', bytes: new Uint8Array(PIXEL), width: 96, height: 32 };
  const mail = render('test', valuesOf('test'), 'en', logo);
  const sender = { name: 'Latchkey', address: 'robot@example.com', replyTo: '' };
  const one = { id: 'x', to: 'ann@example.com', createdAt: start, ...mail };
  const { html, attachments } = await simpleParser(await compose(one, sender, logo), {
    skipImageLinks: true,
  });
  assert.match(String(html), /<img src="cid:logo" width="96" height="32" alt="Latchkey"/);
  assert.deepEqual(
    attachments.map(({ cid, contentType, related, content }) => [
      cid,
      contentType,
      related,
      content.equals(PIXEL),
    ]),
    [['logo', 'image/png', true, true]],
  );
  // Removed while the mail waited.
  const later = await simpleParser(await compose(one, sender));
  assert.doesNotMatch(String(later.html), /<img/);
  assert.ok(words(String(later.html)).includes('Latchkey'));
  assert.deepEqual(later.attachments, []);
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
