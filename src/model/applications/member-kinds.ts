// Kinds of the members that an application registers with (RFC 7591 §2): JSON type, length, characters, public keys only. What depends
// on who asks, or on other members, is a rule of src/clients/metadata-rules.ts.
import { isMembers, isTexts } from '../../json.ts';
import { phrase } from '../../phrase.ts';
import { isBlank } from '../../untrusted-text.ts';
import type { Kind, Parsed, Schema } from '../kind.ts';
import { oneLine } from '../text-kinds.ts';
import type { UriUse } from '../uris.ts';

const MAX_ITEMS = 50;
const MAX_TEXT = 2000;
const MAX_KEYS = 20;
// Control characters, line separators and bidirectional controls, which can make one name look like another.
const hiddenCharacters = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const privateKeyMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv'];

export interface MemberKind<T> extends Kind<T> {
  /** What its addresses are for. */
  readonly use?: UriUse;
  /** The values that anybody may give; absent: any. */
  readonly open?: readonly string[];
  /** And those that only administrators may. */
  readonly closed?: readonly string[];
  /** A text of several words, each one of them. */
  readonly isWords?: true;
}

type Given = Partial<Pick<MemberKind<unknown>, 'use' | 'open' | 'closed' | 'isWords'>> & {
  readonly schema?: Schema;
  readonly maxLength?: number;
  /** What every value is, and what is wrong with others. */
  readonly matching?: { readonly pattern: string; readonly problem: string };
};

const TOO_LONG = phrase`Must not be longer than ${MAX_TEXT} characters.`;
const HIDDEN = 'Must not contain control or text-direction characters.';
const BLANK = 'Must not be blank.';

function textProblem(text: string, maxLength: number): string | undefined {
  if ([...text.normalize('NFC')].length > maxLength)
    return `Must not be longer than ${maxLength} characters.`;
  return hiddenCharacters.test(text) ? HIDDEN : undefined;
}

const checked = <T>(value: T, problem: string | undefined): Parsed<T> =>
  problem === undefined ? { value } : { problem };

const EMPTY = 'Must be a non-empty string.';

export const line = ({
  schema,
  maxLength = MAX_TEXT,
  matching,
  ...about
}: Given = {}): MemberKind<string> => ({
  ...about,
  schema: { type: 'string', ...schema, ...(matching && { pattern: matching.pattern }) },
  control: 'line',
  problems: [EMPTY, TOO_LONG, HIDDEN, ...(matching ? [matching.problem] : [])],
  parse(given) {
    if (typeof given !== 'string' || given === '') return { problem: EMPTY };
    const isOther = matching !== undefined && !new RegExp(matching.pattern).test(given);
    return checked(
      given.normalize('NFC'),
      textProblem(given, maxLength) ?? (isOther ? matching.problem : undefined),
    );
  },
});

const NO_LIST = 'Must be an array of strings.';
const TOO_MANY = phrase`Must not have more than ${MAX_ITEMS} entries.`;

export const list = ({ schema, ...about }: Given = {}): MemberKind<readonly string[]> => ({
  ...about,
  schema: { type: 'array', ...schema },
  control: 'lines',
  problems: [NO_LIST, TOO_MANY],
  parse(given) {
    if (!isTexts(given)) return { problem: NO_LIST };
    if (given.length > MAX_ITEMS) return { problem: String(TOO_MANY) };
    return checked(
      given,
      given.map((text) => textProblem(text, MAX_TEXT)).find((problem) => problem !== undefined),
    );
  },
  typed: (text) =>
    text
      .split(/\r?\n/)
      .map((one) => one.trim())
      .filter(Boolean),
  shown: (value) => value.join('\n'),
});

/** @param open what anybody may give @param words as pages have them */
export const oneOf = (
  open: readonly string[],
  words?: Readonly<Record<string, string>>,
): MemberKind<string> => ({
  ...line({ open, schema: { enum: open } }),
  ...(words && { words, control: 'select' }),
});

/** @param closed what only administrators may give */
export const someOf = (
  open: readonly string[],
  closed: readonly string[] = [],
  schema: Schema = {},
): MemberKind<readonly string[]> =>
  list({ open, closed, schema: { items: { type: 'string', enum: [...open, ...closed] }, ...schema } });

/** Words, separated by spaces. */
export function someWords(open: readonly string[], closed: readonly string[]): MemberKind<string> {
  const all = [...open, ...closed].join('|');
  const pattern = `^(?:${all})(?: (?:${all}))*$`;
  return line({
    open,
    closed,
    isWords: true,
    maxLength: 1000,
    schema: { minLength: 1, maxLength: 1000, pattern },
  });
}

const named = line({ maxLength: 200, schema: { minLength: 1, maxLength: 200, pattern: oneLine } });

export const clientName: MemberKind<string> = {
  ...named,
  problems: [...named.problems, BLANK],
  parse(given) {
    const parsed = named.parse(given);
    return 'value' in parsed && isBlank(parsed.value) ? { problem: BLANK } : parsed;
  },
};

// RFC 3986 §2, without wildcards and fragments, which are never registered.
const uri = "[!$%&'()+-;=?@A-Z_a-z~\\[\\]]+";

/** A link or an image that people see, or an address that this server calls. */
export const address = (use?: UriUse): MemberKind<string> =>
  line({ ...(use && { use }), schema: { format: 'uri', pattern: `^https?://${uri}$` } });

/** Where browsers are sent. */
export const targets: MemberKind<readonly string[]> = list({
  use: 'redirect',
  schema: {
    items: {
      type: 'string',
      format: 'uri',
      maxLength: MAX_TEXT,
      pattern: `^[A-Za-z][A-Za-z0-9+.-]*:${uri}$`,
    },
  },
});

const NO_COUNT = 'Must be a whole number, 0 or more.';

export const count: MemberKind<number> = {
  schema: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
  control: 'number',
  problems: [NO_COUNT],
  parse: (given) =>
    typeof given === 'number' && Number.isSafeInteger(given) && given >= 0
      ? { value: given }
      : { problem: NO_COUNT },
};

const NO_OBJECT = 'Must be an object.';
const NO_KEYS = 'Must have an array of keys.';
const TOO_MANY_KEYS = phrase`Must not have more than ${MAX_KEYS} keys.`;
const PRIVATE = 'Must hold public keys only.';

/** RFC 7517. */
export const publicKeys: MemberKind<Readonly<Record<string, unknown>>> = {
  schema: {
    type: 'object',
    required: ['keys'],
    properties: {
      keys: {
        type: 'array',
        maxItems: MAX_KEYS,
        items: { type: 'object', required: ['kty'] },
        description: 'The public keys, as JSON Web Keys.',
      },
    },
  },
  control: 'json',
  problems: [NO_OBJECT, NO_KEYS, TOO_MANY_KEYS, PRIVATE],
  parse(given) {
    if (!isMembers(given)) return { problem: NO_OBJECT };
    const { keys } = given;
    if (!Array.isArray(keys) || !keys.every(isMembers)) return { problem: NO_KEYS };
    if (keys.length > MAX_KEYS) return { problem: String(TOO_MANY_KEYS) };
    const hasPrivatePart = keys.some((key) => privateKeyMembers.some((member) => Object.hasOwn(key, member)));
    return hasPrivatePart ? { problem: PRIVATE } : { value: given };
  },
};
