// Finds the account of a sign-in name in exactly one index, so that a name never matches two accounts.

import { parseEmail } from '../model/users/email-address.ts';
import { fold } from '../model/users/fold.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { EphemeralCollection, Stored } from '../store/port.ts';

export interface LoginName {
  readonly index: 'username' | 'email';
  readonly key: string;
}

// Longer than any stored name; bounds the work of folding untrusted input.
const MAX_LENGTH = 320;

/** @returns which index to search; undefined for a text that cannot be a name */
export function parseLoginName(text: string): LoginName | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  // What takes names in our mails apart, so that none becomes a link (src/mail/values.ts), comes along when one is copied. No
  // name has it.
  const typed = text.replaceAll('\u200b', '');
  const key = fold(typed);
  if (!key.includes('@')) return key === '' ? undefined : { index: 'username', key };
  // Folded first: the full-width ＠ is also an @, and after that only the domain needs IDNA.
  const email = parseEmail(typed.normalize('NFKC'));
  return email === undefined ? undefined : { index: 'email', key: email.key };
}

/** Two accounts have it only where an older version gave one's further address to another as its primary one, whose it is then. */
export async function findByEmailKey(
  collection: Pick<EphemeralCollection<AccountRecord>, 'findBy'>,
  key: string,
): Promise<Stored<AccountRecord> | undefined> {
  const found = await collection.findBy('email', key);
  return found.find(({ value }) => value.emailKey === key) ?? found[0];
}

/**
 * An e-mail address signs in only when verified, or when it is also the username (see username.ts). An account that
 * is being deleted is not found.
 */
export async function findByLoginName(
  collection: Pick<EphemeralCollection<AccountRecord>, 'findBy'>,
  name: LoginName,
): Promise<Stored<AccountRecord> | undefined> {
  const stored =
    name.index === 'email'
      ? await findByEmailKey(collection, name.key)
      : (await collection.findBy(name.index, name.key))[0];
  if (stored === undefined || stored.value.deletingAt !== undefined) return undefined;
  const { usernameKey, isEmailVerified, emailKey, otherEmails = [], addressChange } = stored.value;
  if (usernameKey === name.key) return stored;
  // Where the address was the username too, it is by that name that the owner comes in to decide.
  const isFormer = addressChange?.stoppedAt !== undefined && addressChange.usernameKey === name.key;
  const isAddress = emailKey === name.key || otherEmails.some(({ key }) => key === name.key);
  const isItsName = isFormer || (isEmailVerified && isAddress);
  return isItsName ? stored : undefined;
}
