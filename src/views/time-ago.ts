// How long ago something was, in words of the page's language.
import { dateFormat } from '../dates.ts';
import type { Language } from './strings.ts';

export const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Such as "2 hours ago", which needs no time zone; after a month, a date. */
export function timeAgo(language: Language, at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds > 30 * 86_400) return dateFormat(language, { dateStyle: 'medium' }).format(at);
  const [unit, length] =
    UNITS.find(([, each]) => seconds >= each) ?? (['second', Number.POSITIVE_INFINITY] as const);
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(
    -Math.floor(seconds / length),
    unit,
  );
}
