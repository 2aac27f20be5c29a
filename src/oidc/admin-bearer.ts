// Owns who is an administrator (decisions §2): the bootstrap token, a person's or a client's access token with the scope
// `admin`. Role and account are read afresh at every call, so a demotion counts at the next request.
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { TokenState } from './token-state.ts';

export interface AdminActor {
  readonly kind: 'bootstrap' | 'user' | 'client';
  readonly id: string;
}

/** @param authorization the Authorization header; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (authorization: string | undefined) => Promise<AdminActor>;

interface Deps {
  readonly adminToken: string | undefined;
  readonly tokens: TokenState;
}

// Both sides hashed: equal lengths for timingSafeEqual, and nothing of the length shows in the time.
const digest = (value: string): Buffer => createHash('sha256').update(value).digest();

export function createAuthorizeAdmin({ adminToken, tokens }: Deps): AuthorizeAdmin {
  const bootstrap = adminToken === undefined ? undefined : digest(adminToken);

  return async (authorization) => {
    if (authorization === undefined || authorization === '') throw new AppError('auth.required');
    const [scheme, bearer, ...rest] = authorization.split(' ');
    if (scheme?.toLowerCase() !== 'bearer') throw new AppError('auth.required');
    if (bearer === undefined || bearer === '' || rest.length > 0) throw new AppError('auth.invalid_token');
    if (bootstrap !== undefined && timingSafeEqual(bootstrap, digest(bearer))) {
      return { kind: 'bootstrap', id: 'ADMIN_TOKEN' };
    }
    const live = await tokens.live(await tokens.find(bearer));
    // A refresh token is not a bearer for resources (RFC 6749 §1.5), even an administrator's.
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    const { token, account } = live;
    if (!token.scopes.has('admin')) throw new AppError('auth.insufficient_scope');
    if (account === undefined) return { kind: 'client', id: token.clientId ?? '' };
    if (account.role !== 'admin') throw new AppError('auth.insufficient_scope');
    return { kind: 'user', id: account.id };
  };
}
