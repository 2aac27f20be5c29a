// Every mail in every language, as it leaves: what mail programs and spam filters want of it, and what its readers do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simpleParser } from 'mailparser';
import { compose } from '../../src/mail/compose.ts';
import { lintMail } from '../../src/mail/lint.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { type MailTemplate, mailNames } from '../../src/model/mails.ts';
import { type Language, languages } from '../../src/views/strings.ts';
import { plainTheme } from '../pages/server.ts';
import { mailSecrets, sampleValues } from './samples.ts';
import { baseUrl, start } from './support.ts';

/** Gmail cuts a mail off here, and with it the link. */
const CLIPPED_AT = 102 * 1024;
const MAX_HTML = 15 * 1024;
const MAX_SUBJECT = 60;

const render = createMailViews({ theme: () => plainTheme, baseUrl, placeOf: () => 'Berlin' });
const sender = { name: 'Latchkey', address: 'robot@example.com', replyTo: '' };
/** Nothing of them is of our words. */
const names = new Set(['Latchkey', 'Wiki', 'Ada Lovelace', 'Berlin', 'ann']);

interface Sent {
  readonly name: MailTemplate;
  readonly language: Language;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const everywhere: readonly Sent[] = mailNames.flatMap((name) =>
  languages.map((language) => ({ name, language, ...render(name, sampleValues(name), language) })),
);
const each = (check: (sent: Sent, where: string) => void): void => {
  for (const sent of everywhere) check(sent, `${sent.name} ${sent.language}`);
};

const withoutComments = (html: string): string => html.replace(/<!--.*?-->/gs, '');
const words = (html: string): string =>
  withoutComments(html)
    .replace(/<style>.*?<\/style>|<title>.*?<\/title>|<[^>]+>/gs, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, '');
const addresses = (text: string): string[] => text.match(/https?:\/\/\S+/g) ?? [];

test('mails: each is a message with both forms, its headers, and no word of unsubscribing', async () => {
  for (const { name, language, ...mail } of everywhere) {
    const where = `${name} ${language}`;
    const id = `${name}-${language}`;
    const raw = await compose({ id, to: 'ann@example.com', createdAt: start, ...mail }, sender);
    assert.ok(raw.length < CLIPPED_AT, `${where}: ${raw.length}`);
    const { subject, text, html, headers, messageId, date, attachments } = await simpleParser(raw);
    assert.deepEqual([subject, text, html], [mail.subject, mail.text, mail.html], where);
    assert.equal(messageId, `<${id}@example.com>`);
    assert.equal(date?.getTime(), start);
    assert.equal(headers.get('auto-submitted'), 'auto-generated');
    assert.equal(headers.get('x-auto-response-suppress'), 'OOF, AutoReply');
    assert.deepEqual(
      [...headers.keys()].filter((header) => header.startsWith('list')),
      [],
    );
    assert.deepEqual(attachments, []);
  }
});

test('mails: HTML is well-formed, small, in its language and direction', () => {
  each(({ language, html }, where) => {
    assert.ok(Buffer.byteLength(html) <= MAX_HTML, `${where}: ${Buffer.byteLength(html)}`);
    const direction = language === 'ar' ? 'rtl' : 'ltr';
    assert.ok(html.startsWith(`<!doctype html>\n<html lang="${language}" dir="${direction}">`), where);
    // Some programs drop html and body.
    assert.match(html, new RegExp(`<div role="article"[^>]* lang="${language}" dir="${direction}"`), where);
    const open: string[] = [];
    for (const [, end, tag = ''] of withoutComments(html).matchAll(/<(\/?)([a-z]\w*)[^>]*>/g)) {
      if (['meta', 'br', 'img'].includes(tag)) continue;
      if (end === '') open.push(tag);
      else assert.equal(open.pop(), tag, where);
    }
    assert.deepEqual(open, [], where);
  });
});

test('mails: nothing is loaded, and every link is one of ours', () => {
  each(({ html, text }, where) => {
    assert.doesNotMatch(
      withoutComments(html),
      /<(?:table|img|script|link|iframe|form|svg|object)|\bsrc=|url\(|@import|\son\w+=/i,
    );
    for (const address of [...addresses(html), ...addresses(text)])
      assert.ok(address.startsWith(baseUrl), `${where}: ${address}`);
  });
});

test('mails: both forms have the same links, facts and sentences, and one link stands out', () => {
  each(({ html, text }, where) => {
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
    const inText = addresses(text).filter((address) => address !== baseUrl);
    assert.deepEqual([...new Set(links)].sort(), [...new Set(inText)].sort(), where);
    assert.ok(links.length <= 1, `${where}: ${links}`);
    const shown = words(html);
    const lines = text.split('\n').map((line) => line.trim());
    for (const line of lines.filter((line) => !['', '--'].includes(line) && !links.includes(line)))
      for (const part of line.split(/(?<=[?？:：.。]) /))
        assert.ok(shown.includes(part.replace(/\s+/g, '')), `${where}: ${part}`);
  });
});

test('mails: no sentence is left in English', () => {
  const english = new Map(
    everywhere.filter(({ language }) => language === 'en').map((sent) => [sent.name, sent]),
  );
  each(({ name, language, text }, where) => {
    if (language === 'en') return;
    const same = new Set(
      english
        .get(name)
        ?.text.split('\n')
        .map((line) => line.trim()),
    );
    for (const line of text.split('\n').map((line) => line.trim())) {
      const isNeutral = line === '' || line === '--' || addresses(line).length > 0 || /^\d+$/.test(line);
      assert.ok(isNeutral || names.has(line) || !same.has(line), `${where}: ${line}`);
    }
    assert.doesNotMatch(text, / on Windows|\{\w+\}|\b(?:undefined|null|NaN)\b|&#|<\w/, where);
  });
});

test('mails: subjects are short, of one line, and without codes, links or names', () => {
  each(({ subject }, where) => {
    assert.ok(subject.length > 5 && subject.length <= MAX_SUBJECT, `${where}: ${subject.length} ${subject}`);
    assert.doesNotMatch(subject, /[\r\n{}]|https?:/, where);
    for (const secret of [...Object.values(mailSecrets), 'Ada', 'ann', '203.0.113.5'])
      assert.ok(!subject.includes(secret), `${where}: ${subject}`);
  });
});

test('mails: what a list of mails shows beside the subject is a sentence, and no code', () => {
  each(({ html }, where) => {
    const [, preview = ''] = /<div style="display:none[^>]*>([^&<]+)/.exec(html) ?? [];
    assert.ok(preview.trim().length > 10, `${where}: ${preview}`);
    assert.ok(!preview.includes(mailSecrets.code), where);
  });
});

test('mails: the lint that administrators see finds nothing in any, and finds what is wrong', () => {
  each((sent, where) => assert.deepEqual(lintMail(sent, baseUrl), [], where));
  const [good] = everywhere;
  assert.ok(good);
  for (const wrong of [
    { subject: 'x'.repeat(61) },
    { subject: 'a\nb and more' },
    { html: `${good.html}<a href="https://evil.example">x</a>` },
    { html: good.html.padEnd(16 * 1024) },
    { text: `${good.text}Another sentence.` },
    { text: `${good.text}{product}` },
  ])
    assert.notDeepEqual(lintMail({ ...good, ...wrong }, baseUrl), [], JSON.stringify(wrong).slice(0, 60));
});
