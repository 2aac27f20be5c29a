// Decodes tokens to show them, without verification: openid-client verifies ID tokens, and access tokens are opaque to an
// application.
import { decodeJwt, decodeProtectedHeader } from 'jose';

export type Claims = Readonly<Record<string, unknown>>;

export interface TokenFacts {
  /** Undefined when the token is not a JWT, which an access token need not be. */
  readonly claims: Claims | undefined;
  /** Algorithm, key id and type from the header. */
  readonly header: Claims;
}

export function factsOf(token: string): TokenFacts {
  try {
    return { claims: decodeJwt(token), header: { ...decodeProtectedHeader(token) } };
  } catch {
    return { claims: undefined, header: {} };
  }
}

const TIMES = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** @param seconds from now; negative: in the past */
function distance(seconds: number): string {
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, length]) => size >= length) ?? (['second', 1] as const);
  const formatter = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return formatter.format(Math.trunc(seconds / length), unit);
}

/**
 * @param now epoch milliseconds
 * @returns a point in time as text; undefined for other claims
 */
export function timeOf(name: string, value: unknown, now: number): string | undefined {
  if (!TIMES.has(name) || typeof value !== 'number') return undefined;
  const at = new Date(value * 1000);
  const clockTime = at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
  return `${clockTime} UTC, ${distance(value - Math.floor(now / 1000))}`;
}
