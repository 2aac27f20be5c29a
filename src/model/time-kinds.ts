// Dates, times, and where and in what language somebody is.
import { type Kind, valid } from './kind.ts';

const TIME = 'Must be a time such as 2027-02-24T12:00:00Z (RFC 3339).';

/** @param text as RFC 3339 has it @returns epoch milliseconds; a leap second is the first moment after it (RFC 3339 §5.7) */
export function epochOf(text: string): number {
  const upper = text.toUpperCase();
  const [, before, after] = /^(.*:[0-9]{2}):60(?:\.[0-9]+)?(.*)$/.exec(upper) ?? [];
  return before === undefined ? Date.parse(upper) : Date.parse(`${before}:59${after}`) + 1000;
}

/** Stored as epoch milliseconds, sent as RFC 3339 has it. */
export const time: Kind<number, string> = {
  // RFC 3339 alone: validators also take the suffixes of RFC 9557, such as a time zone in brackets.
  schema: { type: 'string', format: 'date-time', maxLength: 40, pattern: '^[0-9Tt:.Zz+-]+$' },
  control: 'time',
  problems: [TIME],
  parse(given) {
    const text = typeof given === 'string' && given.length <= 40 ? given : '';
    const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text);
    const at = isTime ? epochOf(text) : Number.NaN;
    return valid(!Number.isNaN(at), at, TIME);
  },
  shown: (value) => new Date(value).toISOString(),
  sent: (value) => new Date(value).toISOString(),
};

const BIRTHDATE = 'Must be YYYY-MM-DD, with 0000 for an unknown year, or YYYY.';

function isBirthdate(text: string): boolean {
  const [year, month, day] = text.split('-');
  if (!/^\d{4}(?:-\d{2}-\d{2})?$/.test(text)) return false;
  if (month === undefined || day === undefined) return true;
  // OIDC Core §5.1 allows the year 0000 for an omitted one; 2000 replaces it because it has a 29 February.
  const date = new Date(`${year === '0000' ? '2000' : year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}

const isKnown = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

/** '' for none. */
const known = (
  pattern: string,
  maxLength: number,
  problem: string,
  isIt: (text: string) => boolean,
): Kind<string> => ({
  // As far as a pattern can say it.
  schema: { type: 'string', pattern: `^(?:${pattern})?$`, maxLength },
  control: 'line',
  problems: [problem],
  parse(given) {
    const value = typeof given === 'string' ? given.normalize('NFC').trim() : undefined;
    const isValid = value !== undefined && (value === '' || (value.length <= maxLength && isIt(value)));
    return valid(isValid, value ?? '', problem);
  },
});

export const birthdate = known(
  '[0-9]{4}(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))?',
  10,
  BIRTHDATE,
  isBirthdate,
);

export const zone = known(
  '[A-Za-z+-][A-Za-z0-9:/_+-]*',
  64,
  'Must be a time zone such as Europe/Zurich.',
  (text) => isKnown(() => new Intl.DateTimeFormat('en', { timeZone: text })),
);

/** RFC 5646 §2.1 without the tags of old; `_` in place of `-`, as some write it. */
const languageParts = [
  '(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})',
  '(?:[_-][A-Za-z]{4})?',
  '(?:[_-](?:[A-Za-z]{2}|[0-9]{3}))?',
  '(?:[_-](?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*',
  '(?:[_-][A-WYZa-wyz0-9](?:[_-][A-Za-z0-9]{2,8})+)*',
  '(?:[_-][Xx](?:[_-][A-Za-z0-9]{1,8})+)?',
];

/** OIDC Core §5.1: some implementations write en_US. */
export const locale = known(languageParts.join(''), 64, 'Must be a language tag such as de-CH.', (text) =>
  isKnown(() => Intl.getCanonicalLocales(text.replaceAll('_', '-'))),
);
