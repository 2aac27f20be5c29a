// Addresses of an account: which of them count, and how they are counted.
import { parseEmail } from '../model/users/email-address.ts';
import { fold } from '../model/users/fold.ts';
import type { AccountRecord } from '../store/collections.ts';

/** The key by which limits count an address: all spellings of one mailbox share a counter. */
export const addressKey = (text: string): string => parseEmail(text)?.key ?? fold(text);

/**
 * The account's verified address of that spelling: the primary one, or another beside a verified primary one.
 * @returns undefined for any other, which counts for nothing
 */
export function ownAddress(account: Readonly<AccountRecord>, text: string): string | undefined {
  const wanted = addressKey(text);
  if (!account.isEmailVerified) return undefined;
  if (account.emailKey === wanted) return account.email;
  return account.otherEmails?.find(({ key }) => key === wanted)?.address;
}
