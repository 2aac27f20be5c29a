// With passkeys as the only way to sign in, keeps at least one administrator who has one. It checks before the write
// without locking: if two concurrent requests remove the last two, ADMIN_TOKEN still allows changing the mode.
import { AppError } from '../errors.ts';
import type { FieldFilter, Query } from '../store/port.ts';
import { type Account, activeAdminFilters, isActiveAdmin, isLeaving } from './account.ts';
import { hasPasskey } from './security-state.ts';

interface Deps {
  readonly find: (id: string) => Promise<Account | undefined>;
  readonly query: (query: Query) => Promise<{ readonly items: readonly Account[] }>;
  readonly isPasskeyOnly: () => boolean;
}

/** Of which one stays, unless all of them asked for their deletion. */
const MOST = 100;

const withPasskey: FieldFilter = { field: 'passkey_count', op: 'gte', value: 1 };

export interface PasskeyAdmins {
  /** Whether another administrator can sign in with a passkey. */
  hasOther(accountId?: string): Promise<boolean>;
  /** Before this account loses its last passkey or the administrator's role. @throws AppError passkey.last_admin */
  keepOne(accountId: string): Promise<void>;
}

export function createPasskeyAdmins({ find, query, isPasskeyOnly }: Deps): PasskeyAdmins {
  async function hasOther(accountId?: string): Promise<boolean> {
    const { items } = await query({
      filters: [...activeAdminFilters, withPasskey],
      sort: 'id',
      order: 'asc',
      limit: MOST,
    });
    return items.some((item) => item.id !== accountId && !isLeaving(item));
  }

  return {
    hasOther,
    async keepOne(accountId: string): Promise<void> {
      if (!isPasskeyOnly()) return;
      const account = await find(accountId);
      const isOne = account !== undefined && isActiveAdmin(account) && hasPasskey(account);
      if (isOne && !(await hasOther(accountId))) throw new AppError('passkey.last_admin');
    },
  };
}
