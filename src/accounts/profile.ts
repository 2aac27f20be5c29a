// Validates profile members (OIDC Core §5.1, §5.1.1): short texts, and http(s) links.
import type { Address, Profile } from '../store/collections.ts';
import { hasControlCharacter, lengthOf } from './fold.ts';

type Problem = string | undefined;
type Rule = (value: string) => Problem;

const MAX_TEXT = 255;
const MAX_LINK = 2048;

const text: Rule = (value) => {
  if (lengthOf(value) > MAX_TEXT) return `Must have at most ${MAX_TEXT} characters.`;
  return hasControlCharacter(value) ? 'Must be one line without control characters.' : undefined;
};

// Applications put these into href and src: anything but http(s) would run in their pages.
const link: Rule = (value) => {
  const isLink =
    value.length <= MAX_LINK && /^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/iu.test(value) && URL.canParse(value);
  return isLink ? undefined : 'Must be an http or https address.';
};

const birthdate: Rule = (value) => {
  const problem = 'Must be YYYY-MM-DD, with 0000 for an unknown year, or YYYY.';
  const [year, month, day] = value.split('-');
  if (!/^\d{4}(?:-\d{2}-\d{2})?$/.test(value)) return problem;
  if (month === undefined || day === undefined) return undefined;
  // OIDC Core §5.1 allows the year 0000 for an omitted one; 2000 replaces it because it has a 29 February.
  const date = new Date(`${year === '0000' ? '2000' : year}-${month}-${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day) ? problem : undefined;
};

const isKnown = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};
const zoneinfo: Rule = (value) =>
  value.length <= 64 && isKnown(() => new Intl.DateTimeFormat('en', { timeZone: value }))
    ? undefined
    : 'Must be a time zone such as Europe/Zurich.';
// OIDC Core §5.1: some implementations write en_US.
const locale: Rule = (value) =>
  value.length <= 64 && isKnown(() => Intl.getCanonicalLocales(value.replaceAll('_', '-')))
    ? undefined
    : 'Must be a language tag such as de-CH.';

const profileRules: Readonly<Record<keyof Profile, Rule>> = {
  name: text,
  given_name: text,
  family_name: text,
  middle_name: text,
  nickname: text,
  profile: link,
  picture: link,
  website: link,
  gender: text,
  birthdate,
  zoneinfo,
  locale,
};

const lines: Rule = (value) =>
  lengthOf(value) > MAX_TEXT || hasControlCharacter(value.replace(/\r?\n/g, ' '))
    ? `Must have at most ${MAX_TEXT} characters and no control characters but line ends.`
    : undefined;

const addressRules: Readonly<Record<keyof Address, Rule>> = {
  formatted: lines,
  street_address: lines,
  locality: text,
  region: text,
  postal_code: text,
  country: text,
};

/** Names as in the API, in the order of forms and responses. */
export const profileFields: readonly (keyof Profile)[] = [
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
];
export const addressFields: readonly (keyof Address)[] = [
  'formatted',
  'street_address',
  'locality',
  'region',
  'postal_code',
  'country',
];

/** A text sets the field, null or '' clears it, undefined leaves it. */
export type ProfileChanges = { readonly [Name in keyof Profile]?: string | null | undefined };
export type AddressChanges = { readonly [Name in keyof Address]?: string | null | undefined };

/** OIDC Core §5.1 recommends E.164; users type blanks and brackets. */
export const phoneProblem: Rule = (value) =>
  /^\+?[0-9](?:[0-9 ().-]{1,30})[0-9]$/.test(value)
    ? undefined
    : 'Must be a telephone number such as +41 44 123 45 67.';

type Report = (field: string, problem: string) => void;

function merge<Name extends string>(
  before: { readonly [N in Name]?: string },
  changes: { readonly [N in Name]?: string | null | undefined },
  rules: Readonly<Record<Name, Rule>>,
  names: readonly Name[],
  report: Report,
): { [N in Name]?: string } {
  const after: { [N in Name]?: string } = { ...before };
  for (const name of names) {
    const typed = changes[name];
    if (typed === undefined) continue;
    const value = typed?.normalize('NFC').trim() ?? '';
    const problem = value === '' ? undefined : rules[name](value);
    if (problem !== undefined) report(name, problem);
    if (value === '') delete after[name];
    else after[name] = value;
  }
  return after;
}

export const mergeProfile = (before: Profile, changes: ProfileChanges, report: Report): Profile =>
  merge(before, changes, profileRules, profileFields, report);

/** @returns undefined when the address is empty afterwards */
export function mergeAddress(
  before: Address | undefined,
  changes: AddressChanges | null,
  report: Report,
): Address | undefined {
  if (changes === null) return undefined;
  const after = merge(before ?? {}, changes, addressRules, addressFields, (name, problem) =>
    report(`address.${name}`, problem),
  );
  return Object.keys(after).length === 0 ? undefined : after;
}
