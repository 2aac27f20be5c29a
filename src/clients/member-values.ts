// Checks one metadata member by itself: JSON type, length, characters, public keys only.
import { isMembers } from '../json.ts';
import { isBlank } from '../untrusted-text.ts';
import { type MemberName, type MemberType, metadataMembers } from './metadata-members.ts';

const MAX_ITEMS = 50;
const MAX_NAME = 200;
const MAX_TEXT = 2000;
const MAX_SCOPE = 1000;
const MAX_KEYS = 20;
// Control characters, line separators and bidirectional controls, which can make one name look like another.
const hiddenCharacters = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const privateKeyMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv'];

export const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const typeProblems: Readonly<Record<MemberType, (value: unknown) => string | undefined>> = {
  string: (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a non-empty string'),
  strings: (value) => {
    if (!isStringList(value)) return 'must be an array of strings';
    return value.length > MAX_ITEMS ? `must not have more than ${MAX_ITEMS} entries` : undefined;
  },
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  integer: (value) =>
    Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number, 0 or more',
  object: (value) => (isMembers(value) ? undefined : 'must be an object'),
};

/** @returns what is wrong with the member's value, or undefined */
export function valueProblem(name: MemberName, value: unknown): string | undefined {
  const problem = typeProblems[metadataMembers[name].type](value);
  if (problem !== undefined) return problem;
  if (name === 'jwks') return keysProblem(value);
  const texts = isStringList(value) ? value : typeof value === 'string' ? [value] : [];
  const limit = name === 'client_name' ? MAX_NAME : name === 'scope' ? MAX_SCOPE : MAX_TEXT;
  for (const text of texts) {
    if ([...text.normalize('NFC')].length > limit) return `must not be longer than ${limit} characters`;
    if (hiddenCharacters.test(text)) return 'must not contain control or text-direction characters';
  }
  return name === 'client_name' && texts[0] !== undefined && isBlank(texts[0])
    ? 'must not be blank'
    : undefined;
}

function keysProblem(jwks: unknown): string | undefined {
  const keys = isMembers(jwks) ? jwks.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isMembers)) return 'must have an array of keys';
  if (keys.length > MAX_KEYS) return `must not have more than ${MAX_KEYS} keys`;
  const hasPrivatePart = keys.some((key) => privateKeyMembers.some((member) => Object.hasOwn(key, member)));
  return hasPrivatePart ? 'must hold public keys only' : undefined;
}
