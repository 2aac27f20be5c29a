// The user who is signed in with a browser or an access token, for the pages and APIs of ours that are not the protocol:
// the account is usable, nothing ended the session since, and no required second factor is missing.
import type Koa from 'koa';
import { type Account, accessOfRole, owesSecondStep } from '../../accounts/index.ts';
import { AppError } from '../../errors.ts';
import { ACR } from '../../model/acr.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import type { SettingValues } from '../../settings/index.ts';
import { strongestAcr } from '../entitlements/acr.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { countsFrom } from '../models/confirmed.ts';
import { provenTimesOf } from '../models/proven-times.ts';
import type { UserBearer } from '../tokens/user-bearer.ts';
import type { BrowserSession } from './browser-session.ts';

export interface SignedInUser {
  /** Empty where the session of an access token has ended. */
  readonly sessionUid: string;
  readonly account: Account;
  /** Epoch seconds. */
  readonly signedInAt: number;
  /** Whether sensitive acts are allowed (decision 0011). */
  readonly isFresh: boolean;
  /** When each method was authenticated. */
  readonly methodTimes: MethodTimes;
  /** RFC 8176. */
  readonly amr: readonly string[];
  /** scopes.ts lists the classes. */
  readonly acr: string | undefined;
}

export interface BrowserUser extends SignedInUser {
  /** Whether two factors were used, where the account has them or the settings require them. */
  readonly hasUsedFactors: boolean;
  /** The strongest class that the account can reach; undefined: a single factor. */
  readonly strongestAcr: string | undefined;
}

export interface SignedInUsers {
  /** @returns undefined when this browser has no session that counts */
  ofBrowser(ctx: Koa.Context): Promise<BrowserUser | undefined>;
  /** @throws AppError auth.invalid_token when the account is gone, auth.stale when its sign-in lacks a required second factor */
  ofBearer(bearer: UserBearer): Promise<SignedInUser>;
  /** The strongest class that the account can reach; undefined: a single factor. */
  strongestAcr(account: Account): string | undefined;
}

interface Deps {
  readonly browser: Pick<BrowserSession, 'current'>;
  readonly directory: AccountDirectory<Account>;
  readonly settings: () => Pick<SettingValues, 'mfa_mode'>;
}

export function createSignedInUsers({ browser, directory, settings }: Deps): SignedInUsers {
  const strongest = (account: Account) => strongestAcr(directory.reachableAcrs(account));

  return {
    strongestAcr: strongest,

    async ofBrowser(ctx) {
      const session = await browser.current(ctx);
      const account = session && (await directory.find(session.accountId));
      if (session === undefined || account === undefined || !directory.isUsable(account)) return undefined;
      const signedInAt = session.loginTs ?? 0;
      if (!directory.isAuthenticationCurrent(account, countsFrom(session, signedInAt))) return undefined;
      const methodTimes = provenTimesOf(session);
      const amr = session.amr ?? [];
      // Signed in before second factors were required: the sign-in that follows asks for what is missing.
      if (owesSecondStep(settings().mfa_mode, { methodTimes, amr })) return undefined;
      return {
        sessionUid: session.uid,
        account,
        signedInAt,
        isFresh: directory.isFresh(account, methodTimes),
        methodTimes,
        amr,
        acr: session.acr,
        hasUsedFactors: directory.mayAdminister(account, session.acr),
        strongestAcr: strongest(account),
      };
    },

    async ofBearer({ id, acr, session }) {
      const account = await directory.find(id);
      if (account === undefined) throw new AppError('auth.invalid_token');
      // What a browser would be asked for at /account; its amr may be of later sign-ins, the token's class is its own.
      const hasSecondStep = acr === ACR.multiFactor || acr === ACR.emailCode;
      const shown = { methodTimes: session?.sessionTimes ?? {}, amr: [] };
      if (!hasSecondStep && owesSecondStep(settings().mfa_mode, shown))
        throw new AppError('auth.stale', { message: 'Sign in again: a second factor is required.' });
      // Who administers is asked for what the Admin UI asks for before anything of theirs is changed.
      const isStrong = accessOfRole(account.role) === undefined || directory.mayAdminister(account, acr);
      return {
        sessionUid: session?.uid ?? '',
        account,
        signedInAt: session?.loginTs ?? 0,
        isFresh: session !== undefined && isStrong && directory.isFresh(account, session.methodTimes),
        methodTimes: session?.methodTimes ?? {},
        amr: session?.amr ?? [],
        acr,
      };
    },
  };
}
