// GET /stats (decisions §6): counts of all resources, and events of the last day and month. The response is computed at most
// once in ten seconds, and rarely enough that computing it takes at most one percent of the time.
import {
  Array as ArraySchema,
  Integer,
  Null,
  Object as ObjectSchema,
  String as StringSchema,
  Union,
} from 'typebox';
import type { EventHour, Statistics } from '../../../audit/index.ts';
import type { Clock } from '../../../clock.ts';
import { countRunning } from '../../../sessions/index.ts';
import type { FieldFilter, Query } from '../../../store/port.ts';
import { defineRoute, type Route } from '../../api/route.ts';
import { strict, timestamp } from '../../api/schema-parts.ts';

type Countable = { query(query: Query): Promise<{ readonly total: number }> };

export interface StatsPort {
  readonly statistics: Pick<Statistics, 'hours'>;
  readonly counted: {
    readonly accounts: Countable;
    readonly clients: Countable;
    readonly groups: Countable;
    readonly sessions: Countable;
    readonly mails: Countable;
  };
}

interface Deps {
  readonly stats: StatsPort;
  readonly clock: Clock;
}

const KEPT_MS = 10_000;
/** A response that took one second to compute is cached for a hundred. */
const REST_FACTOR = 100;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Name in the series -> the events it counts. */
const series = {
  sign_ins: ['signin.success'],
  failed_sign_ins: ['signin.failure'],
  lockouts: ['signin.locked'],
  passkeys_used: ['passkey.used'],
  second_factors_used: ['mfa.success'],
  users_created: ['user.created'],
  sessions_ended: ['session.ended', 'session.revoked'],
  tokens_revoked: ['token.revoked'],
} as const;
type SeriesName = keyof typeof series;
// Object.keys loses the key type.
const seriesNames = Object.keys(series) as SeriesName[];

const pointSchema = ObjectSchema(
  {
    at: StringSchema({ format: 'date-time', description: 'Where the hour or day (UTC) begins.' }),
    sign_ins: Integer({ description: 'Complete, with all factors.' }),
    failed_sign_ins: Integer(),
    lockouts: Integer(),
    passkeys_used: Integer({ description: 'To sign in, or as a second factor.' }),
    second_factors_used: Integer(),
    users_created: Integer(),
    sessions_ended: Integer(),
    tokens_revoked: Integer(),
    sessions_active: Union([Integer(), Null()], {
      description:
        'At the end of the hour; of a day, the most of any hour. null where nobody looked in time.',
    }),
  },
  strict,
);
const countsSchema = ObjectSchema(
  {
    users: Integer(),
    users_inactive: Integer(),
    users_locked: Integer(),
    users_with_second_factor: Integer(),
    users_with_passkey: Integer(),
    administrators: Integer(),
    auditors: Integer(),
    groups: Integer(),
    clients: Integer(),
    sessions_active: Integer(),
    mails_queued: Integer(),
    mails_failed: Integer(),
  },
  strict,
);
const statsSchema = ObjectSchema(
  {
    generated_at: timestamp(),
    counts: countsSchema,
    hours: ArraySchema(pointSchema, { description: 'The last 24, the running one last.' }),
    days: ArraySchema(pointSchema, { description: 'The last 30 days (UTC), today last.' }),
  },
  strict,
);

export function statsRoutes({ stats, clock }: Deps): Route[] {
  const { statistics, counted } = stats;

  const count = async (what: Countable, ...filters: FieldFilter[]): Promise<number> =>
    (await what.query({ filters, sort: 'id', order: 'asc', limit: 1 })).total;
  const is = (field: string, value: string | boolean): FieldFilter => ({ field, op: 'eq', value });

  async function countAll(now: number) {
    const { accounts, clients, groups, sessions, mails } = counted;
    return {
      users: await count(accounts),
      users_inactive: await count(accounts, is('is_active', false)),
      users_locked: await count(accounts, { field: 'locked_until', op: 'gte', value: now + 1 }),
      users_with_second_factor: await count(accounts, is('totp_verified', true)),
      users_with_passkey: await count(accounts, { field: 'passkey_count', op: 'gte', value: 1 }),
      administrators: await count(accounts, is('role', 'admin')),
      auditors: await count(accounts, is('role', 'auditor')),
      groups: await count(groups),
      clients: await count(clients),
      sessions_active: await countRunning(sessions, now),
      mails_queued: await count(mails, is('state', 'queued')),
      mails_failed: await count(mails, is('state', 'failed')),
    };
  }

  async function make() {
    const now = clock();
    const counts = await countAll(now);
    const present: EventHour = { at: now, counts: {}, sessionsActive: counts.sessions_active };
    const hours = [...(await statistics.hours()), present];
    return {
      generated_at: new Date(now).toISOString(),
      counts,
      hours: seriesOf(hours, now, HOUR_MS, 24),
      days: seriesOf(hours, now, DAY_MS, 30),
    };
  }

  type Stats = Awaited<ReturnType<typeof make>>;
  let kept: { readonly answer: Promise<Stats>; until: number } | undefined;

  /** Concurrent requests share one computation; a failure is not cached. */
  function read(): Promise<Stats> {
    const startedAt = clock();
    if (kept !== undefined && startedAt < kept.until) return kept.answer;
    const mine = { answer: make(), until: Number.POSITIVE_INFINITY };
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
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/stats',
      sensitivity: 'plain',
      tag: 'About',
      summary: 'Counts, and statistics of the last 24 hours and 30 days; up to some seconds old',
      success: { status: 200, schema: statsSchema },
      handle: async () => ({ data: await read() }),
    }),
  ];
}

function seriesOf(hours: readonly EventHour[], now: number, step: number, length: number) {
  const last = Math.floor(now / step) * step;
  const first = last - (length - 1) * step;
  const points = Array.from({ length }, (_, index) => ({
    at: new Date(first + index * step).toISOString(),
    ...zeros(),
    sessions_active: null as number | null,
  }));
  for (const { at, counts, sessionsActive } of hours) {
    const point = points[Math.floor((at - first) / step)];
    if (point === undefined) continue;
    for (const name of seriesNames) for (const event of series[name]) point[name] += counts[event] ?? 0;
    if (sessionsActive !== undefined) {
      point.sessions_active = Math.max(point.sessions_active ?? 0, sessionsActive);
    }
  }
  return points;
}

const zeros = (): Record<SeriesName, number> => ({
  sign_ins: 0,
  failed_sign_ins: 0,
  lockouts: 0,
  passkeys_used: 0,
  second_factors_used: 0,
  users_created: 0,
  sessions_ended: 0,
  tokens_revoked: 0,
});
