// Owns reading tokens for showing them: decoded, not verified. Verifying ID tokens is openid-client's, and access tokens
// are none of an application's business beyond looking.
import { decodeJwt, decodeProtectedHeader } from 'jose';

export type Claims = Readonly<Record<string, unknown>>;

export interface TokenFacts {
  /** Undefined where the token is not a JWT, as an access token need not be. */
  readonly claims: Claims | undefined;
  /** Algorithm, key id, type: as the header says. */
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

/** @param seconds from now; negative: ago */
function distance(seconds: number): string {
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, length]) => size >= length) ?? (['second', 1] as const);
  const formatter = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return formatter.format(Math.trunc(seconds / length), unit);
}

/**
 * @param now epoch milliseconds
 * @returns what a claim that is a point in time says to a person; undefined for other claims
 */
export function timeOf(name: string, value: unknown, now: number): string | undefined {
  if (!TIMES.has(name) || typeof value !== 'number') return undefined;
  const at = new Date(value * 1000);
  const clockTime = at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
  return `${clockTime} UTC, ${distance(value - Math.floor(now / 1000))}`;
}
