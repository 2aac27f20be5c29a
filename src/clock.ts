// Everything that needs the time receives a Clock, so that tests can control it.

/** @returns the current time in epoch milliseconds */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** @returns whole epoch seconds, as OAuth and JWT claims have them (RFC 7519 §2 NumericDate) */
export const epochSeconds = (clock: Clock): number => Math.floor(clock() / 1000);
