// The accounts as the protocol core reads them, and whether a sign-in that has just written its session may keep it.
import { type Account, type AccountDomain, isLeaving, isUsable } from '../../accounts/index.ts';
import { ACR } from '../../model/acr.ts';
import { isRequired } from '../../second-factors/index.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SettingValues } from '../../settings/index.ts';
import { acrsOf } from './acr.ts';
import { toClaims } from './claims.ts';
import type { AccountDirectory } from './find-account.ts';

interface Deps {
  readonly domain: Pick<AccountDomain, 'accounts' | 'signIns' | 'reportSignIn' | 'assurance'>;
  readonly settings: () => SettingValues;
  readonly config: { readonly baseUrl: string };
}

/** Of an account that its owner is deleting, nothing counts but the sign-in that undoes it. */
const hasSessions = (account: Account): boolean => isUsable(account) && !isLeaving(account);

export function createAccountDirectory({ domain, settings, config }: Deps): AccountDirectory<Account> {
  const { accounts, signIns, reportSignIn, assurance } = domain;
  const reachableAcrs = (account: Account) => acrsOf(assurance.reachable(account));
  return {
    find: (id) => accounts.find(id),
    findShared: (id) => accounts.findShared(id),
    maySignIn: isUsable,
    isUsable: hasSessions,
    isAuthenticationCurrent: assurance.isAuthenticationCurrent,
    isSignInCurrent: assurance.isSignInCurrent,
    reachableAcrs,
    mayAdminister: (account, acr) =>
      acr === ACR.multiFactor ||
      (settings().admin_mfa !== 'required' && !reachableAcrs(account).includes(ACR.multiFactor)),
    isFresh: assurance.isFresh,
    owesSecondFactor: (account) =>
      settings().auth_mode === 'passkey_only' ||
      reachableAcrs(account).length > 1 ||
      isRequired(account, settings().mfa_mode),
    complete: async (account) => (await signIns.complete(account)) !== undefined,
    claims: (account) => toClaims(account, config.baseUrl),
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
  readonly domain: Pick<AccountDomain, 'accounts' | 'assurance'>;
  readonly sessions: Pick<Sessions, 'end' | 'removeOfAccount'>;
}): ConfirmSession {
  const { domain, sessions } = deps;
  const { accounts, assurance } = domain;
  return async ({ accountId, uid, provenAt }) => {
    const account = await accounts.find(accountId);
    if (account && hasSessions(account) && assurance.isSignInCurrent(account, provenAt)) return true;
    await sessions.end(uid);
    if (account === undefined) await sessions.removeOfAccount(accountId);
    return false;
  };
}
