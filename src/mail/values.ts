// Which values a mail may contain. Anyone may request a password reset for someone else's address, so nothing that the
// requester chose may change the meaning of our mail (R006, R117, R121).
import { isIP } from 'node:net';
import { type MailTemplate, mailRows } from '../model/mails.ts';
import type { MailValues } from './templates.ts';

const MAX_TEXT = 100;
const MAX_URL = 2000;

/** Line breaks, bidirectional controls, invisible characters and lone surrogates. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Mail programs turn letters and digits around a dot, and URL schemes, into links. */
const device = /^(?!.*[\p{L}\p{N}]\.\p{L})[\p{L}\p{N} .,()+-]{1,60}$/u;

/** Of the IANA database. */
const timeZone = /^[A-Za-z0-9+_/-]{1,64}$/;

const clean = (text: string): string =>
  Array.from(text.replace(hidden, '')).slice(0, MAX_TEXT).join('').trim();

/** What mail programs make links of: schemes, and letters or digits around a dot, an at sign or a slash, whole-width ones included. */
const joints = /([:.@/\\\u2024\u3002\uff0e\uff0f\uff1a\uff20\uff61])(?=[\p{L}\p{N}/\\])/gu;
export const looksLikeAddress =
  /[\p{L}\p{M}\p{N}][.\u2024\u3002\uff0e\uff61][\p{L}\p{N}]|[@\uff20]|[:\uff1a][/\\\uff0f]/u;

/**
 * A text of a person's or an application's choosing, as a mail shows it. One that looks like an address is taken apart by
 * characters without width, since programs would make a link of it, and it would be a stranger's link in our mail.
 */
export function shown(text: string): string {
  const cleaned = clean(text);
  return looksLikeAddress.test(cleaned) ? cleaned.replace(joints, '$1\u200b') : cleaned;
}

const isOurs = (url: string, baseUrl: string): boolean =>
  url.length <= MAX_URL &&
  /^[!-~]+$/.test(url) &&
  !/["'<>\\^`{|}]/.test(url) &&
  (url === baseUrl || [`${baseUrl}/`, `${baseUrl}?`].some((start) => url.startsWith(start)));

/** How a value is validated; undefined: it is omitted, and the template has a text for that. */
const kinds: Readonly<Record<string, (text: string, baseUrl: string) => string | undefined>> = {
  url(text, baseUrl) {
    if (!isOurs(text, baseUrl)) throw new TypeError('a link in a mail must lead to BASE_URL');
    return text;
  },
  code(text) {
    if (!/^[\w-]{1,64}$/.test(text))
      throw new TypeError('a code in a mail must be letters, digits and dashes');
    return text;
  },
  ipAddress: (text) => (isIP(text) === 0 ? undefined : text),
  device: (text) => (device.test(text) ? text : undefined),
  timeZone: (text) => (timeZone.test(text) ? text : undefined),
};

function take(name: string, value: string | number, baseUrl: string): string | number | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${name} in a mail must be a finite number`);
    return value;
  }
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  return kind === undefined ? shown(value) || undefined : kind(value, baseUrl);
}

/**
 * @param defaults.at epoch ms, if the values have no time
 * @throws TypeError for a missing value, or a link or code that is not one of ours
 */
export function safeValues(
  template: MailTemplate,
  values: MailValues,
  defaults: { readonly baseUrl: string; readonly at: number },
): MailValues {
  const taken: Record<string, string | number> = { at: defaults.at };
  for (const [name, value] of Object.entries(values)) {
    const safe = take(name, value, defaults.baseUrl);
    if (safe !== undefined) taken[name] = safe;
  }
  const missing = mailRows[template].needs.filter((name) => taken[name] === undefined);
  if (missing.length > 0) throw new TypeError(`mail ${template} needs ${missing.join(', ')}`);
  return taken;
}
