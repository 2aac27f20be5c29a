import { displayNameOf } from '../accounts/index.ts';
import type { RegistrationDoors } from './doors.ts';

/** @returns the name of the administrator whose request this is, for the mail that it sends; undefined for programs */
export async function inviterOf({ events, accounts }: RegistrationDoors): Promise<string | undefined> {
  const actor = events.origins.actor();
  if (actor?.kind !== 'user' || actor.id === undefined) return undefined;
  const account = await accounts.find(actor.id);
  return account && (displayNameOf(account.profile) ?? account.username);
}
