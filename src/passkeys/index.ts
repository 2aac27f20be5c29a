// Passkeys and security keys (WebAuthn): the ceremonies (registration.ts, assertion.ts, recorded in ceremonies.ts),
// and listing and changing an account's passkeys (passkeys.ts, changes.ts). Not here: oidc/entitlements/acr.ts rates a sign-in
// with one; accounts/factor-policy.ts decides which factor an account needs.
import { accounts as accountCollection } from '../store/collections.ts';
import { passkeyChallenges, passkeys as passkeyCollection } from '../store/passkeys.ts';
import { createPasskeyCeremonies, type PasskeyCeremonies } from './ceremonies.ts';
import { createPasskeyChanges, type PasskeyChanges } from './changes.ts';
import type { PasskeyDoors } from './doors.ts';
import { type AccountPasskeys, createAccountPasskeys } from './passkeys.ts';

export type { OwnPasskey } from './changes.ts';
export type { Passkey, PasskeySignals } from './passkeys.ts';

export interface Passkeys
  extends Pick<AccountPasskeys, 'rpId' | 'origins' | 'list' | 'signals'>,
    PasskeyCeremonies,
    PasskeyChanges {}

export function createPasskeys(doors: PasskeyDoors): Passkeys {
  const { store, clock, baseUrl, settings, events } = doors;
  const passkeys = createAccountPasskeys({
    accounts: store.collection(accountCollection),
    collection: store.collection(passkeyCollection),
    challenges: store.ephemeral(passkeyChallenges),
    clock,
    baseUrl,
    extraOrigins: () => settings().passkey_extra_origins,
    rpName: () => settings().product_name,
  });
  events.on('accountRemoving', ({ accountId }) => passkeys.removeAllOf(accountId));
  events.on('accountChangedByAdmin', async ({ after, isSecondFactorReset }) => {
    if (isSecondFactorReset) await passkeys.sweep(after.id);
  });
  events.on('addressChangeStopped', ({ accountId }) => passkeys.sweep(accountId));
  const { rpId, origins, list, signals } = passkeys;
  return {
    rpId,
    origins,
    list,
    signals,
    ...createPasskeyCeremonies(doors, passkeys),
    ...createPasskeyChanges(doors, passkeys),
  };
}
