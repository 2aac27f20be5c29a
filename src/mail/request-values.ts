import { deviceName, type Origin } from '../events/index.ts';
import type { Profile } from '../store/collections.ts';
import { profileName } from '../store/search-text.ts';
import type { MailValues } from './templates.ts';
import { shown } from './values.ts';

/** What a mail reports of the request that caused it, and the browser's language. @param at epoch ms */
export function requestValues(
  origin: Origin | undefined,
  at: number,
): { values: MailValues; language: string | undefined } {
  if (origin === undefined) return { values: { at }, language: undefined };
  const { ipAddress, userAgent, language } = origin;
  return { values: { ipAddress, device: deviceName(userAgent), at }, language };
}

interface Named {
  readonly username: string;
  readonly profile: Profile;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** An account by its person's name, and by the username beside it unless that is the same word. */
export function accountValues({ username, profile }: Named): MailValues {
  const name = profileName(profile) ?? '';
  // Of nothing but invisible characters a mail shows nothing.
  if (shown(name) === '') return { name: '', username };
  return { name, username: isSame(name, username) ? '' : username };
}

/**
 * What a mail says of its reader's account. At an address that nobody has proven to be theirs the name would be any text of
 * whoever made the account, to a stranger; of a username the characters are few.
 */
export function readerValues(
  reader: Named & { readonly email?: string | undefined; readonly isEmailVerified: boolean },
  isProven = reader.isEmailVerified,
): MailValues {
  const { username, email = '', profile } = reader;
  const timeZone = profile.zoneinfo ?? '';
  const named = isProven ? accountValues(reader) : { name: '', username };
  // The mail is at that address: it tells no accounts apart.
  const isTold = named.name !== '' && isSame(username, email);
  return { ...named, ...(isTold && { username: '' }), timeZone };
}
