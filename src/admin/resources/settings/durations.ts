// Durations as people write them: a number and its unit. The settings and the API have seconds.

/** From the longest: a value is shown in the longest one that leaves no rest. */
const UNITS = [
  ['86400', 'days'],
  ['3600', 'hours'],
  ['60', 'minutes'],
  ['1', 'seconds'],
] as const;

/** For a choice, from the shortest. */
export const durationUnits = UNITS.toReversed().map(([seconds, label]) => ({ seconds, label }));

export interface Duration {
  readonly amount: string;
  /** How many seconds one of it has, as text. */
  readonly unit: string;
}

/** @param seconds as text; what is no number stays as it is */
export function durationOf(seconds: string): Duration {
  const total = /^\d{1,15}$/.test(seconds) ? Number(seconds) : Number.NaN;
  const [unit = '1'] = UNITS.find(([size]) => total > 0 && total % Number(size) === 0) ?? [];
  return { amount: Number.isNaN(total) ? seconds : String(total / Number(unit)), unit };
}

/** @returns seconds as text; what is no number stays as it is, so that the API names the field in its error */
export function secondsOf({ amount, unit }: Duration): string {
  const isKnown = UNITS.some(([size]) => size === unit);
  return isKnown && /^\d{1,9}$/.test(amount.trim()) ? String(Number(amount) * Number(unit)) : amount;
}
