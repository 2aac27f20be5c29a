// People who chose "Remember me here": whom the sign-in page offers by name. The cookie is sealed and has account ids alone, so
// neither scripts nor who finds it in a backup learn a name from it; the names are looked up. It is no proof of anything: who
// is chosen still signs in.
import type Koa from 'koa';
import { type Account, fold } from '../src/accounts/index.ts';
import { secretDigest } from '../src/ids.ts';
import type { InteractionDoors } from './doors.ts';
import { createPreferenceCookie } from './preference-cookie.ts';

export interface RememberedPerson {
  /** Names the person in this browser's addresses and forms; elsewhere it means nothing. */
  readonly handle: string;
  readonly account: Account;
}

export interface RememberedPeople {
  /** The latest first; without a cookie no store is asked. */
  list(ctx: Koa.Context): Promise<readonly RememberedPerson[]>;
  remember(ctx: Koa.Context, accountId: string): void;
  forget(ctx: Koa.Context, handle: string): void;
}

/** A cookie of five is 330 bytes. */
const MAX_PEOPLE = 5;
const PURPOSE = 'remembered people';

const handleOf = (id: string): string => secretDigest(`remembered ${id}`).slice(0, 12);

/** Whom a `login_hint` means among them (OIDC Core §3.1.2.1). */
export const personHinted = (
  people: readonly RememberedPerson[],
  hint: string,
): RememberedPerson | undefined =>
  people.find(({ account: { username, email = '' } }) => [fold(username), fold(email)].includes(fold(hint)));

export function createRememberedPeople({
  sealer,
  accounts,
  baseUrl,
  basePath,
}: InteractionDoors): RememberedPeople {
  const isSecure = baseUrl.startsWith('https:');
  const name = `${isSecure ? '__Host-' : ''}latchkey_people`;
  const cookie = createPreferenceCookie(name, { isSecure, basePath });

  function idsOf(ctx: Koa.Context): readonly string[] {
    const sealed = cookie.read(ctx);
    if (sealed === undefined) return [];
    try {
      return sealer.open(PURPOSE, sealed).split(',').filter(Boolean).slice(0, MAX_PEOPLE);
    } catch {
      // Forged, altered, or sealed with a key that is gone: nobody is remembered.
      return [];
    }
  }

  const keep = (ctx: Koa.Context, ids: readonly string[]): void =>
    cookie.write(ctx, sealer.seal(PURPOSE, ids.slice(0, MAX_PEOPLE).join(',')));

  return {
    async list(ctx) {
      const found = await Promise.all(idsOf(ctx).map((id) => accounts.find(id)));
      // A deleted account leaves the list; that one is locked or deactivated is told to no one here.
      return found.flatMap((account) =>
        account === undefined ? [] : [{ handle: handleOf(account.id), account }],
      );
    },
    remember: (ctx, accountId) => keep(ctx, [accountId, ...idsOf(ctx).filter((id) => id !== accountId)]),
    forget(ctx, handle) {
      const ids = idsOf(ctx);
      const left = ids.filter((id) => handleOf(id) !== handle);
      if (left.length < ids.length) keep(ctx, left);
    },
  };
}
