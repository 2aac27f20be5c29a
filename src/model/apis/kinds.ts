// Kinds of values that only an API has.
import { isMembers, isTexts } from '../../json.ts';
import { phrase } from '../../phrase.ts';
import { groupNamePattern } from '../groups/rows.ts';
import type { Kind, Parsed } from '../kind.ts';
import { oneLine } from '../text-kinds.ts';

export const scopeNamePattern = '^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,99}$';

type Role = 'user' | 'auditor' | 'admin';
const roles: readonly Role[] = ['user', 'auditor', 'admin'];

/** A scope as an administrator writes it: without its internal id. */
export interface ApiScope {
  readonly name: string;
  readonly description: string;
  readonly is_default?: boolean | undefined;
  readonly roles?: readonly Role[] | undefined;
  readonly groups?: readonly string[] | undefined;
}

function scopeOf(given: unknown): ApiScope | undefined {
  if (!isMembers(given) || typeof given.name !== 'string' || typeof given.description !== 'string')
    return undefined;
  const { name, description, is_default: isDefault, roles: asked = [], groups = [] } = given;
  if (!isTexts(asked) || !isTexts(groups)) return undefined;
  const known = roles.filter((role) => asked.includes(role));
  return { name, description, is_default: isDefault === true, roles: known, groups };
}

const SCOPES =
  'a list of at most 100 scopes, each an object with name and description, and optionally is_default (true or false), ' +
  'roles and groups (lists)';

export const scopes: Kind<readonly ApiScope[]> = {
  schema: {
    type: 'array',
    maxItems: 100,
    'x-expected': SCOPES,
    items: {
      type: 'object',
      required: ['name', 'description'],
      properties: {
        name: {
          type: 'string',
          pattern: scopeNamePattern,
          description:
            'What applications request. Not a name of OpenID Connect, nor one that begins with `admin`.',
        },
        description: {
          type: 'string',
          minLength: 1,
          maxLength: 300,
          pattern: oneLine,
          description: 'What the consent page says that it allows.',
        },
        is_default: { type: 'boolean', description: 'Granted when a request names no scope of the API.' },
        roles: {
          type: 'array',
          maxItems: roles.length,
          items: { type: 'string', enum: roles },
          description: 'A user needs one of these roles or groups for it; none: every user may have it.',
        },
        groups: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', maxLength: 64, pattern: groupNamePattern },
          description: 'Names of groups: see `roles`.',
        },
      },
    },
  },
  control: 'json',
  problems: [],
  parse(given): Parsed<readonly ApiScope[]> {
    const read = Array.isArray(given) ? given.map(scopeOf) : [undefined];
    const value = read.filter((one) => one !== undefined);
    return value.length < read.length ? { problem: `Must be ${SCOPES}.` } : { value };
  },
};

const CLIENTS = '“all” or a list of at most 500 client ids';

export const clients: Kind<'all' | readonly string[]> = {
  schema: {
    anyOf: [
      { type: 'string', enum: ['all'] },
      { type: 'array', maxItems: 500, items: { type: 'string', minLength: 1, maxLength: 200 } },
    ],
    'x-expected': CLIENTS,
  },
  control: 'lines',
  problems: [],
  parse(given): Parsed<'all' | readonly string[]> {
    if (given === 'all') return { value: given };
    return isTexts(given) ? { value: [...new Set(given)].sort() } : { problem: `Must be ${CLIENTS}.` };
  },
};

type Grants = Readonly<Record<string, readonly string[]>>;
const GRANTS = 'an object: client ids, each with a list of names of scopes';

export const grants: Kind<Grants> = {
  schema: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string', maxLength: 1000 } },
    'x-expected': GRANTS,
  },
  control: 'json',
  problems: [],
  parse(given): Parsed<Grants> {
    const all = isMembers(given) ? Object.entries(given) : [];
    const value = Object.fromEntries(
      all.flatMap(([id, names]) => (isTexts(names) ? [[id, names] as const] : [])),
    );
    return isMembers(given) && Object.keys(value).length === all.length
      ? { value }
      : { problem: `Must be ${GRANTS}.` };
  },
};

type Claim = 'profile' | 'roles' | 'groups';
const words: Readonly<Record<Claim, string>> = {
  profile: 'Name and other profile claims',
  roles: 'Role of the user here',
  groups: 'Groups of the user',
};
const isClaim = (given: unknown): given is Claim => typeof given === 'string' && Object.hasOwn(words, given);
const CLAIMS = phrase`Must be one of ${Object.keys(words).join(', ')}.`;

/** Of a form: a box for each. */
export const claims: Kind<readonly Claim[]> = {
  schema: { type: 'array', maxItems: 3, items: { type: 'string', enum: Object.keys(words) } },
  control: 'select',
  words,
  problems: [CLAIMS],
  parse(given) {
    const isValid = Array.isArray(given) && given.every(isClaim);
    return isValid ? { value: [...new Set(given)].sort() } : { problem: String(CLAIMS) };
  },
};

/** What is wrong with one, src/apis/identifier.ts says. */
export const identifier: Kind<string> = {
  schema: { type: 'string', format: 'uri', maxLength: 500, pattern: '^[A-Za-z][A-Za-z0-9+.-]*:[^?#% ]+$' },
  control: 'url',
  problems: [],
  parse: (given) => ({ value: typeof given === 'string' ? given : '' }),
};
