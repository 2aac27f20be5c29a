// Everything that needs the time receives a Clock, so that tests can control it.

/** @returns the current time in epoch milliseconds */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** The clock of another process may be so much ahead. */
export const SKEW_MS = 60_000;

/**
 * Whether a stored time, until which somebody has to wait, is still to come. One further ahead than its window can be is of a
 * clock that was set back since, and counts as past: nobody waits for the length of that step.
 * @param windowMs the longest that it can have been ahead when it was stored
 */
export const isAhead = (until: number, now: number, windowMs: number): boolean =>
  until > now && until <= now + windowMs + SKEW_MS;

/** @returns how long until then, in milliseconds; 0 where isAhead is false */
export const leftUntil = (until: number, now: number, windowMs: number): number =>
  isAhead(until, now, windowMs) ? until - now : 0;

/** @returns whole epoch seconds, as OAuth and JWT claims have them (RFC 7519 §2 NumericDate) */
export const epochSeconds = (clock: Clock): number => Math.floor(clock() / 1000);
