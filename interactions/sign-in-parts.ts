// What the steps of a sign-in ask of the domains, with what a browser adds to it: which browsers an account knows, and which
// are trusted with its second factor.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { CompletedSignIn } from './authentication.ts';
import type { InteractionDoors } from './doors.ts';
import { createLastMethodCookie } from './last-method.ts';
import { createPasskeyOfferCookie } from './passkey-offer-cookie.ts';
import { createRememberedPeople } from './remembered-people.ts';
import { createTrustedDeviceCookie } from './trusted-device-cookie.ts';

export type SignInParts = ReturnType<typeof createSignInParts>;

export function createSignInParts(doors: InteractionDoors) {
  const { secondFactors, browsers, events, settings, baseUrl, basePath } = doors;
  const isSecure = baseUrl.startsWith('https:');
  const offer = createPasskeyOfferCookie({ isSecure, basePath });
  const lastMethod = createLastMethodCookie({ isSecure, basePath });
  const people = createRememberedPeople(doors);
  const deviceCookie = createTrustedDeviceCookie(doors, { isSecure, basePath });

  return {
    mode: () => settings().auth_mode,
    declineOffer: offer.decline,
    isOfferDeclined: offer.isDeclined,
    mfaMode: () => settings().mfa_mode,
    isTrustedDevice: deviceCookie.isTrusted,
    trust: deviceCookie.trust,
    trustDays: () => Math.max(1, Math.round(settings().trusted_device_seconds / 86_400)),
    mailFirst: (ctx: Koa.Context, account: Account, boundTo: string) =>
      secondFactors.mailFirst(account, boundTo, browsers.digestOf(ctx, account)),
    lastMethod,
    people,
    /** All that was asked for was given: the account knows this browser from now on. */
    async onComplete(ctx: Koa.Context, account: Account, signIn?: CompletedSignIn): Promise<void> {
      // R149. For an account that knows no browser yet, every one would be new.
      const isNew = (account.knownBrowsers ?? []).length > 0 && !browsers.isKnown(ctx, account);
      await browsers.complete(ctx, account);
      if (signIn !== undefined) lastMethod.keep(ctx, signIn.amr, signIn.isPasskeyNew);
      if (signIn?.isRemembered) people.remember(ctx, account.id);
      if (isNew) events.emit('newBrowserUsed', { account });
    },
  };
}
