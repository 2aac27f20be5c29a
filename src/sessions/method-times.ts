// The methods of an authentication and when each was last used: what a session remembers of a sign-in beside its `amr`.
// What they are worth, and for how long, is decided in src/accounts/freshness.ts.
import { memberOf } from '../json.ts';
import { WAYS, type WayToSignIn } from '../model/ways-to-sign-in.ts';

/**
 * When each method was last used, in epoch seconds. `trusted_device`: when a trusted device replaced the second
 * factor; it authenticates nothing by itself.
 */
export type MethodTimes = { readonly [Way in WayToSignIn | 'trusted_device']?: number };

const TIMED = [...WAYS.map(({ id }) => id), 'trusted_device'] as const;

/**
 * Reads stored times and drops invalid ones. A session of the previous version has no times and so is never fresh.
 */
export function readMethodTimes(stored: unknown): MethodTimes {
  const times: { -readonly [Method in keyof MethodTimes]: MethodTimes[Method] } = {};
  for (const method of TIMED) {
    const at = memberOf(stored, method);
    if (typeof at === 'number') times[method] = at;
  }
  return times;
}

/** The later time of each. */
export function mergeMethodTimes(one: MethodTimes, other: MethodTimes): MethodTimes {
  const times: { -readonly [Method in keyof MethodTimes]: MethodTimes[Method] } = { ...one };
  for (const method of TIMED) {
    const at = other[method];
    if (at !== undefined) times[method] = Math.max(at, times[method] ?? at);
  }
  return times;
}

/** The methods used at that time or before. */
export function methodTimesUntil(times: MethodTimes, until: number): MethodTimes {
  return Object.fromEntries(Object.entries(times).filter(([, at]) => at <= until));
}

/** The latest of these times; undefined without any. */
export function newestOf({ trusted_device: _, ...times }: MethodTimes): number | undefined {
  const all = Object.values(times);
  return all.length === 0 ? undefined : Math.max(...all);
}

/** @param at epoch milliseconds */
export const stampMethods = (methods: readonly WayToSignIn[], at: number): MethodTimes =>
  Object.fromEntries(methods.map((method) => [method, Math.floor(at / 1000)]));
