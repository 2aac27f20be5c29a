// A refresh token that is not rotated (decision 0007) goes on as the same record: only its idle end moves, and the form in which it is
// handed back to applications with `keycloak_tokens`.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isRotating } from '../../clients/index.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import type { Store } from '../../store/port.ts';
import { refreshTokens } from '../../store/protocol-collections.ts';
import { update } from '../../store/update.ts';
import { hasKeycloakTokens } from '../foreign-layout/keycloak-tokens.ts';
import type { RefreshTokenJwt } from '../foreign-layout/refresh-token-jwt.ts';
import { type LifetimeSettings, refreshSeconds } from '../policies.ts';
import { clientRecord } from './client.ts';
import { isRepeat } from './refresh-token.ts';

const DAY_SECONDS = 86_400;

interface Deps {
  readonly clock: Clock;
  readonly settings: () => LifetimeSettings;
  readonly refreshJwt: RefreshTokenJwt;
  readonly store: Pick<Store, 'collection'>;
  /** How a token is found there. */
  readonly idOf: (jti: string) => string;
}

/** Of one that was removed or used meanwhile nothing comes back. */
async function renew(jti: string, seconds: number, { store, idOf, clock }: Deps): Promise<void> {
  const expiresAt = clock() + seconds * 1000;
  const exp = epochSeconds(clock) + seconds;
  await update(store.collection(refreshTokens), idOf(jti), (value) =>
    value.consumed === undefined ? { value: { ...value, exp }, expiresAt } : undefined,
  );
}

const kept = new WeakMap<object, string>();

/** @returns what the answer says in place of the token that was sent */
export function keptToken(ctx: object): { readonly refresh_token?: string } {
  const value = kept.get(ctx);
  return value === undefined ? {} : { refresh_token: value };
}

/** Whether the refresh token of this request, which the library has checked, is replaced by a new one; if not, it lasts on. */
export const createRotation =
  (deps: Deps) =>
  async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const { clock, settings, refreshJwt } = deps;
    const { client, entities, params } = ctx.oidc;
    const { RefreshToken: token } = entities;
    if (client === undefined || token === undefined) return true;
    const record = clientRecord(client);
    const isJwt = refreshJwt.isJwt(String(params?.refresh_token));
    // The next one has the form that the application reads now.
    if (isRepeat(token) || (hasKeycloakTokens(client) ? !isJwt : isJwt)) return true;
    if (isRotating(record, token.isSenderConstrained())) return true;
    const seconds = refreshSeconds(record, token, settings(), clock);
    const { jti, sid, iat = 0 } = token;
    let { exp = 0 } = token;
    const gained = epochSeconds(clock) + seconds - exp;
    // Written once a day, or a tenth of a shorter life; at once where it became shorter.
    if (gained < 0 || gained >= Math.min(DAY_SECONDS, seconds / 10)) {
      await renew(jti, seconds, deps);
      exp += gained;
    }
    if (isJwt) kept.set(ctx, await refreshJwt.sign({ jti, azp: client.clientId, sid, iat, exp }));
    return false;
  };
