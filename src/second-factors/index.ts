// Second factors beside passkeys: authenticator apps (totp.ts), mailed codes (email-codes.ts), recovery codes, browsers that are
// trusted for a while (trusted-devices.ts), and how often each may be guessed (limit.ts). second-factors.ts says which an account
// has and checks a code; sign-in.ts has what happens at a sign-in. In which order pages come is interactions/, passkeys are passkeys/.
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
  accounts: Pick<Accounts, 'find'>;
  mail: Pick<Mail, 'queue'>;
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
    // They are void already (security-state.ts); this takes them out of the store.
    if (isSecondFactorReset || before.emailKey !== after.emailKey)
      await factors.trustedDevices.revokeAll(after.id);
  });
  return { ...factors, ...createSignInFactors({ ...deps, factors }) };
}
