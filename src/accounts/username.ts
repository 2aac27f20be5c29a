// Which usernames we take and their key. Rule for '@' (CVE-2021-3754, checklist R077): a username may contain it
// only if it is the account's own e-mail address. So names without '@' live in the username index alone and names with
// '@' in the e-mail index alone; both are unique, and no write of another account, however parallel, can make a
// sign-in name mean two people. applyChanges() holds the rule within one document, which one write changes at once.
import { parseEmail } from './email.ts';
import { fold, hasHiddenCharacter, lengthOf } from './fold.ts';

export interface Username {
  /** As it is shown: compatibility forms (full-width letters, ligatures) are written plainly. */
  readonly name: string;
  /** What uniqueness and sign-in compare. */
  readonly key: string;
}

const MIN_LENGTH = 3;
const MAX_LENGTH = 64;
const shape = /^[\p{L}\p{M}\p{Nd}._\-@+]+$/u;
const hasLetterOrDigit = /[\p{L}\p{Nd}]/u;
const startsWithMark = /^\p{M}/u;

/** @returns the username, or what is wrong with it in words for the person who typed it */
export function parseUsername(text: string): Username | { readonly problem: string } {
  const name = text.length > MAX_LENGTH * 4 ? text : text.normalize('NFKC').trim();
  const length = lengthOf(name);
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    return { problem: `Must have ${MIN_LENGTH} to ${MAX_LENGTH} characters.` };
  }
  if (hasHiddenCharacter(name)) return { problem: 'Must not contain invisible or control characters.' };
  if (!shape.test(name) || startsWithMark.test(name)) {
    return { problem: 'May contain letters, digits and the characters . _ - @ + only.' };
  }
  if (!hasLetterOrDigit.test(name)) return { problem: 'Must contain a letter or a digit.' };
  if (!name.includes('@')) return { name, key: fold(name) };
  const email = parseEmail(name);
  if (email === undefined) return { problem: 'With an @ it must be a valid e-mail address.' };
  return { name: email.address, key: email.key };
}
