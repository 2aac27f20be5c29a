// The accounts as the protocol core reads them, and whether a sign-in that has just written its session may keep it.
import {
  type Account,
  type Accounts,
  type CompleteSignIn,
  isAuthenticationCurrent,
  isFresh,
  isSignInCurrent,
  isUsable,
  type ReportSignIn,
} from '../accounts/index.ts';
import { ACR } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import { isRequired } from '../second-factors/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { reachableAcrs } from './acr.ts';
import { toClaims } from './claims.ts';
import type { AccountDirectory } from './find-account.ts';

interface Deps {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly signIns: Pick<CompleteSignIn, 'complete'>;
  readonly reportSignIn: ReportSignIn;
  readonly settings: () => SettingValues;
  readonly clock: Clock;
}

export function createAccountDirectory(deps: Deps): AccountDirectory<Account> {
  const { accounts, signIns, reportSignIn, settings, clock } = deps;
  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: settings().auth_mode });
  return {
    find: (id) => accounts.find(id),
    isUsable: (account) => isUsable(account),
    isAuthenticationCurrent,
    isSignInCurrent,
    reachableAcrs: (account) => reachableAcrs(account, policy()),
    mayAdminister: (account, acr) =>
      acr === ACR.multiFactor ||
      (settings().admin_mfa !== 'required' && !reachableAcrs(account, policy()).includes(ACR.multiFactor)),
    isFresh: (account, times) => isFresh(account, policy(), times, clock()),
    owesSecondFactor: (account) =>
      policy().authMode === 'passkey_only' ||
      reachableAcrs(account, policy()).length > 1 ||
      isRequired(account, policy().mfaMode),
    complete: async (account) => (await signIns.complete(account)) !== undefined,
    claims: (account) => ({ ...toClaims(account) }),
    reportSignIn,
  };
}

/** Whether a sign-in authenticated then may have its session; where it may not, the session just written is ended. */
export type ConfirmSession = (login: {
  readonly accountId: string;
  readonly uid: string;
  /** Epoch milliseconds. */
  readonly provenAt: number;
}) => Promise<boolean>;

export function createConfirmSession(deps: {
  readonly accounts: Pick<Accounts, 'find'>;
  readonly sessions: Pick<Sessions, 'end' | 'removeOfAccount'>;
}): ConfirmSession {
  const { accounts, sessions } = deps;
  return async ({ accountId, uid, provenAt }) => {
    const account = await accounts.find(accountId);
    if (account && isUsable(account) && isSignInCurrent(account, provenAt)) return true;
    await sessions.end(uid);
    if (account === undefined) await sessions.removeOfAccount(accountId);
    return false;
  };
}
