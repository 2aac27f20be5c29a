// The part of the audit log that the owner of an account sees: recent events by and about the account, as kinds for
// which the pages have texts. Reasons and details are not shown.

import { eventRow } from '../model/events/events.ts';
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
    const { activity: kind, isProblem = false } = eventRow(value.event) ?? {};
    if (kind === undefined) return [];
    const { at, clientId, ipAddress, userAgent, actorKind, actorId, targetId } = value;
    // The location of an administrator is not shown to the owner.
    const isOwn =
      actorKind === 'anonymous' ||
      actorKind === 'client' ||
      actorId === undefined ||
      actorId === (targetId ?? actorId);
    return [{ at, kind, isProblem, clientId, ...(isOwn && { ipAddress, userAgent }) }];
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
