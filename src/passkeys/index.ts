// Passkeys and security keys (WebAuthn): the ceremonies (registration.ts, assertion.ts, recorded in ceremonies.ts),
// and listing and changing an account's passkeys (passkeys.ts, changes.ts). Not here: oidc/entitlements/acr.ts rates a sign-in
// with one; accounts/factor-policy.ts decides which factor an account needs.
import type { Accounts } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { accounts as accountCollection } from '../store/collections.ts';
import { passkeyChallenges, passkeys as passkeyCollection } from '../store/passkeys.ts';
import type { Store } from '../store/port.ts';
import { createPasskeyCeremonies, type PasskeyCeremonies } from './ceremonies.ts';
import { createPasskeyChanges, type PasskeyChanges } from './changes.ts';
import { type AccountPasskeys, createAccountPasskeys } from './passkeys.ts';

export type { OwnPasskey } from './changes.ts';
export type { Passkey, PasskeySignals } from './passkeys.ts';

export interface Passkeys
  extends Pick<AccountPasskeys, 'rpId' | 'origins' | 'list' | 'signals'>,
    PasskeyCeremonies,
    PasskeyChanges {}

export function createPasskeys(deps: {
  store: Pick<Store, 'collection' | 'ephemeral'>;
  clock: Clock;
  baseUrl: string;
  settings: () => SettingValues;
  accounts: Pick<Accounts, 'passkeyAdmins'>;
  events: Pick<Events, 'record' | 'on' | 'emitAndWait' | 'origins'>;
}): Passkeys {
  const { store, clock, baseUrl, settings, events } = deps;
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
    ...createPasskeyCeremonies({ passkeys, events, settings }),
    ...createPasskeyChanges({ ...deps, passkeys }),
  };
}
