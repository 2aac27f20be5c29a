// What the pages and the API share: the acts of users on their own accounts.
import type Koa from 'koa';
import { type Account, activeAdminFilters, minPasswordLength } from '../accounts/index.ts';
import { MAX_AVATAR_BYTES, pictureOf } from '../avatars/index.ts';
import { createAccountActs } from './account-acts.ts';
import { createCredentialChanges } from './credential-changes.ts';
import { createDeletion } from './deletion.ts';
import type { SelfServiceDoors } from './doors.ts';
import { createPersonalExport } from './export.ts';
import { createLauncher } from './launcher.ts';
import { createOverview } from './overview.ts';
import type { SelfServiceUser } from './page-kit.ts';
import { createProfileChanges } from './profile-changes.ts';
import { createRecentAdditions } from './recent-additions.ts';

/** Whether any administrator can be told something by mail: only verified addresses are. */
async function hasMailbox({ accounts }: SelfServiceDoors): Promise<boolean> {
  const filters = [...activeAdminFilters, { field: 'is_email_verified', op: 'eq', value: true } as const];
  const { items } = await accounts.query({ filters, sort: 'id', order: 'asc', limit: 1 });
  return items.length > 0;
}

export type Acts = ReturnType<typeof actsOf>;

export function actsOf(doors: SelfServiceDoors) {
  const { settings, passkeys, clock, avatars, baseUrl, limits, recovery } = doors;
  const { emailChanges } = recovery;
  const { emails, secondFactor, ...changes } = createCredentialChanges(doors);
  const additions = createRecentAdditions(doors);
  return {
    ...createAccountActs(doors, additions),
    now: clock,
    additions: additions.list,
    tellsAdministrators: () => hasMailbox(doors),
    overview: createOverview(doors),
    profile: createProfileChanges(doors),
    picture: {
      maxBytes: MAX_AVATAR_BYTES,
      /** The claim `picture`: the person's own, or the address that an administrator entered. */
      addressOf: (account: Account) => pictureOf(account, baseUrl),
      set: avatars.set,
      remove: avatars.removeOwn,
    },
    exportOwn: createPersonalExport(doors),
    deletion: createDeletion(doors),
    launcher: createLauncher(doors),
    email: {
      ...emailChanges,
      ...emails,
      confirm: ({ account, methodTimes }: SelfServiceUser, token: string) =>
        emailChanges.confirm(account, token, methodTimes),
      settle: ({ account, methodTimes }: SelfServiceUser, choice: 'keep' | 'undo') =>
        emailChanges.settle(account, choice, methodTimes),
      /** Whether something may be kept for a browser there in which nobody is signed in. */
      mayKeep: (address: string) => limits.isWithin('public_requests_ip', address),
    },
    password: {
      minLength: () => minPasswordLength(settings()),
      arePasswordsOff: recovery.arePasswordsOff,
      isPasswordEnough: changes.isPasswordEnough,
      canReset: recovery.canResetPassword,
      change: changes.changePassword,
    },
    secondFactor: {
      isOff: () => settings().mfa_mode === 'off',
      isRequired: () => settings().mfa_mode === 'required',
      ...secondFactor,
    },
    passkeys: {
      list: passkeys.own,
      signals: passkeys.signals,
      begin: (account: Account, boundTo: string) =>
        passkeys.beginRegistration({ account, boundTo, mayBeKey: true }),
      add: changes.addPasskey,
      rename: passkeys.rename,
      remove: (ctx: Koa.Context, who: SelfServiceUser, id: string) => changes.removePasskey(ctx, who, id),
    },
  };
}
