// How often each kind of event happened, by hour, without counting any event twice: a job counts each past hour once
// into one small document; later hours are read incrementally as the log grows. The statistics of a month therefore
// read some hundred small documents and the newest events, however many users and events there are.
import type { Clock } from '../clock.ts';
import type { EventHourRecord } from '../store/administration.ts';
import type { AuditRecord } from '../store/collections.ts';
import type { Collection, Stored } from '../store/port.ts';

export interface EventHour {
  /** Epoch milliseconds, the start of the hour (UTC). */
  readonly at: number;
  /** By the name of the event. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of sessions at its end, if it was counted in time. */
  readonly sessionsActive?: number | undefined;
}

export interface Statistics {
  /** Hours with events of the last 31 days, in order; the last one is still running. */
  hours(): Promise<EventHour[]>;
  /** Counts past hours. @param isAborted checked between hours. @returns the number of counted hours */
  rollUp(isAborted: () => boolean): Promise<number>;
}

interface Deps {
  readonly audit: Collection<AuditRecord>;
  readonly collection: Collection<EventHourRecord>;
  readonly clock: Clock;
  /** The current number of sessions, stored with each counted hour. */
  readonly countSessions?: () => Promise<number>;
}

const HOUR_MS = 3_600_000;
const KEPT_MS = 31 * 24 * HOUR_MS;
// By then, events that were being written when the hour ended are in the log.
const SETTLED_MS = 60_000;
const PAGE = 1000;
// The limit of one read; the next one continues, or the job counts the rest.
const MAX_PAGES = 50;
const TAIL_MS = 24 * HOUR_MS;

const hourOf = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS;

/** Audit ids are UUIDs version 7, which start with their time, so a time is a position in the log (src/ids.ts). */
const placeOf = (at: number): string => {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
};
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

export function createStatistics({ audit, collection, clock, countSessions }: Deps): Statistics {
  /** Hours since the last counted one, as far as this process has read. */
  const tail = { from: Number.NaN, place: '', hours: new Map<number, Map<string, number>>() };

  async function eventsBehind(place: string): Promise<Stored<AuditRecord>[]> {
    const page = await audit.query({
      sort: 'id',
      order: 'asc',
      limit: PAGE,
      after: { id: place, sortValue: undefined },
      isCounted: false,
    });
    return page.items;
  }

  const countedSince = async (at: number): Promise<Stored<EventHourRecord>[]> =>
    (
      await collection.query({
        filters: [{ field: 'at', op: 'gte', value: at }],
        sort: 'at',
        order: 'asc',
        limit: 1000,
        isCounted: false,
      })
    ).items;

  /** The first hour that is not counted yet; undefined while the log is empty. */
  async function nextHour(): Promise<number | undefined> {
    const { items } = await collection.query({ sort: 'at', order: 'desc', limit: 1, isCounted: false });
    const last = items[0]?.value.at;
    if (last !== undefined) return Math.max(last + HOUR_MS, hourOf(clock() - KEPT_MS));
    const [first] = await eventsBehind(placeOf(clock() - KEPT_MS));
    return first && hourOf(timeOf(first.id));
  }

  async function countHour(from: number): Promise<Record<string, number>> {
    const counts = new Map<string, number>();
    for (let place = placeOf(from); ; ) {
      const events = await eventsBehind(place);
      for (const { id, value } of events) {
        if (timeOf(id) >= from + HOUR_MS) return Object.fromEntries(counts);
        counts.set(value.event, (counts.get(value.event) ?? 0) + 1);
      }
      const last = events.at(-1);
      if (last === undefined || events.length < PAGE) return Object.fromEntries(counts);
      place = last.id;
    }
  }

  async function readAlong(from: number): Promise<void> {
    if (tail.from !== from) {
      const isFurther = from > tail.from;
      for (const at of tail.hours.keys()) if (!isFurther || at < from) tail.hours.delete(at);
      if (!isFurther || tail.place < placeOf(from)) tail.place = placeOf(from);
      tail.from = from;
    }
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const events = await eventsBehind(tail.place);
      for (const { id, value } of events) {
        const hour = tail.hours.get(hourOf(timeOf(id))) ?? new Map<string, number>();
        hour.set(value.event, (hour.get(value.event) ?? 0) + 1);
        tail.hours.set(hourOf(timeOf(id)), hour);
        tail.place = id;
      }
      if (events.length < PAGE) return;
    }
  }

  return {
    async hours() {
      const now = clock();
      const counted = await countedSince(hourOf(now - KEPT_MS));
      const last = counted.at(-1)?.value.at;
      await readAlong(last === undefined ? hourOf(now - TAIL_MS) : last + HOUR_MS);
      const fresh = [...tail.hours].map(([at, counts]) => ({ at, counts: Object.fromEntries(counts) }));
      return [...counted.map(({ value }) => value), ...fresh].sort((a, b) => a.at - b.at);
    },

    async rollUp(isAborted) {
      let done = 0;
      for (let at = await nextHour(); at !== undefined && !isAborted(); at += HOUR_MS) {
        if (at + HOUR_MS + SETTLED_MS > clock()) break;
        const counts = await countHour(at);
        const id = new Date(at).toISOString();
        const isLatest = at + HOUR_MS === hourOf(clock());
        const sessionsActive = isLatest ? await countSessions?.() : undefined;
        const record = { at, counts, ...(sessionsActive !== undefined && { sessionsActive }) };
        await collection.put(id, record, { expiresAt: at + KEPT_MS + HOUR_MS });
        done += 1;
      }
      return done;
    },
  };
}
