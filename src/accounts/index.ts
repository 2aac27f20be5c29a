// Accounts: their data and the use cases that change it (accounts.ts, where to start), groups and memberships,
// passwords and their limits (authenticate.ts), locks, known browsers, and completing a sign-in. Not here: second
// factors, passkeys and registration are domains above, which subscribe to the removal of accounts and to changes by
// administrators.
import { availableParallelism } from 'node:os';
import { createFindApiForGroup } from '../apis/index.ts';
import { createFindRestricted } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { type RateLimits, turnOf } from '../rate-limits/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { groups as groupCollection } from '../store/administration.ts';
import { apis } from '../store/apis.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createAccounts } from './accounts.ts';
import { createAssurance } from './assurance.ts';
import { createCompleteSignIn } from './complete-sign-in.ts';
import { createGroups } from './groups.ts';
import { createImportAccount } from './import.ts';
import { createPasswordChecks } from './password-checks.ts';
import { estimatedMs } from './passwords/hash-work.ts';
import { createPasswords, defaultHashParameters, type HashParameters } from './passwords/password.ts';
import { minPasswordLength } from './passwords/password-rules.ts';
import { createRefusalTime } from './passwords/refusal-time.ts';
import { createReportSignIn } from './sign-in-events.ts';

export { groupNamePattern } from '../model/groups/rows.ts';
export { parseEmail } from '../model/users/email-address.ts';
export { fold } from '../model/users/fold.ts';
export { type Account, activeAdminFilters, isLeaving, isUsable, toAccount } from './account.ts';
export {
  addressChangeOf,
  isDecided,
  isFormerAddress,
  isOldAddress,
  oldWaysOf,
  withKept,
} from './address-change.ts';
export { problemOfChosenUsername } from './chosen-username.ts';
export type { CompleteSignIn } from './complete-sign-in.ts';
export type { Accounts, ChangedAccount, NewAccount } from './contract.ts';
export { displayNameOf } from './display-name.ts';
export { addressKey, ownAddress } from './email.ts';
export { isDomainWelcome } from './email-domains.ts';
export { mayBeLeftWith } from './factor-policy.ts';
export { finishInterrupted } from './finish-interrupted-job.ts';
export { owesSecondStep } from './freshness.ts';
export { type Group, memberFilter, toGroup } from './groups.ts';
export { countBrowserCode, isKnownBrowser, uncountBrowserCode } from './known-browsers.ts';
export { parseLoginName } from './login-name.ts';
export { ownMembersOf } from './own-members.ts';
export { checkNewPassword } from './passwords/check-new-password.ts';
export type { HashParameters } from './passwords/password.ts';
export { minPasswordLength } from './passwords/password-rules.ts';
export { removeDueAccounts } from './remove-due-job.ts';
export { type AdminAccess, accessOfRole } from './role-access.ts';
export {
  hasCodeFactor,
  hasPasskey,
  hasSecondFactor,
  securityState,
  settleFactors,
  wantsSecondStep,
} from './security-state.ts';
export { toUser, type User } from './to-user.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: () => SettingValues;
  readonly events: Events;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly sessions: Pick<Sessions, 'endAllOf'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly baseUrl: string;
  readonly hashParameters?: HashParameters | undefined;
}

// A sign-in behind a longer queue would wait longer than users do.
const MAX_WAITING_HASHES = 128;

export function createAccountDomain({ store, clock, settings, events, sessions, ...deps }: Deps) {
  const { limits, log, baseUrl, hashParameters } = deps;
  const { memoryKib, passes } = hashParameters ?? defaultHashParameters;
  const collection = store.collection(model.accounts);
  const facts = store.collection(model.facts);
  const whoAsks = () => turnOf(events.origins.countedAs());
  const passwords = createPasswords({
    ...(hashParameters && { parameters: hashParameters }),
    maxInFlight: availableParallelism(),
    maxQueued: MAX_WAITING_HASHES,
    whoAsks,
  });
  const accounts = createAccounts({
    collection,
    facts,
    clock,
    newId,
    passwords,
    settings,
    minPasswordLength: () => minPasswordLength(settings()),
    contextWords: () => [settings().product_name, new URL(baseUrl).hostname],
    endSessions: (accountId) => sessions.endAllOf(accountId),
    events,
  });
  events.on('emailYielded', ({ id, key, holderId }) =>
    events.note({
      event: 'email.yielded',
      actor: { kind: 'system' },
      target: { kind: 'user', id },
      details: { address: key, user_id: holderId },
    }),
  );
  const groups = createGroups({
    collection: store.collection(groupCollection),
    accounts: collection,
    clock,
    findRestricted: createFindRestricted(store.collection(model.clients)),
    findApi: createFindApiForGroup(store.collection(apis)),
  });
  const refusalTime = createRefusalTime({
    facts,
    clock,
    // Twice: a hash that an older release created with other parameters is not a slow kind.
    ownMs: 2 * estimatedMs(`$argon2id$v=19$m=${memoryKib},t=${passes},p=1`),
    verify: passwords.verify,
    onError: (err) =>
      log.warn({ event: 'refusal_time', err }, 'how long refused passwords are to take is unknown'),
  });
  const checks = createPasswordChecks({
    collection,
    clock,
    settings,
    passwords,
    whoAsks,
    refusalTime,
    limits,
    events,
    log,
  });

  return {
    accounts,
    groups,
    ...checks,
    importAccount: createImportAccount({ collection, groups, noteHash: refusalTime.note, clock, newId }),
    signIns: createCompleteSignIn({ collection, clock }),
    reportSignIn: createReportSignIn(events),
    assurance: createAssurance({ settings, clock }),
  };
}

export type AccountDomain = ReturnType<typeof createAccountDomain>;
