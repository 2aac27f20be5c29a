// Which usernames are accepted, and their key. A username may contain '@' only if it is the account's own e-mail
// address (CVE-2021-3754). So names without '@' are in the username index alone and names with '@' in
// the e-mail index alone; both are unique, and no concurrent write of another account can make a sign-in name match
// two accounts. applyChanges() enforces the rule within one document, which changes in one write.
import { parseEmail } from './email-address.ts';
import { fold, hasHiddenCharacter, lengthOf } from './fold.ts';

export interface Username {
  /** As displayed: compatibility forms (full-width letters, ligatures) are replaced by plain ones. */
  readonly name: string;
  /** What uniqueness and sign-in compare. */
  readonly key: string;
}

const MIN_LENGTH = 3;
const MAX_LENGTH = 64;
const shape = /^[\p{L}\p{M}\p{Nd}._\-@+]+$/u;
const hasLetterOrDigit = /[\p{L}\p{Nd}]/u;
const startsWithMark = /^\p{M}/u;

/** @returns the username, or a description of the problem for the user */
export function parseUsername(text: string): Username | { readonly problem: string } {
  const name = text.length > MAX_LENGTH * 4 ? text : text.normalize('NFKC').trim();
  const length = lengthOf(name);
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    return { problem: `Must have ${MIN_LENGTH} to ${MAX_LENGTH} characters.` };
  }
  if (hasHiddenCharacter(name)) return { problem: 'Must not contain invisible or control characters.' };
  if (!shape.test(name) || startsWithMark.test(name)) {
    return { problem: 'May only contain letters, digits and the characters . _ - @ +.' };
  }
  if (!hasLetterOrDigit.test(name)) return { problem: 'Must contain a letter or a digit.' };
  if (!name.includes('@')) return { name, key: fold(name) };
  const email = parseEmail(name);
  if (email === undefined) return { problem: 'With an @ it must be a valid e-mail address.' };
  return { name: email.address, key: email.key };
}
