import type { Account } from '../accounts/index.ts';
import type { Domains } from '../domains.ts';
import type { AccountDirectory } from './entitlements/find-account.ts';
import type { ProtocolMount } from './mount.ts';

/** With the provider in use, and accounts as the protocol sees them. */
export interface MountedDoors extends Domains {
  readonly mount: ProtocolMount;
  readonly directory: AccountDirectory<Account>;
}
