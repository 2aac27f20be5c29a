import { type Account, isUsable } from './account.ts';
import type { Accounts } from './accounts.ts';

/** @returns undefined also when the account is deactivated or being deleted */
export async function findUsable(accounts: Pick<Accounts, 'find'>, id: string): Promise<Account | undefined> {
  const account = await accounts.find(id);
  return account !== undefined && isUsable(account) ? account : undefined;
}
