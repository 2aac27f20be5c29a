// Computes the statistics: at most once in ten seconds, and rarely enough that it takes at most one percent of the time.
import type { EventHour, Statistics } from '../../../audit/index.ts';
import type { Clock } from '../../../clock.ts';
import type { EventName } from '../../../events/index.ts';
import { countRunning } from '../../../sessions/index.ts';
import { lockedFilters } from '../../../store/locked-accounts.ts';
import type { FieldFilter, Query } from '../../../store/port.ts';
import { iso } from '../../api/schema-parts.ts';
import type { Stats } from '../../api/stats-schema.ts';

type Countable = { query(query: Query): Promise<{ readonly total: number }> };

interface Deps {
  readonly statistics: Pick<Statistics, 'hours'>;
  readonly counted: Readonly<Record<'accounts' | 'clients' | 'groups' | 'sessions' | 'mails', Countable>>;
  readonly clock: Clock;
}

const KEPT_MS = 10_000;
/** A response that took one second to compute is cached for a hundred. */
const REST_FACTOR = 100;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function createStats({ statistics, counted, clock }: Deps) {
  const count = async (what: Countable, ...filters: FieldFilter[]): Promise<number> =>
    (await what.query({ filters, sort: 'id', order: 'asc', limit: 1 })).total;
  const is = (field: string, value: string | boolean): FieldFilter => ({ field, op: 'eq', value });

  async function countAll(now: number) {
    const { accounts, clients, groups, sessions, mails } = counted;
    return {
      users: await count(accounts),
      users_inactive: await count(accounts, is('is_active', false)),
      users_locked: await count(accounts, ...lockedFilters(now)),
      users_with_second_factor: await count(accounts, is('totp_verified', true)),
      users_with_passkey: await count(accounts, { field: 'passkey_count', op: 'gte', value: 1 }),
      administrators: await count(accounts, is('role', 'admin')),
      auditors: await count(accounts, is('role', 'auditor')),
      groups: await count(groups),
      clients: await count(clients),
      sessions_active: await countRunning(sessions, now),
      mails_queued: await count(mails, is('state', 'queued')),
      mails_failed: await count(mails, is('state', 'failed')),
      mails_kept: await count(mails, is('state', 'kept')),
    };
  }

  async function compute(): Promise<Stats> {
    const now = clock();
    const counts = await countAll(now);
    const present: EventHour = { at: now, counts: {}, sessionsActive: counts.sessions_active };
    const hours = [...(await statistics.hours()), present];
    return {
      generated_at: iso(now),
      counts,
      hours: pointsOf(hours, now, HOUR_MS, 24),
      days: pointsOf(hours, now, DAY_MS, 30),
    };
  }

  let kept: { readonly answer: Promise<Stats>; until: number } | undefined;

  return {
    /** Concurrent requests share one computation; a failure is not cached. */
    read() {
      const startedAt = clock();
      if (kept !== undefined && startedAt < kept.until) return kept.answer;
      const mine = { answer: compute(), until: Number.POSITIVE_INFINITY };
      kept = mine;
      mine.answer.then(
        () => {
          mine.until = clock() + Math.max(KEPT_MS, REST_FACTOR * (clock() - startedAt));
        },
        () => {
          mine.until = 0;
        },
      );
      return mine.answer;
    },
  };
}

/** The last `length` hours or days, the one of now last. */
function pointsOf(hours: readonly EventHour[], now: number, step: number, length: number): Stats['hours'] {
  const last = Math.floor(now / step) * step;
  return Array.from({ length }, (_, index) => {
    const begin = last - (length - 1 - index) * step;
    const within = hours.filter(({ at }) => at >= begin && at < begin + step);
    const sum = (...events: readonly EventName[]): number =>
      within.flatMap(({ counts }) => events.map((event) => counts[event] ?? 0)).reduce((a, b) => a + b, 0);
    const active = within.flatMap(({ sessionsActive }) => sessionsActive ?? []);
    return {
      at: iso(begin),
      sign_ins: sum('signin.success'),
      failed_sign_ins: sum('signin.failure'),
      lockouts: sum('signin.locked'),
      passkeys_used: sum('passkey.used'),
      second_factors_used: sum('mfa.success'),
      users_created: sum('user.created'),
      sessions_ended: sum('session.ended', 'session.revoked'),
      tokens_revoked: sum('token.revoked'),
      sessions_active: active.length === 0 ? null : Math.max(...active),
    };
  });
}
