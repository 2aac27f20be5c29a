// Second factors other than passkeys: authenticator apps (totp.ts), codes by mail (email-codes.ts), recovery codes,
// trusted devices (trusted-devices.ts), and the limits on guessing them (limit.ts). Start with second-factors.ts,
// which knows an account's factors and verifies codes; sign-in.ts uses it at a sign-in. Not here: the order of pages
// is in interactions/, passkeys are in passkeys/.
import * as model from '../store/collections.ts';
import type { SecondFactorDoors } from './doors.ts';
import { type CodeFactors, createCodeFactors } from './second-factors.ts';
import { createSignInFactors, type SignInFactors } from './sign-in.ts';

export { emailCooldownSeconds } from './email-codes.ts';
export { toQrDataUri } from './qr.ts';
export { resealTotp } from './reseal-totp.ts';
export { isRequired } from './second-factors.ts';
export { parseSixDigits } from './six-digits.ts';
export type { TrustedDevice, TrustedDevices } from './trusted-devices.ts';

export interface SecondFactors extends CodeFactors, SignInFactors {}

export function createSecondFactors(doors: SecondFactorDoors): SecondFactors {
  const { store, settings, events } = doors;
  const factors = createCodeFactors({
    ...doors,
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
  return { ...factors, ...createSignInFactors(doors, factors) };
}
