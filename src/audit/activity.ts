// The part of the audit log that the owner of an account sees: recent events by and about the account, as kinds for
// which the pages have texts. Reasons and details are not shown.

import type { EventName } from '../events/index.ts';
import type { AuditRecord } from '../store/collections.ts';
import type { Stored } from '../store/port.ts';
import type { Audit } from './audit.ts';

export interface Activity {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The key of a text `activity.…`. */
  readonly kind: string;
  /** Whether it may have been an attempt by another person. */
  readonly isProblem: boolean;
  /** The application that it was about. */
  readonly clientId?: string | undefined;
  readonly ipAddress?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The events that an owner can understand and act on. */
const KINDS: { readonly [Name in EventName]?: string } = {
  'signin.success': 'signin',
  'signin.failure': 'signin_failed',
  'signin.locked': 'locked',
  'mfa.failure': 'code_failed',
  'mfa.enrolled': 'factor_on',
  'mfa.removed': 'factor_off',
  'mfa.reset': 'factor_reset',
  'recovery.generated': 'codes_made',
  'recovery.used': 'code_used',
  'passkey.added': 'passkey_added',
  'passkey.removed': 'passkey_removed',
  'passkey.failure': 'passkey_failed',
  'device.trusted': 'device_trusted',
  'device.revoked': 'device_forgotten',
  'password.changed': 'password_changed',
  'password.reset': 'password_reset',
  'profile.changed': 'profile_changed',
  'avatar.changed': 'profile_changed',
  'avatar.removed': 'profile_changed',
  'username.changed': 'username_changed',
  'email.change_requested': 'email_change_requested',
  'email.added': 'email_added',
  'email.removed': 'email_removed',
  'email.yielded': 'email_removed',
  'email.addition_stopped': 'email_addition_stopped',
  'email.changed': 'email_changed',
  'email.change_stopped': 'email_change_stopped',
  'email.change_settled': 'email_change_settled',
  'email.verified': 'email_verified',
  'consent.granted': 'application_allowed',
  'consent.revoked': 'application_removed',
  'session.ended_by_application': 'signed_out_by_application',
  'user.sessions_revoked': 'signed_out',
  'user.compromise_reported': 'reported',
  'user.data_exported': 'data_exported',
  'user.deletion_requested': 'deletion_requested',
  'user.deletion_undone': 'deletion_undone',
  'user.unlocked': 'unlocked',
  'user.updated': 'changed_by_admin',
};
const PROBLEMS: ReadonlySet<string> = new Set([
  'signin_failed',
  'locked',
  'code_failed',
  'passkey_failed',
  'email_change_stopped',
  'email_addition_stopped',
]);

/** More are read than are shown, because some events in between are not. */
const READ_FOR_EACH = 4;

/** @returns the latest activities of the account, newest first, at most that many */
export function createActivity(
  audit: Pick<Audit, 'query'>,
): (accountId: string, most: number) => Promise<Activity[]> {
  const latest = async (field: 'actor_id' | 'target_id', accountId: string, limit: number) => {
    const filters = [{ field, op: 'eq', value: accountId } as const];
    return (await audit.query({ filters, sort: 'at', order: 'desc', limit, isCounted: false })).items;
  };

  const view = ({ value }: Stored<AuditRecord>): Activity[] => {
    // An event of a later version can have any name.
    const kind = new Map<string, string>(Object.entries(KINDS)).get(value.event);
    if (kind === undefined) return [];
    const { at, clientId, ipAddress, userAgent, actorKind, actorId, targetId } = value;
    // The location of an administrator is not shown to the owner.
    const isOwn =
      actorKind === 'anonymous' ||
      actorKind === 'client' ||
      actorId === undefined ||
      actorId === (targetId ?? actorId);
    return [{ at, kind, isProblem: PROBLEMS.has(kind), clientId, ...(isOwn && { ipAddress, userAgent }) }];
  };

  return async (accountId, most) => {
    const read = most * READ_FOR_EACH;
    const both = await Promise.all([
      latest('target_id', accountId, read),
      latest('actor_id', accountId, read),
    ]);
    // Drops an administrator's actions on other accounts, which the query by actor returns.
    const own = both
      .flat()
      .filter(({ value }) => value.targetId === undefined || value.targetId === accountId);
    const byId = new Map(own.map((event) => [event.id, event]));
    return [...byId.values()]
      .sort((a, b) => b.value.at - a.value.at || (a.id < b.id ? 1 : -1))
      .flatMap(view)
      .slice(0, most);
  };
}
