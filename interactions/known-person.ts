// Whom the second step is about, told in no more than this browser already knows: of the first factor alone, which may be stolen,
// nobody learns the name, the picture or the username.
import type Koa from 'koa';
import { type Account, fold } from '../src/accounts/index.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { Person } from '../src/views/index.ts';
import { personOf } from './person.ts';
import type { RememberedPeople } from './remembered-people.ts';

/** @returns undefined where the browser gave a passkey or opened a link, and no name */
export async function knownPerson(
  people: Pick<RememberedPeople, 'list'>,
  ctx: Koa.Context,
  { session, typedLogin = '' }: Pick<BoundInteraction, 'session' | 'typedLogin'>,
  account: Account,
): Promise<Person | undefined> {
  const isSignedIn = session?.accountId === account.id;
  if (isSignedIn || (await people.list(ctx)).some(({ account: { id } }) => id === account.id)) {
    return personOf(account);
  }
  // Another name may have been typed before, for a way in that was not taken.
  const names = [account.username, account.email ?? ''];
  return typedLogin !== '' && names.some((name) => fold(name) === fold(typedLogin))
    ? { username: typedLogin }
    : undefined;
}
