// Formats times and durations for the pages of the Admin UI: English, and UTC where a time is written out.
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const units: readonly (readonly [seconds: number, one: string, many: string])[] = [
  [365 * DAY, 'year', 'years'],
  [DAY, 'day', 'days'],
  [HOUR, 'hour', 'hours'],
  [MINUTE, 'minute', 'minutes'],
  [1, 'second', 'seconds'],
];

/** @returns such as "30 days", "1 hour 30 minutes", "10 seconds" */
function spanOf(seconds: number): string {
  const parts: string[] = [];
  let rest = seconds;
  for (const [length, one, many] of units) {
    const count = Math.floor(rest / length);
    if (count === 0) continue;
    parts.push(`${count} ${count === 1 ? one : many}`);
    rest -= count * length;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0 seconds' : parts.join(' ');
}

const short = (seconds: number): string => {
  if (seconds < HOUR) return `${Math.max(1, Math.floor(seconds / MINUTE))} min`;
  return seconds < DAY ? `${Math.floor(seconds / HOUR)} h` : `${Math.floor(seconds / DAY)} d`;
};

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

export const count = (value: unknown): string => new Intl.NumberFormat('en').format(Number(value));

/** RFC 8176 and our own, in the order in which they are said. */
const METHODS: readonly (readonly [string, string])[] = [
  ['pwd', 'password'],
  ['hwk', 'passkey on one device'],
  ['swk', 'passkey'],
  ['email_link', 'link by e-mail'],
  ['enrolment_link', 'set-up link'],
  ['recovery_code', 'recovery code'],
  ['otp', 'code'],
];

/** How a user signed in: "Password and code". What only sums the others up (`mfa`, `user`) is left out. */
function methodWords(amr: readonly string[]): string {
  const words = METHODS.filter(([name]) => amr.includes(name)).map(([, word]) => word);
  const text = new Intl.ListFormat('en', { type: 'conjunction' }).format(words);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface Person {
  readonly username: string;
  readonly name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
}

/** What a person is called: never empty. */
export const personName = ({ username, name, given_name, family_name }: Person): string =>
  name || [given_name, family_name].filter(Boolean).join(' ') || username;

/** Functions for templates. @param now epoch milliseconds */
export const createFormats = (now: number) => ({
  /** Such as "3 min ago", "in 12 min", "14 Mar 2026". @param at RFC 3339 or null */
  ago(at: unknown): string {
    if (typeof at !== 'string') return 'never';
    const seconds = Math.round((now - Date.parse(at)) / 1000);
    if (Math.abs(seconds) < 45) return seconds >= 0 ? 'just now' : 'in a moment';
    if (Math.abs(seconds) >= 30 * DAY) return day.format(Date.parse(at));
    return seconds > 0 ? `${short(seconds)} ago` : `in ${short(-seconds)}`;
  },
  /** Such as "2026-03-14 09:26:53 UTC". */
  stamp: (at: unknown): string => (typeof at === 'string' ? `${at.slice(0, 19).replace('T', ' ')} UTC` : ''),
  span: (seconds: unknown): string => spanOf(Number(seconds)),
  count,
  methodWords,
  deviceWords: (device: string): string => (device === 'Unknown' ? 'Unknown device' : device),
  personName,
  json: (value: unknown): string => JSON.stringify(value, null, 2),
});
