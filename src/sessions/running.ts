// The conditions of an active session, for queries that count sessions.
import type { FieldFilter, Query } from '../store/port.ts';

/** @param now epoch milliseconds */
const runningAt = (now: number): FieldFilter[] => [
  { field: 'ended_at', op: 'absent' },
  { field: 'expires_at', op: 'gte', value: now + 1 },
];

type Sessions = { query(query: Query): Promise<{ readonly total: number }> };

export const countRunning = async (sessions: Sessions, now: number): Promise<number> =>
  (await sessions.query({ filters: runningAt(now), sort: 'id', order: 'asc', limit: 1 })).total;
