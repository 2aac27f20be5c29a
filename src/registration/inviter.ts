import { type Accounts, displayNameOf } from '../accounts/index.ts';
import type { Events } from '../events/index.ts';

/** @returns the name of the administrator whose request this is, for the mail that it sends; undefined for programs */
export async function inviterOf(deps: {
  readonly events: Pick<Events, 'origins'>;
  readonly accounts: Pick<Accounts, 'find'>;
}): Promise<string | undefined> {
  const actor = deps.events.origins.actor();
  if (actor?.kind !== 'user' || actor.id === undefined) return undefined;
  const account = await deps.accounts.find(actor.id);
  return account && (displayNameOf(account.profile) ?? account.username);
}
