// What the steps of a sign-in ask of the domains, with what a browser adds to it: which browsers an account knows, and which
// are trusted with its second factor.
import type Koa from 'koa';
import { type Account, type Accounts, hasPasskey, hasSecondFactor } from '../src/accounts/index.ts';
import type { Events } from '../src/events/index.ts';
import type { Sealer } from '../src/keys/index.ts';
import type { Passkeys } from '../src/passkeys/index.ts';
import type { SecondFactors } from '../src/second-factors/index.ts';
import type { SettingValues } from '../src/settings/index.ts';
import type { CompletedSignIn } from './authentication.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { createLastMethodCookie } from './last-method.ts';
import { createPasskeyOfferCookie } from './passkey-offer-cookie.ts';
import { createRememberedPeople } from './remembered-people.ts';
import { createTrustedDeviceCookie } from './trusted-device-cookie.ts';

interface Deps {
  readonly accounts: Pick<Accounts, 'find' | 'findUsable' | 'isByOldWays'>;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Pick<Passkeys, 'stepAfterKey'>;
  readonly knownBrowsers: KnownBrowsers;
  readonly events: Pick<Events, 'emit'>;
  readonly settings: () => SettingValues;
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  readonly baseUrl: string;
  readonly basePath: string;
}

export type SignInParts = ReturnType<typeof createSignInParts>;

export function createSignInParts(deps: Deps) {
  const { accounts, secondFactors, knownBrowsers, events, settings, baseUrl, basePath } = deps;
  const isSecure = baseUrl.startsWith('https:');
  const offer = createPasskeyOfferCookie({ isSecure, basePath });
  const lastMethod = createLastMethodCookie({ isSecure, basePath });
  const people = createRememberedPeople({ ...deps, find: (id) => accounts.find(id) });
  const mode = () => settings().auth_mode;
  const deviceCookie = createTrustedDeviceCookie({
    isSecure,
    basePath,
    secondFactors,
    seconds: () => settings().trusted_device_seconds,
  });

  return {
    mode,
    declineOffer: offer.decline,
    passkeys: {
      mode,
      isOwnedBy: hasPasskey,
      stepAfterKey: deps.passkeys.stepAfterKey,
      isOfferDeclined: offer.isDeclined,
    },
    mfaMode: () => settings().mfa_mode,
    findUsable: (id: string) => accounts.findUsable(id),
    isByOldWays: accounts.isByOldWays,
    stepOf: secondFactors.stepOf,
    hasFactor: hasSecondFactor,
    isTrustedDevice: deviceCookie.isTrusted,
    trust: deviceCookie.trust,
    trustDays: () => Math.max(1, Math.round(settings().trusted_device_seconds / 86_400)),
    methodsOf: secondFactors.methodsOf,
    canUseEmail: secondFactors.canUseEmail,
    mailFirst: (ctx: Koa.Context, account: Account, boundTo: string) =>
      secondFactors.mailFirst(account, boundTo, knownBrowsers.digestOf(ctx, account)),
    knownAs: knownBrowsers.digestOf,
    fromBrowser: knownBrowsers.fromBrowser,
    isUnchanged: knownBrowsers.isUnchanged,
    rememberBrowser: knownBrowsers.remember,
    lastMethod,
    people,
    /** All that was asked for was given: the account knows this browser from now on. */
    async onComplete(ctx: Koa.Context, account: Account, signIn?: CompletedSignIn): Promise<void> {
      // R149. For an account that knows no browser yet, every one would be new.
      const isNew = (account.knownBrowsers ?? []).length > 0 && !knownBrowsers.isKnown(ctx, account);
      await knownBrowsers.complete(ctx, account);
      if (signIn !== undefined) lastMethod.keep(ctx, signIn.amr, signIn.isPasskeyNew);
      if (signIn?.isRemembered) people.remember(ctx, account.id);
      if (isNew) events.emit('newBrowserUsed', { account });
    },
  };
}
