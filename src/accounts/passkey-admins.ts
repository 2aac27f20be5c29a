// Where passkeys alone sign in, an administrator who can come in stays. The check reads before the write and no further: two
// who take the last such administrators away at the same moment are still let back in by ADMIN_TOKEN, with which the mode can
// be changed.
import { AppError } from '../errors.ts';
import type { FieldFilter, Query } from '../store/port.ts';
import { type Account, activeAdminFilters } from './account.ts';
import { hasPasskey } from './security-state.ts';

interface Deps {
  readonly find: (id: string) => Promise<Account | undefined>;
  readonly query: (query: Query) => Promise<{ readonly items: readonly Account[] }>;
  readonly isPasskeyOnly: () => boolean;
}

const withPasskey: FieldFilter = { field: 'passkey_count', op: 'gte', value: 1 };

export function createPasskeyAdmins({ find, query, isPasskeyOnly }: Deps) {
  /** Whether, without this one, there is an administrator who can come in by passkey. */
  async function hasOther(accountId?: string): Promise<boolean> {
    const { items } = await query({
      filters: [...activeAdminFilters, withPasskey],
      sort: 'id',
      order: 'asc',
      limit: 2,
    });
    return items.some(({ id }) => id !== accountId);
  }

  return {
    hasOther,
    /** Before this account can come in no more, or is no administrator any more. @throws AppError passkey.last_admin */
    async keepOne(accountId: string): Promise<void> {
      if (!isPasskeyOnly()) return;
      const account = await find(accountId);
      const isOne = account?.role === 'admin' && account.isActive && hasPasskey(account);
      if (isOne && !(await hasOther(accountId))) throw new AppError('passkey.last_admin');
    },
  };
}
