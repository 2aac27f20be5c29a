// Durations in forms, as people write them: a number and its unit. The settings and the API have seconds.
import type { Rows } from '../../model/row.ts';
import { numberOrText, textOrNull } from './field-values.ts';

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

/** The unit of a field that is still empty: what people type first is a few minutes rather than a few seconds. */
const FIRST_UNIT = '60';

const unitField = (name: string): string => `unit.${name}`;

/** What a form says of one duration, in seconds as text; without a unit its number is one of seconds, as in the API. */
export function secondsIn(textIn: (name: string) => string | undefined, name: string): string {
  const amount = textIn(name) ?? '';
  const unit = textIn(unitField(name));
  return unit === undefined ? amount : secondsOf({ amount, unit });
}

/** The same for the API: a number, null where the field is empty, and what is no number as it is. */
export function durationFrom(
  textIn: (name: string) => string | undefined,
  name: string,
): number | string | null {
  const text = textOrNull(secondsIn(textIn, name));
  return text === null ? null : numberOrText(text);
}

/** @param values of a form as typed, or as stored: in seconds, with no unit beside them */
export function durationIn(values: Readonly<Record<string, unknown>>, name: string): Duration {
  const [amount, unit] = [String(values[name] ?? ''), values[unitField(name)]];
  if (typeof unit === 'string') return { amount, unit };
  return amount === '' ? { amount, unit: FIRST_UNIT } : durationOf(amount);
}

/** From and to how many seconds, as pages say them. @param rows of the fields of a form by name */
export const boundsOf = (rows: Rows) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, { kind }]) => [
      name,
      { min: kind.schema.minimum, max: kind.schema.maximum },
    ]),
  );
