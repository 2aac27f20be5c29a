// What was added to an account lately that outlives its sessions: whoever reports "this wasn't me" may find there what somebody
// else put in to come back by (decision 0037). Only that can be removed here, so that a press, by whomever, never takes
// away what the owner has had for longer.

import { type Account, mayBeLeftWith } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import type { EnrolledCode } from '../model/ways-to-sign-in.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PageModels } from '../views/index.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

export type Addition = PageModels['account-not-me']['additions'][number];

const DAY_MS = 86_400_000;
const LISTED_DAYS = 7;

/** That it would leave no way in, or is gone already. */
const STAYS: ReadonlySet<string> = new Set([
  'passkey.last',
  'passkey.last_admin',
  'passkey.not_found',
  'mfa.required',
  'request.not_found',
  'account.email_frozen',
  'account.changed',
]);

export function createRecentAdditions(doors: SelfServiceDoors) {
  const { clock, settings, accounts, audit, passkeys, secondFactors, events } = doors;
  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: settings().auth_mode });
  const keepEnough = (after: Readonly<AccountRecord>): void => {
    if (!mayBeLeftWith(after, policy())) throw new AppError('mfa.required');
  };

  /** The account does not say; the audit log does. */
  async function emailCodesSince({ id }: Account, since: number): Promise<number | undefined> {
    const { items } = await audit.query({
      filters: [
        { field: 'target_id', op: 'eq', value: id },
        { field: 'event', op: 'eq', value: 'mfa.enrolled' },
        { field: 'at', op: 'gte', value: since },
      ],
      sort: 'at',
      order: 'desc',
      limit: 20,
      isCounted: false,
    });
    return items.find(({ value }) => value.details?.method === 'email')?.value.at;
  }

  async function list({ account, methodTimes }: SelfServiceUser): Promise<Addition[]> {
    const since = clock() - LISTED_DAYS * DAY_MS;
    const found: Omit<Addition, 'isSuspect'>[] = [];
    const own = await passkeys.own(account);
    const lastUsed = Math.max(0, ...own.map(({ lastUsedAt = 0 }) => lastUsedAt));
    const isByPasskey = methodTimes.passkey !== undefined || methodTimes.security_key !== undefined;
    for (const one of own)
      found.push({
        id: `passkey:${one.id}`,
        kind: 'passkey',
        name: one.label || one.authenticator,
        addedAt: one.createdAt,
        canRemove: one.canRemove,
        isInUse: isByPasskey && one.lastUsedAt === lastUsed,
      });
    const { totp, hasEmailCodes, otherEmails = [] } = account;
    const without = (member: 'totp' | 'hasEmailCodes'): AccountRecord => {
      const { [member]: _gone, ...rest } = account;
      return rest;
    };
    if (totp !== undefined)
      found.push({
        id: 'app',
        kind: 'app',
        addedAt: totp.enrolledAt,
        canRemove: mayBeLeftWith(without('totp'), policy()),
        isInUse: methodTimes.totp !== undefined,
      });
    const codesAt = hasEmailCodes === true ? await emailCodesSince(account, since) : undefined;
    if (codesAt !== undefined)
      found.push({
        id: 'email_codes',
        kind: 'email_codes',
        addedAt: codesAt,
        canRemove: mayBeLeftWith(without('hasEmailCodes'), policy()),
        isInUse: methodTimes.email_code !== undefined,
      });
    for (const { address, verifiedAt } of otherEmails)
      found.push({
        id: `email:${address}`,
        kind: 'email',
        name: address,
        addedAt: verifiedAt,
        canRemove: true,
        isInUse: false,
      });
    return found
      .filter(({ addedAt }) => addedAt >= since)
      .map((one) => ({
        ...one,
        isSuspect: one.canRemove && !one.isInUse && one.addedAt >= clock() - DAY_MS,
      }))
      .sort((a, b) => b.addedAt - a.addedAt);
  }

  async function removeOne({ kind, id, name = '' }: Addition, accountId: string): Promise<void> {
    // As it is by now: what was removed before this changed it.
    const account = await accounts.find(accountId);
    if (account === undefined) throw new AppError('request.not_found');
    const record = (method: EnrolledCode) =>
      events.record({ event: 'mfa.removed', owner: accountId, details: { method } });
    if (kind === 'passkey') return passkeys.removeOwn(account, id.slice('passkey:'.length));
    if (kind === 'email') return void (await doors.recovery.emailChanges.remove(account, name));
    if (kind === 'app') {
      if (await secondFactors.totp.remove(accountId, keepEnough)) await record('totp');
      return;
    }
    await secondFactors.setEmailFactor(accountId, false, { check: keepEnough });
    await record('email');
  }

  return {
    list,
    /** @param chosen others than what is listed now are ignored. @returns what was removed, and what had to stay */
    async remove(who: SelfServiceUser, chosen: ReadonlySet<string>) {
      const removed: Addition[] = [];
      const kept: Addition[] = [];
      for (const one of (await list(who)).filter(({ id }) => chosen.has(id))) {
        try {
          await removeOne(one, who.account.id);
          removed.push(one);
        } catch (error) {
          if (!(error instanceof AppError) || !STAYS.has(error.code)) throw error;
          kept.push(one);
        }
      }
      return { removed, kept };
    },
  };
}

export type RecentAdditions = ReturnType<typeof createRecentAdditions>;
