// Owns who is an administrator (decisions §2): the bootstrap token, a person's or a client's access token with the scope
// `admin` or `admin:read`, an API key. Role and account are read afresh at every call, those of an API key's owner too, so a
// demotion counts at the next request.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type AdminAccess, accessOfRole } from '../accounts/role-access.ts';
import { AppError } from '../errors.ts';
import type { ApiKeyOwner } from '../store/administration.ts';
import type { ClientRecord } from '../store/collections.ts';
import { isGrantTypeAllowed, scopesOfClient } from './entitlement.ts';
import type { AccountDirectory } from './find-account.ts';
import type { SessionOfToken } from './token-session.ts';
import type { TokenState } from './token-state.ts';

export interface AdminActor {
  readonly kind: 'bootstrap' | 'user' | 'client' | 'api_key';
  readonly id: string;
  /** What this bearer opens: everything, or reading alone. */
  readonly access: AdminAccess;
  /** Whether a person authenticated for it as a sensitive act wants it (decisions §8); only a person has it. */
  readonly isFresh?: () => Promise<boolean>;
}

/** What the caller is about to do; changing unless it says otherwise. */
export type AdminNeed = AdminAccess;

/** @param authorization the Authorization header; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (authorization: string | undefined, need?: AdminNeed) => Promise<AdminActor>;

interface Deps {
  readonly adminToken: string | undefined;
  readonly tokens: TokenState;
  readonly accounts: AccountDirectory;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
  readonly sessionOf: SessionOfToken;
  /** Finds the API key of a bearer, if it is one that is valid now. */
  readonly useApiKey: (bearer: string) => Promise<KnownApiKey | undefined>;
}

interface KnownApiKey {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly owner: ApiKeyOwner | null;
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

export function createAuthorizeAdmin(deps: Deps): AuthorizeAdmin {
  const { adminToken, tokens, accounts, findClient, sessionOf, useApiKey } = deps;
  const bootstrap = adminToken === undefined ? undefined : digest(adminToken);

  /** A key is worth no more than its owner is now. @throws AppError auth.invalid_token where there is no owner any more */
  async function accessOfOwner(owner: ApiKeyOwner | null): Promise<AdminNeed | undefined> {
    if (owner === null) return 'all';
    if (owner.kind === 'client') {
      const client = await findClient(owner.id);
      const isUsable = client?.isActive === true && isGrantTypeAllowed(client, { kind: 'ClientCredentials' });
      if (!isUsable) throw new AppError('auth.invalid_token');
      return accessByScope(scopesOfClient(client));
    }
    const account = await accounts.find(owner.id);
    if (account === undefined || !accounts.isUsable(account)) throw new AppError('auth.invalid_token');
    return accessOfRole(account.role);
  }

  async function actorOf(
    bearer: string,
  ): Promise<Omit<AdminActor, 'access'> & { access: AdminNeed | undefined }> {
    if (bootstrap !== undefined && timingSafeEqual(bootstrap, digest(bearer))) {
      return { kind: 'bootstrap', id: 'ADMIN_TOKEN', access: 'all' };
    }
    const apiKey = await useApiKey(bearer);
    if (apiKey !== undefined) {
      const byOwner = await accessOfOwner(apiKey.owner);
      return {
        kind: 'api_key',
        id: apiKey.id,
        access: narrowed(byOwner, accessByScope(new Set(apiKey.scopes))),
      };
    }
    const live = await tokens.live(await tokens.find(bearer));
    // A refresh token is not a bearer for resources (RFC 6749 §1.5), even an administrator's.
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    const { token, account } = live;
    const byScope = accessByScope(live.scopes);
    if (account === undefined) return { kind: 'client', id: token.clientId ?? '', access: byScope };
    const access = narrowed(accessOfRole(account.role), byScope);
    return {
      kind: 'user',
      id: account.id,
      access,
      async isFresh() {
        const session = token.kind === 'AccessToken' ? await sessionOf(token, account.id) : undefined;
        return session !== undefined && accounts.isFresh(account, session.methodTimes);
      },
    };
  }

  return async (authorization, need = 'all') => {
    if (authorization === undefined || authorization === '') throw new AppError('auth.required');
    const [scheme, bearer, ...rest] = authorization.split(' ');
    if (scheme?.toLowerCase() !== 'bearer') throw new AppError('auth.required');
    if (bearer === undefined || bearer === '' || rest.length > 0) throw new AppError('auth.invalid_token');
    const { access, ...actor } = await actorOf(bearer);
    if (access === undefined) throw new AppError('auth.insufficient_scope');
    if (access === 'read' && need === 'all') throw readingAlone();
    return { ...actor, access };
  };
}

const readingAlone = (): AppError =>
  new AppError('auth.insufficient_scope', { message: 'This token is for reading alone.' });
