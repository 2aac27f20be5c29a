// The accounts as the protocol core reads them, and whether a sign-in that has just written its session may keep it.

import { type Account, isLeaving, isUsable } from '../../accounts/index.ts';
import type { Domains } from '../../domains.ts';
import { ACR } from '../../model/acr.ts';
import { isRequired } from '../../second-factors/index.ts';
import { acrsOf } from './acr.ts';
import { toClaims } from './claims.ts';
import type { AccountDirectory } from './find-account.ts';

/** Of an account that its owner is deleting, nothing counts but the sign-in that undoes it. */
const hasSessions = (account: Account): boolean => isUsable(account) && !isLeaving(account);

export function createAccountDirectory(doors: Domains): AccountDirectory<Account> {
  const { accounts, signIns, reportSignIn, assurance, settings, baseUrl } = doors;
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
    claims: (account) => toClaims(account, baseUrl),
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

export function createConfirmSession({ accounts, assurance, sessions }: Domains): ConfirmSession {
  return async ({ accountId, uid, provenAt }) => {
    const account = await accounts.find(accountId);
    if (account && hasSessions(account) && assurance.isSignInCurrent(account, provenAt)) return true;
    await sessions.end(uid);
    if (account === undefined) await sessions.removeOfAccount(accountId);
    return false;
  };
}
