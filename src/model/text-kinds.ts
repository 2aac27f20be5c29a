// Texts that people write. '' is none where a row's absent value is null: nothing is stored then.
import { phrase } from '../phrase.ts';
import { isBlank } from '../untrusted-text.ts';
import { type Kind, valid } from './kind.ts';

// Without escapes such as \w and \d, which mean more in other languages than in ECMAScript.
const control = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';

/** Texts without control characters and without ones that change the reading direction, as a pattern of JSON Schema. */
export const oneLine = `^[^${control}]*$`;
const severalLines = `^(?:[^${control}]|\\r?\\n)*$`;

// Texts appear in headers, mails and pages: no control characters, line breaks or bidirectional overrides.
const isOneLine = (text: string): boolean =>
  /^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u.test(text);

const trimmed = (given: unknown, max: number): string | undefined =>
  typeof given === 'string' && given.length <= max * 4 ? given.normalize('NFC').trim() : undefined;

const isWithin = (text: string, min: number, max: number): boolean => {
  const { length } = Array.from(text);
  return length >= min && length <= max;
};

/** One line, its length in characters as a reader counts them. */
export function text(minLength: number, maxLength: number): Kind<string> {
  const problem = phrase`Must be one line of ${minLength} to ${maxLength} characters.`;
  return {
    schema: { type: 'string', pattern: oneLine, minLength, maxLength },
    control: 'line',
    problems: [problem],
    parse(given) {
      const value = trimmed(given, maxLength);
      const isValid = value !== undefined && isWithin(value, minLength, maxLength) && isOneLine(value);
      return valid(isValid, value ?? '', problem);
    },
  };
}

/** A name that others read: nothing invisible in its place. */
export function name(maxLength: number): Kind<string> {
  const plain = text(1, maxLength);
  const blank = 'Must not be blank.';
  return {
    ...plain,
    problems: [...plain.problems, blank],
    parse(given) {
      return typeof given === 'string' && given !== '' && isBlank(given)
        ? { problem: blank }
        : plain.parse(given);
    },
  };
}

export function paragraphs(maxLength: number): Kind<string> {
  const problem = phrase`Must have at most ${maxLength} characters and no control characters but line ends.`;
  return {
    schema: { type: 'string', pattern: severalLines, maxLength },
    control: 'lines',
    problems: [problem],
    parse(given) {
      const value = trimmed(given, maxLength);
      const isValid =
        value !== undefined && isWithin(value, 0, maxLength) && isOneLine(value.replace(/\r?\n/g, ' '));
      return valid(isValid, value ?? '', problem);
    },
  };
}

/** As it is typed; '' for none. */
export function anyText(maxLength: number): Kind<string> {
  const problem = phrase`Must have at most ${maxLength} characters.`;
  return {
    schema: { type: 'string', maxLength },
    control: 'line',
    problems: [problem],
    parse: (given) => {
      const value = typeof given === 'string' ? given : undefined;
      return valid(value !== undefined && value.length <= maxLength, value ?? '', problem);
    },
  };
}

/** @param pattern holds for the whole text, in the words of both ECMAScript and JSON Schema */
export const matching = (pattern: string, maxLength: number, problem: string): Kind<string> => ({
  schema: { type: 'string', pattern, maxLength },
  control: 'line',
  problems: [problem],
  parse: (given) =>
    typeof given === 'string' && given.length <= maxLength && new RegExp(pattern, 'u').test(given)
      ? { value: given }
      : { problem },
});

const MAX_URL = 2048;

const ADDRESS =
  'Must be an http or https address without user name and password, special characters %-encoded, or empty.';

function isWebAddress(given: string): boolean {
  // The URL parser drops tabs and line breaks and rewrites backslashes, so check the text itself.
  if (given.length > MAX_URL || !/^https?:\/\/[!-~]+$/i.test(given)) return false;
  if (/[\\"'<>`;,\s]/.test(given) || !URL.canParse(given)) return false;
  const { username, password } = new URL(given);
  return username === '' && password === '';
}

/** '' for none. Used in href, src and a page's CSP: http and https only, no credentials. */
export const url: Kind<string> = {
  schema: {
    type: 'string',
    // As far as a pattern can say it.
    pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[!#$%&()*+./0-9:=?@A-Z\\[\\]^_a-z{|}~-]+)?$',
    maxLength: MAX_URL,
  },
  control: 'url',
  problems: [ADDRESS],
  parse: (given) =>
    typeof given === 'string' && (given === '' || isWebAddress(given))
      ? { value: given }
      : { problem: ADDRESS },
};

/** '' for none. Of a person, who may write it as browsers show it; applications put it into href and src. */
export const link: Kind<string> = {
  schema: { type: 'string', pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^ ]+)?$', maxLength: MAX_URL },
  control: 'url',
  problems: ['Must be an http or https address.'],
  parse(given) {
    const value = trimmed(given, MAX_URL);
    const isLink =
      value !== undefined &&
      value.length <= MAX_URL &&
      /^https?:\/\/[^\s\p{Cc}\p{Cf}]+$/iu.test(value) &&
      URL.canParse(value);
    return valid(value === '' || isLink, value ?? '', 'Must be an http or https address.');
  },
};

export const color: Kind<string> = {
  schema: { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' },
  control: 'color',
  problems: ['Must be a colour such as #1f6f5c.'],
  parse: (given) =>
    typeof given === 'string' && /^#[0-9a-f]{6}$/i.test(given)
      ? { value: given.toLowerCase() }
      : { problem: 'Must be a colour such as #1f6f5c.' },
};

const PHONE = 'Must be a telephone number such as +41 44 123 45 67.';

/** '' for none. OIDC Core §5.1 recommends E.164; people type blanks and brackets. */
export const phone: Kind<string> = {
  schema: { type: 'string', pattern: '^(?:[+]?[0-9][0-9 ().-]{1,30}[0-9])?$', maxLength: 34 },
  control: 'line',
  problems: [PHONE],
  parse(given) {
    const value = trimmed(given, 34);
    const isPhone = value !== undefined && /^\+?[0-9](?:[0-9 ().-]{1,30})[0-9]$/.test(value);
    return valid(value === '' || isPhone, value ?? '', PHONE);
  },
};
