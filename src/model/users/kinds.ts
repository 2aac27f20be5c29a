// Kinds of values that only a user has. In all of them '' is none.
import { isMembers } from '../../json.ts';
import { phrase } from '../../phrase.ts';
import type { Kind, Parsed } from '../kind.ts';
import type { Row } from '../row.ts';
import { oneLine } from '../text-kinds.ts';
import { parseEmail } from './email-address.ts';
import { hasControlCharacter, lengthOf } from './fold.ts';
import { parseUsername } from './username.ts';

const MAX_TEXT = 255;
const LONG = phrase`Must have at most ${MAX_TEXT} characters.`;
const SEVERAL_LINES = 'Must be one line without control characters.';

const textOf = (given: unknown): string => (typeof given === 'string' ? given.normalize('NFC').trim() : '\0');

/** One line about a person (OIDC Core §5.1). */
export const short: Kind<string> = {
  schema: { type: 'string', pattern: oneLine, maxLength: MAX_TEXT },
  control: 'line',
  problems: [LONG, SEVERAL_LINES],
  parse(given) {
    const value = textOf(given);
    if (lengthOf(value) > MAX_TEXT) return { problem: String(LONG) };
    return hasControlCharacter(value) ? { problem: SEVERAL_LINES } : { value };
  },
};

export const username: Kind<string> = {
  schema: {
    type: 'string',
    minLength: 3,
    maxLength: 64,
    pattern: '^[._@+-]*[\\p{L}\\p{Nd}][\\p{L}\\p{M}\\p{Nd}._@+-]*$',
  },
  control: 'line',
  problems: [],
  parse(given): Parsed<string> {
    const parsed = parseUsername(textOf(given));
    return 'problem' in parsed ? parsed : { value: parsed.name };
  },
};

const EMAIL = 'Must be an e-mail address such as alice@example.com.';
/** JSON Schema of one (./email-address.ts); internationalized domains included. */
const emailKeywords = { format: 'idn-email', maxLength: 254 };

export const email: Kind<string> = {
  schema: { type: 'string', anyOf: [emailKeywords, { const: '' }] },
  control: 'email',
  problems: [EMAIL],
  parse(given) {
    const value = given === '' ? '' : parseEmail(textOf(given))?.address;
    return value === undefined ? { problem: EMAIL } : { value };
  },
};

/** Besides the primary one. */
export const MAX_OTHER_EMAILS = 4;
const OTHER_EMAILS = 'Must be e-mail addresses such as alice@example.com.';

export const emails: Kind<readonly string[]> = {
  schema: { type: 'array', maxItems: MAX_OTHER_EMAILS, items: { type: 'string', ...emailKeywords } },
  control: 'lines',
  problems: [OTHER_EMAILS],
  parse(given) {
    const parsed = Array.isArray(given) ? given.map((one) => parseEmail(textOf(one))?.address) : [undefined];
    const value = parsed.filter((one) => one !== undefined);
    return value.length < parsed.length ? { problem: OTHER_EMAILS } : { value };
  },
};

/** What is right for it depends on the account and the settings (src/accounts/passwords/). */
export const password: Kind<string> = {
  schema: { type: 'string', minLength: 8, maxLength: 128 },
  control: 'secret',
  problems: [],
  parse: (given) => ({ value: typeof given === 'string' ? given : '' }),
};

type Line = Row<string> & { readonly example: string };
/** Null: none. */
type Texts<Name extends string> = { readonly [N in Name]?: string | null };

/** An object of texts, by their rows: those that are not given stay, null clears one. */
export function texts<const Name extends string>(rows: Readonly<Record<Name, Line>>): Kind<Texts<Name>> {
  const all = new Map<string, Line>(Object.entries(rows));
  const isName = (name: string): name is Name => all.has(name);
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        [...all].map(([name, { kind, description, example }]) => [
          name,
          { anyOf: [{ ...kind.schema, description, examples: [example] }, { type: 'null' }], description },
        ]),
      ),
    },
    control: 'json',
    problems: [...all.values()].flatMap(({ kind }) => kind.problems),
    parse(given): Parsed<Texts<Name>> {
      if (!isMembers(given)) return { problem: 'Must be an object.' };
      const value: { [N in Name]?: string | null } = {};
      const inside: Record<string, string> = {};
      for (const [name, one] of Object.entries(given)) {
        const parsed = one === null ? undefined : all.get(name)?.kind.parse(one);
        if (!isName(name)) inside[name] = 'Unknown field.';
        else if (parsed !== undefined && 'problem' in parsed) inside[name] = parsed.problem;
        else value[name] = parsed?.value || null;
      }
      return Object.keys(inside).length === 0 ? { value } : { problem: '', inside };
    },
  };
}

const unread = {
  control: 'json',
  problems: [],
  parse: () => ({ problem: 'This field cannot be changed.' }),
} as const;

/** Stored otherwise: what tells the two addresses apart. */
export const stoppedChange: Kind<object, { from: string; to: string | null; stopped_at: string }> = {
  ...unread,
  schema: {
    type: 'object',
    properties: {
      from: { type: 'string', description: 'The former primary address.', examples: ['grace@example.com'] },
      to: {
        anyOf: [{ type: 'string', examples: ['grace@work.example'] }, { type: 'null' }],
        description: 'The primary address that it was changed to.',
      },
      stopped_at: { type: 'string', format: 'date-time', description: 'When it was stopped.' },
    },
  },
};

/** What is one, src/accounts/passwords/ says. */
export const hash: Kind<string> = {
  schema: { type: 'string', maxLength: 512 },
  control: 'secret',
  problems: [],
  parse: (given) => ({ value: typeof given === 'string' ? given : '' }),
};
