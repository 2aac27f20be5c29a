// Second factors other than passkeys: authenticator apps (totp.ts), codes by mail (email-codes.ts), recovery codes,
// trusted devices (trusted-devices.ts), and the limits on guessing them (limit.ts). Start with second-factors.ts,
// which knows an account's factors and verifies codes; sign-in.ts uses it at a sign-in. Not here: the order of pages
// is in interactions/, passkeys are in passkeys/.
import type { Accounts } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Mail } from '../mail/index.ts';
import type { SettingValues } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { type CodeFactors, createCodeFactors } from './second-factors.ts';
import { createSignInFactors, type SignInFactors } from './sign-in.ts';
import type { Seal } from './totp.ts';

export { EMAIL_CODE_COOLDOWN_SECONDS } from './email-codes.ts';
export { toQrDataUri } from './qr.ts';
export { resealTotp } from './reseal-totp.ts';
export { isRequired } from './second-factors.ts';
export { parseSixDigits } from './six-digits.ts';
export type { TrustedDevice, TrustedDevices } from './trusted-devices.ts';

export interface SecondFactors extends CodeFactors, SignInFactors {}

export function createSecondFactors(deps: {
  store: Pick<Store, 'collection' | 'ephemeral'>;
  /** Newest first. */
  secretKeys: readonly string[];
  sealer: Seal;
  clock: Clock;
  settings: () => SettingValues;
  accounts: Pick<Accounts, 'findUsable'>;
  mail: Pick<Mail, 'canSend' | 'queue'>;
  events: Pick<Events, 'record' | 'on' | 'origins'>;
}): SecondFactors {
  const { store, settings, events } = deps;
  const factors = createCodeFactors({
    ...deps,
    accounts: store.collection(model.accounts),
    emailChallenges: store.ephemeral(model.emailChallenges),
    trustedDevices: store.collection(model.trustedDevices),
    rates: store.ephemeral(model.rates),
    issuerName: () => settings().product_name,
  });
  events.on('accountRemoving', ({ accountId }) => factors.removeAllOf(accountId));
  events.on('accountChangedByAdmin', async ({ before, after, isSecondFactorReset }) => {
    // They are already invalid (security-state.ts); this removes them from the store.
    if (isSecondFactorReset || before.emailKey !== after.emailKey)
      await factors.trustedDevices.revokeAll(after.id);
  });
  return { ...factors, ...createSignInFactors({ ...deps, factors }) };
}
