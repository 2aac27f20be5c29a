// What owners change of themselves, by the rows of a user.
import { ownNames } from '../model/users/rows.ts';
import type { Account } from './account.ts';
import { toUser } from './to-user.ts';

/** @returns each with its value as a form has it; '' for none */
export function ownMembersOf(account: Account): Readonly<Record<string, string>> {
  const shown = new Map<string, unknown>(Object.entries(toUser(account, account.updatedAt)));
  return Object.fromEntries(ownNames.map((name) => [name, String(shown.get(name) ?? '')]));
}
