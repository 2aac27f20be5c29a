// Whose refresh tokens are rotated (decision 0007): where nothing but the token proves who uses it, each use gives a new one, and a used
// one that comes back betrays a copy (RFC 9700 §4.14.2). Elsewhere it is kept: an answer lost on the way costs nobody the sign-in.
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import { authenticates } from './auth-members.ts';
import { whyExposed } from './pkce.ts';

type Kind = Pick<ClientRecord, 'rotateRefreshTokens'> & Parameters<typeof whyExposed>[0];

/**
 * Registered as FAPI 2.0 §5.3.2.1 asks of applications. Of these it also wants assertions that name the issuer alone: another
 * server can tell a client that our token endpoint is its own, and collect what is meant for us.
 */
export const isOfFapi = ({ metadata }: Pick<Kind, 'metadata'>): boolean =>
  metadata.dpop_bound_access_tokens === true && metadata.require_pushed_authorization_requests === true;

/** Applications from before it could be said go on as they were, save those of FAPI 2.0, which forbids rotation (§5.3.2.1). */
export const rotationOf = (
  record: Pick<Kind, 'metadata' | 'rotateRefreshTokens'>,
): 'auto' | 'always' | 'never' => record.rotateRefreshTokens ?? (isOfFapi(record) ? 'auto' : 'always');

/** @param isBound by DPoP, to a key */
export function isRotating(record: Kind, isBound: boolean): boolean {
  const rotation = rotationOf(record);
  return rotation === 'auto' ? !isBound && whyExposed(record) !== undefined : rotation === 'always';
}

/** @throws AppError client.invalid_metadata for tokens that anybody who copies one could use for ever */
export function checkRotation({ rotateRefreshTokens, metadata }: Kind): void {
  const isProven = authenticates(metadata) || metadata.dpop_bound_access_tokens === true;
  if (rotateRefreshTokens !== 'never' || isProven) return;
  const problem = 'Must not be never: the application does not authenticate.';
  throw new AppError('client.invalid_metadata', { fields: { rotate_refresh_tokens: problem } });
}
