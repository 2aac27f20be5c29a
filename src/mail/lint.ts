// What mail programs, spam filters and readers want of a mail, as it leaves: told to administrators who write texts of their own,
// and held for every mail in every language by test/mail/lint.test.ts.
import type { RenderedMail } from './templates.ts';

/** Gmail cuts a mail off at 102 kB, and with it the link. */
const MAX_HTML = 15 * 1024;
const MAX_SUBJECT = 60;

const words = (html: string): string =>
  html
    .replace(/<!--.*?-->/gs, '')
    .replace(/<style>.*?<\/style>|<title>.*?<\/title>|<[^>]+>/gs, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, '');

const addressesIn = (text: string): string[] => text.match(/https?:\/\/[^\s<"]+/g) ?? [];

/** @returns what is wrong with the mail, in sentences; none for a good one */
export function lintMail({ subject, text, html }: RenderedMail, baseUrl: string): string[] {
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
  const [, preview = ''] = /<div style="display:none[^>]*>([^&<]+)/.exec(html) ?? [];
  const shown = words(html);
  const lines = text.split('\n').map((line) => line.trim());
  const parts = lines
    .filter((line) => !['', '--'].includes(line) && !links.includes(line))
    .flatMap((line) => line.split(/(?<=[?？:：.。]) /));
  const problems: readonly (readonly [isWrong: boolean, problem: string])[] = [
    [subject.length <= 5, 'The subject is too short to say what the e-mail is about.'],
    [subject.length > MAX_SUBJECT, `The subject has ${subject.length} characters; ${MAX_SUBJECT} are shown.`],
    [/[\r\n{}]|https?:/.test(subject), 'The subject has a line break, a brace or an address.'],
    [preview.trim().length <= 10, 'The first sentence is too short for the preview beside the subject.'],
    [Buffer.byteLength(html) > MAX_HTML, 'The HTML is larger than 15 kB: programs would cut it off.'],
    [links.length > 1, 'There is more than one link that goes on.'],
    [
      [...addressesIn(html.replace(/<!--.*?-->/gs, '')), ...addressesIn(text)].some(
        (address) => !address.startsWith(baseUrl),
      ),
      'An address leads elsewhere.',
    ],
    [links.some((link) => !text.includes(link)), 'The plain text lacks a link that the HTML has.'],
    [
      parts.some((part) => !shown.includes(part.replace(/\s+/g, ''))),
      'HTML and plain text do not say the same.',
    ],
    [/\{\w+\}|\b(?:undefined|NaN)\b/.test(text), 'A placeholder was not filled in.'],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}
