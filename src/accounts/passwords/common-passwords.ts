// The passwords that attackers try first: those of the package that meet the minimum length, about
// 18,000. Loaded at the first new password, because most processes never check one.
import { createRequire } from 'node:module';
import { fold } from '../../model/users/fold.ts';

// No setting allows shorter passwords.
const MIN_LENGTH = 8;

const isPlain = /^[!-~]+$/;

const load = createRequire(import.meta.url);
let common: ReadonlySet<string> | undefined;

function read(): ReadonlySet<string> {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = load('@zxcvbn-ts/language-common');
  const long = dictionary['passwords-common'].filter((password) => password.length >= MIN_LENGTH);
  // Nearly all are plain ASCII, for which toLowerCase() equals fold() in a tenth of the time.
  return new Set(long.map((password) => (isPlain.test(password) ? password.toLowerCase() : fold(password))));
}

/** @param folded the password after fold(), so that Password and PASSWORD are the same */
export function isCommonPassword(folded: string): boolean {
  common ??= read();
  return common.has(folded);
}
