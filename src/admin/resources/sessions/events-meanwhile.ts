// What a session's user did while it ran, by time: events of versions that did not record the session are found by nothing else.
import type { Session } from './view.ts';

/** A sign-in is recorded before its session is written. */
const BEFORE_MS = 60_000;

/** @returns the query of the audit log */
export function eventsMeanwhile({ user_id, created_at, ended_at }: Session): string {
  const from = new Date(Date.parse(created_at) - BEFORE_MS).toISOString();
  const end = ended_at === null ? {} : { at_to: ended_at };
  return new URLSearchParams({ actor_id: user_id, at_from: from, ...end }).toString();
}
