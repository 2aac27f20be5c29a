// A change of the account that ends every session may let the one go on in which it was made. Nothing was authenticated then, so
// `auth_time` stays (decision 0011): the session, and each code or token that comes from it, says in a member of its own when it was
// confirmed, and that counts against the time before which authentications of the account are void.
import { ProviderBase } from '../provider-base.ts';

/** @returns epoch seconds; 0 where no change confirmed it */
const confirmedAt = (artifact: object): number =>
  'confirmedAt' in artifact && typeof artifact.confirmedAt === 'number' ? artifact.confirmedAt : 0;

/** @returns from when on it counts, by an authentication at that time, in epoch seconds */
export const countsFrom = (artifact: object, authenticatedAt: number): number =>
  Math.max(authenticatedAt, confirmedAt(artifact));

/** For a code that this request gives, or connects: of the browser's session. */
export function confirmedInSession(): { confirmedAt?: number } {
  const { session } = ProviderBase.ctx?.oidc ?? {};
  return session === undefined ? {} : memberOf(session);
}

/** For a token: of the code or refresh token that this request brought. */
export function confirmedInSource(token: object): { confirmedAt?: number } {
  const { AuthorizationCode, DeviceCode, RotatedRefreshToken, RefreshToken } =
    ProviderBase.ctx?.oidc.entities ?? {};
  const source = AuthorizationCode ?? DeviceCode ?? RotatedRefreshToken ?? RefreshToken;
  return source === undefined || source === token ? {} : memberOf(source);
}

function memberOf(artifact: object): { confirmedAt?: number } {
  const at = confirmedAt(artifact);
  return at === 0 ? {} : { confirmedAt: at };
}
