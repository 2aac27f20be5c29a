// Owns putting together accounts and what a sign-in leaves behind: sessions, grants and consents (create-app.ts builds
// the rest).
import { availableParallelism } from 'node:os';
import { type Account, isAuthenticationCurrent, isProofCurrent, isUsable } from '../accounts/account.ts';
import { createAccounts } from '../accounts/accounts.ts';
import { createAuthenticate } from '../accounts/authenticate.ts';
import { toClaims } from '../accounts/claims.ts';
import { isFresh } from '../accounts/freshness.ts';
import { createGroups } from '../accounts/groups.ts';
import { estimatedMs } from '../accounts/passwords/hash-work.ts';
import {
  createPasswords,
  defaultHashParameters,
  type HashParameters,
} from '../accounts/passwords/password.ts';
import { minPasswordLength } from '../accounts/passwords/password-rules.ts';
import { createRefusalTime } from '../accounts/passwords/refusal-time.ts';
import { createApiKeys } from '../clients/api-keys.ts';
import { createFindRestricted } from '../clients/restricted.ts';
import type { Clock } from '../clock.ts';
import { newId, newSecret, secretDigest } from '../ids.ts';
import { reachableAcrs } from '../oidc/acr.ts';
import type { AccountDirectory } from '../oidc/find-account.ts';
import { ACR } from '../oidc/scopes.ts';
import { isRequired } from '../second-factors/second-factors.ts';
import { createConsents } from '../sessions/consents.ts';
import { createGrants } from '../sessions/grants.ts';
import { createSessions } from '../sessions/sessions.ts';
import type { SettingValues } from '../settings/schema.ts';
import { apiKeys as apiKeyRecords, groups as groupRecords } from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { reportedSignIns } from './audit.ts';
import type { Protection } from './protection.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly baseUrl: string;
  readonly protection: Protection;
  /** Default: decisions §8. */
  readonly hashParameters?: HashParameters;
}

// More waiting sign-ins than this would wait longer than a person does.
const MAX_WAITING_HASHES = 128;

export type AccountParts = ReturnType<typeof createAccountParts>;

export function createAccountParts(parts: Parts) {
  const { store, clock, current, baseUrl, protection, hashParameters } = parts;
  const { audit, events } = protection;
  const collection = store.collection(model.accounts);
  const grants = createGrants({ store });
  const sessions = createSessions({ store, clock, grants, events });
  const consents = createConsents({ collection: store.collection(model.consents), clock, events });
  const apiKeys = createApiKeys({
    collection: store.collection(apiKeyRecords),
    clock,
    newId,
    newSecret,
    secretDigest,
  });
  const passwords = createPasswords({
    ...(hashParameters && { parameters: hashParameters }),
    maxInFlight: availableParallelism(),
    maxQueued: MAX_WAITING_HASHES,
  });
  const accounts = createAccounts({
    settings: current,
    collection,
    facts: store.collection(model.facts),
    clock,
    newId,
    passwords,
    minPasswordLength: () => minPasswordLength(current()),
    endSessions: (accountId) => sessions.endAllOf(accountId),
    contextWords: () => [current().product_name, new URL(baseUrl).hostname],
    events,
  });
  for (const remove of [consents.removeOfAccount, apiKeys.removeAllOf, sessions.removeOfAccount])
    events.on('accountRemoving', ({ accountId }) => remove(accountId));
  const groups = createGroups({
    collection: store.collection(groupRecords),
    accounts: collection,
    clock,
    findRestricted: createFindRestricted(store.collection(model.clients)),
  });
  const { memoryKib, passes } = hashParameters ?? defaultHashParameters;
  const refusalTime = createRefusalTime({
    facts: store.collection(model.facts),
    clock,
    // Twice: what an older release hashed with other parameters is no other kind.
    ownMs: 2 * estimatedMs(`$argon2id$v=19$m=${memoryKib},t=${passes},p=1`),
    verify: passwords.verify,
    onError: protection.refusalTimeUnknown,
  });
  const signInParts = {
    refusals: {
      msFor: refusalTime.msFor,
      met: (hash: string, ms: number) => void refusalTime.note(hash, ms).catch(protection.refusalTimeUnknown),
    },
    collection,
    clock,
    passwords,
    settings: current,
    ...protection.signInEvents,
    hasOtherWayIn({ passkeys = [], email, isEmailVerified }: model.AccountRecord): boolean {
      const { auth_mode: mode, allow_password_reset: canReset, allow_magic_link: canUseLinks } = current();
      const hasMailbox = email !== undefined && isEmailVerified;
      return (mode !== 'password' && passkeys.length > 0) || (hasMailbox && (canReset || canUseLinks));
    },
  };
  const authenticate = protection.limitSignIns(createAuthenticate(signInParts));
  /** By somebody who is signed in already: counted and locked as a sign-in is, and no sign-in in the audit log. */
  const checkPassword = protection.limitSignIns(
    createAuthenticate({
      ...signInParts,
      onOutcome: (event) =>
        event.outcome === 'success' ? undefined : protection.signInEvents.onOutcome(event),
    }),
  );
  const policy = () => ({ mfaMode: current().mfa_mode, authMode: current().auth_mode });
  const directory: AccountDirectory<Account> = {
    find: (id) => accounts.find(id),
    isUsable: (account) => isUsable(account),
    isAuthenticationCurrent,
    isProofCurrent,
    reachableAcrs: (account) => reachableAcrs(account, policy()),
    mayAdminister: (account, acr) =>
      acr === ACR.multiFactor ||
      (current().admin_mfa !== 'required' && !reachableAcrs(account, policy()).includes(ACR.multiFactor)),
    isFresh: (account, times) => isFresh(account, policy(), times, clock()),
    owesSecondFactor: (account) =>
      policy().authMode === 'passkey_only' ||
      reachableAcrs(account, policy()).length > 1 ||
      isRequired(account, policy().mfaMode),
    complete: protection.knownBrowsers.completeWithout,
    claims: (account) => ({ ...toClaims(account) }),
    reportSignIn: reportedSignIns(audit),
  };

  /** Whether a sign-in proven then may have its session; where it may not, the session just written is ended. */
  async function confirmSession(login: {
    readonly accountId: string;
    readonly uid: string;
    readonly provenAt: number;
  }): Promise<boolean> {
    const account = await accounts.find(login.accountId);
    if (account && isUsable(account) && isProofCurrent(account, login.provenAt)) return true;
    await sessions.end(login.uid);
    if (account === undefined) await sessions.removeOfAccount(login.accountId);
    return false;
  }

  return {
    grants,
    sessions,
    consents,
    groups,
    accounts,
    authenticate,
    checkPassword,
    refusalTime,
    directory,
    confirmSession,
  };
}
