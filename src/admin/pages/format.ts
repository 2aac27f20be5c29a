// Formats times, durations and numbers for the pages of the Admin UI, in the page's language, and in UTC where a time is written out.
import { dateFormat } from '../../dates.ts';
import { AMR_WORDS } from '../../model/ways-to-sign-in.ts';
import { durationIn, durationUnits } from './durations.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'year' | 'day' | 'hour' | 'minute' | 'second';

const units: readonly (readonly [seconds: number, unit: Unit])[] = [
  [365 * DAY, 'year'],
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1, 'second'],
];

/** @returns such as "30 days", "1 hour 30 minutes", "10 seconds" */
function spanOf(seconds: number, language: string): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [length, unit] of units) {
    const count = Math.floor(rest / length);
    if (count === 0) continue;
    parts.push(inUnits(count, unit, language));
    rest -= count * length;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? inUnits(0, 'second', language) : parts.join(' ');
}

/** With the language's plural form. */
const inUnits = (count: number, unit: Unit, language: string): string =>
  new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

const short = (seconds: number): string => {
  if (seconds < HOUR) return `${Math.max(1, Math.floor(seconds / MINUTE))} min`;
  return seconds < DAY ? `${Math.floor(seconds / HOUR)} h` : `${Math.floor(seconds / DAY)} d`;
};

/** English says "3 min ago" and "in 2 d", shorter than Intl does. */
function relative(seconds: number, language: string): string {
  if (language === 'en') return seconds > 0 ? `${short(seconds)} ago` : `in ${short(-seconds)}`;
  const size = Math.abs(seconds);
  const [length, unit] =
    size < HOUR
      ? ([MINUTE, 'minute'] as const)
      : size < DAY
        ? ([HOUR, 'hour'] as const)
        : ([DAY, 'day'] as const);
  const count = Math.max(1, Math.floor(size / length));
  return new Intl.RelativeTimeFormat(language, { style: 'short' }).format(seconds > 0 ? -count : count, unit);
}

const dayIn = (language: string): Intl.DateTimeFormat =>
  dateFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });

const shortDayIn = (language: string): Intl.DateTimeFormat =>
  dateFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Such as "3 min ago", "in 12 min", "14 Mar 2026". @param at RFC 3339 or null */
function agoOf(at: unknown, now: number, language: string): string {
  if (typeof at !== 'string') return 'never';
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  if (Math.abs(seconds) < 45) return seconds >= 0 ? 'just now' : 'in a moment';
  if (Math.abs(seconds) >= 30 * DAY) return dayIn(language).format(Date.parse(at));
  return relative(seconds, language);
}

export const count = (value: unknown): string => new Intl.NumberFormat('en').format(Number(value));

/** How a user signed in: "Password and code". What only sums the others up (`mfa`, `user`) is left out. */
function methodWords(amr: readonly string[], language: string, say: (text: string) => string): string {
  const words = Object.entries(AMR_WORDS)
    .filter(([name, word]) => word !== '' && amr.includes(name))
    .map(([, word]) => say(word));
  const text = new Intl.ListFormat(language, { type: 'conjunction' }).format(words);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Of a user, what personName takes. */
export interface Person {
  readonly username: string;
  readonly name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
}

/** What a person is called: never empty. */
export const personName = ({ username, name, given_name, family_name }: Person): string =>
  name || [given_name, family_name].filter(Boolean).join(' ') || username;

/** Functions for templates. @param now epoch milliseconds @param say translates a text of this product */
export const createFormats = (now: number, language: string, say: (text: string) => string) => ({
  ago: (at: unknown): string => agoOf(at, now, language),
  /** Before a full stop: German abbreviates with one of its own. */
  lastAgo: (at: unknown): string => agoOf(at, now, language).replace(/\.$/, ''),
  /** A point of a chart, such as "14:00" or "14 Mar". @param label an hour, or a day as 2026-03-14 */
  pointOf: (label: string): string =>
    DATE.test(label) ? shortDayIn(language).format(Date.parse(label)) : label,
  /** Such as "2026-03-14 09:26:53 UTC". */
  stamp: (at: unknown): string => (typeof at === 'string' ? `${at.slice(0, 19).replace('T', ' ')} UTC` : ''),
  span: (seconds: unknown): string => spanOf(Number(seconds), language),
  durationIn,
  durationUnits,
  count: (value: unknown): string => new Intl.NumberFormat(language).format(Number(value)),
  /** With one decimal place, such as "6.0" or "6,0". */
  decimal: (value: unknown): string =>
    new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(
      Number(value),
    ),
  methodWords: (amr: readonly string[]): string => methodWords(amr, language, say),
  deviceWords: (device: string): string => (device === 'Unknown' ? 'Unknown device' : device),
  /** Of what src/events/device-name.ts says: each language puts it into words of its own. */
  deviceParts(device: unknown) {
    const [, browser, system] = /^(.+) on (.+)$/.exec(String(device)) ?? [];
    return system === undefined ? undefined : { browser, system };
  },
  personName,
  json: (value: unknown): string => JSON.stringify(value, null, 2),
});
