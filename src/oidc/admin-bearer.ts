// Owns who is an administrator (decisions §2): the bootstrap token, a person's or a client's access token with the scope
// `admin` or `admin:read`, an API key. Role and account are read afresh at every call, so a demotion counts at the next
// request.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type AdminAccess, accessOfRole } from '../accounts/role-access.ts';
import { AppError } from '../errors.ts';
import type { TokenState } from './token-state.ts';

export interface AdminActor {
  readonly kind: 'bootstrap' | 'user' | 'client' | 'api_key';
  readonly id: string;
  /** What this bearer opens: everything, or reading alone. */
  readonly access: AdminAccess;
}

/** What the caller is about to do; changing unless it says otherwise. */
export type AdminNeed = AdminAccess;

/** @param authorization the Authorization header; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (authorization: string | undefined, need?: AdminNeed) => Promise<AdminActor>;

interface Deps {
  readonly adminToken: string | undefined;
  readonly tokens: TokenState;
  /** Finds the API key of a bearer, if it is one that is valid now. */
  readonly useApiKey: (
    bearer: string,
  ) => Promise<{ readonly id: string; readonly scopes: readonly string[] } | undefined>;
}

// Both sides hashed: equal lengths for timingSafeEqual, and nothing of the length shows in the time.
const digest = (value: string): Buffer => createHash('sha256').update(value).digest();

const accessByScope = (scopes: ReadonlySet<string>): AdminNeed | undefined => {
  if (scopes.has('admin')) return 'all';
  return scopes.has('admin:read') ? 'read' : undefined;
};

/** Neither role nor scope gives what the other does not. */
const narrowed = (byRole: AdminNeed | undefined, byScope: AdminNeed | undefined): AdminNeed | undefined => {
  if (byRole === undefined || byScope === undefined) return undefined;
  return byRole === 'all' ? byScope : 'read';
};

export function createAuthorizeAdmin({ adminToken, tokens, useApiKey }: Deps): AuthorizeAdmin {
  const bootstrap = adminToken === undefined ? undefined : digest(adminToken);

  async function actorOf(
    bearer: string,
  ): Promise<Omit<AdminActor, 'access'> & { access: AdminNeed | undefined }> {
    if (bootstrap !== undefined && timingSafeEqual(bootstrap, digest(bearer))) {
      return { kind: 'bootstrap', id: 'ADMIN_TOKEN', access: 'all' };
    }
    const apiKey = await useApiKey(bearer);
    if (apiKey !== undefined) {
      return { kind: 'api_key', id: apiKey.id, access: accessByScope(new Set(apiKey.scopes)) };
    }
    const live = await tokens.live(await tokens.find(bearer));
    // A refresh token is not a bearer for resources (RFC 6749 §1.5), even an administrator's.
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    const { token, account } = live;
    const byScope = accessByScope(live.scopes);
    if (account === undefined) return { kind: 'client', id: token.clientId ?? '', access: byScope };
    return { kind: 'user', id: account.id, access: narrowed(accessOfRole(account.role), byScope) };
  }

  return async (authorization, need = 'all') => {
    if (authorization === undefined || authorization === '') throw new AppError('auth.required');
    const [scheme, bearer, ...rest] = authorization.split(' ');
    if (scheme?.toLowerCase() !== 'bearer') throw new AppError('auth.required');
    if (bearer === undefined || bearer === '' || rest.length > 0) throw new AppError('auth.invalid_token');
    const { kind, id, access } = await actorOf(bearer);
    if (access === undefined) throw new AppError('auth.insufficient_scope');
    if (access === 'read' && need === 'all') throw readingAlone();
    return { kind, id, access };
  };
}

const readingAlone = (): AppError =>
  new AppError('auth.insufficient_scope', { message: 'This token is for reading alone.' });
