// Which passwords are accepted (decision 0014): long enough, not built around the user or this
// service, neither trivial nor common. There are no composition rules.
import { fold, lengthOf } from '../../model/users/fold.ts';
import { isCommonPassword } from './common-passwords.ts';

/** Code points after NFKC. */
const MAX_PASSWORD_LENGTH = 128;

/** Decision 0014 (NIST SP 800-63B-4 §3.1.1.2): where a password can be the only factor. */
const SOLE_FACTOR_MIN_LENGTH = 15;

/** The minimum of code points for a new password. Existing passwords stay valid. */
export function minPasswordLength(settings: {
  readonly password_min_length: number;
  readonly auth_mode: string;
  readonly mfa_mode: string;
}): number {
  const isSoleFactor = settings.auth_mode === 'password' && settings.mfa_mode === 'off';
  return Math.max(settings.password_min_length, isSoleFactor ? SOLE_FACTOR_MIN_LENGTH : 0);
}

export interface PasswordContext {
  /** Code points, from the runtime settings. */
  readonly minLength: number;
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  /** Names of this service: product and host. */
  readonly contextWords?: readonly string[] | undefined;
}

// Shorter names occur in too many words to forbid them.
const MIN_CONTAINED = 3;

const rows = [
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
];

/** One character or short group repeated, or one run along the alphabet, the digits or a row of keys. */
function isTrivial(folded: string): boolean {
  for (let size = 1; size <= 4; size += 1) {
    if (folded === folded.slice(0, size).repeat(folded.length).slice(0, folded.length)) return true;
  }
  const backwards = Array.from(folded).reverse().join('');
  return rows.some((row) => row.repeat(2).includes(folded) || row.repeat(2).includes(backwards));
}

// Shorter parts, like "com", occur in too many words.
const MIN_WORD = 4;
const MIN_REMAINDER = 8;

/** Whether little remains without these words: true for `latchkey2026!`, not for a sentence that contains one. */
function isBuiltAround(folded: string, words: readonly string[]): boolean {
  const parts = words
    .flatMap((word) => fold(word).split(/[^\p{L}\p{N}]+/u))
    .filter((part) => lengthOf(part) >= MIN_WORD);
  const rest = parts.reduce((text, part) => text.replaceAll(part, ''), folded);
  return rest !== folded && lengthOf(rest.replace(/[^\p{L}\p{N}]/gu, '')) < MIN_REMAINDER;
}

/**
 * @returns the problems, each a sentence that says how to fix it; empty when the password is accepted. Never contains
 *   a part of the password.
 */
export function passwordProblems(password: string, context: PasswordContext): string[] {
  const normalized = password.normalize('NFKC');
  const length = lengthOf(normalized);
  if (length < context.minLength) return [`Must have at least ${context.minLength} characters.`];
  if (length > MAX_PASSWORD_LENGTH) return [`Must have at most ${MAX_PASSWORD_LENGTH} characters.`];

  const problems: string[] = [];
  const folded = fold(normalized);
  const isPart = (word: string | undefined): boolean => {
    const key = fold(word ?? '');
    return lengthOf(key) >= MIN_CONTAINED && folded.includes(key);
  };
  const localPart = (address: string | undefined): string | undefined => address?.split('@')[0];
  if (isPart(context.username) || isPart(localPart(context.username))) {
    problems.push('Must not contain the username.');
  }
  if (isPart(localPart(context.email))) problems.push('Must not contain the e-mail address.');
  const domain = context.email?.split('@')[1] ?? '';
  if (isBuiltAround(folded, [...(context.contextWords ?? []), domain])) {
    problems.push('Must not be built around the name of this service or of your e-mail provider.');
  }
  if (isTrivial(folded)) problems.push('Must not be a simple repetition or sequence.');
  else if (isCommonPassword(folded)) {
    problems.push('Must not be one of the passwords that are used most, because those are tried first.');
  }
  return problems;
}
