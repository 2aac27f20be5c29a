// Who may call the admin API (decision 0002): the bootstrap token, an access token of a user or a client with the scope
// `admin` or `admin:read`, an API key. Role and account, those of an API key's owner included, are read on every call, so
// a demotion takes effect on the next request.
import { createHash, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import { type AdminAccess, accessOfRole } from '../../accounts/index.ts';
import { AppError } from '../../errors.ts';
import type { ApiKeyOwner } from '../../store/administration.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { isGrantTypeAllowed, scopesOfClient } from '../entitlements/entitlement.ts';
import type { AccountDirectory } from '../entitlements/find-account.ts';
import { isOfFragment } from '../legacy/index.ts';
import type { GuardBearer } from './bearer-guard.ts';
import { type DpopProofs, type PresentedToken, presentedToken } from './dpop.ts';
import type { SessionOfToken } from './token-session.ts';
import type { TokenState } from './token-state.ts';

export interface AdminActor {
  readonly kind: 'bootstrap' | 'user' | 'client' | 'api_key';
  readonly id: string;
  /** Full access or read-only. */
  readonly access: AdminAccess;
  /** Whether the authentication is recent and strong enough for a sensitive act (decision 0011); users only. */
  readonly isFresh?: () => Promise<boolean>;
}

/** By the Authorization header of a request. @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (ctx: Koa.Context, required?: AdminAccess) => Promise<AdminActor>;

export interface AdminBearers {
  readonly authorizeAdmin: AuthorizeAdmin;
  /**
   * @returns what ADMIN_TOKEN or an API key may do; undefined for every other bearer, access tokens among them, and for a key
   * whose owner may do nothing here
   * @throws AppError auth.invalid_token
   */
  readonly accessOfSecret: (bearer: string) => Promise<AdminAccess | undefined>;
}

interface Deps {
  readonly adminToken: string | undefined;
  readonly tokens: TokenState;
  readonly accounts: AccountDirectory;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
  readonly sessionOf: SessionOfToken;
  /** @returns the API key that this bearer is, if it is valid now */
  readonly useApiKey: (bearer: string) => Promise<KnownApiKey | undefined>;
  readonly guard: GuardBearer;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
}

/** Without access: known, but nothing here is open to it. */
type FoundActor = Omit<AdminActor, 'access'> & { access: AdminAccess | undefined };

interface KnownApiKey {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly owner: ApiKeyOwner | null;
}

// Both sides are hashed: timingSafeEqual needs equal lengths, and the timing reveals nothing about the length.
const digest = (value: string): Buffer => createHash('sha256').update(value).digest();

const accessByScope = (scopes: ReadonlySet<string>): AdminAccess | undefined => {
  if (scopes.has('admin')) return 'all';
  return scopes.has('admin:read') ? 'read' : undefined;
};

/** The lower of the two: neither role nor scope grants what the other does not. */
const lowerOf = (
  byRole: AdminAccess | undefined,
  byScope: AdminAccess | undefined,
): AdminAccess | undefined => {
  if (byRole === undefined || byScope === undefined) return undefined;
  return byRole === 'all' ? byScope : 'read';
};

export function createAdminBearers(deps: Deps): AdminBearers {
  const { adminToken, tokens, accounts, findClient, sessionOf, useApiKey, guard, dpop } = deps;
  const bootstrap = adminToken === undefined ? undefined : digest(adminToken);

  /** A key grants no more than its owner has now. @throws AppError auth.invalid_token when the owner no longer exists */
  async function accessOfOwner(owner: ApiKeyOwner | null): Promise<AdminAccess | undefined> {
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

  /** Of the bootstrap token or an API key, which are bound to no key. */
  async function actorOfSecret(bearer: string): Promise<FoundActor | undefined> {
    if (bootstrap !== undefined && timingSafeEqual(bootstrap, digest(bearer))) {
      return { kind: 'bootstrap', id: 'ADMIN_TOKEN', access: 'all' };
    }
    const apiKey = await useApiKey(bearer);
    if (apiKey === undefined) return undefined;
    const byOwner = await accessOfOwner(apiKey.owner);
    return {
      kind: 'api_key',
      id: apiKey.id,
      access: lowerOf(byOwner, accessByScope(new Set(apiKey.scopes))),
    };
  }

  async function actorOf(ctx: Koa.Context, presented: PresentedToken): Promise<FoundActor> {
    const { scheme, value } = presented;
    const known = scheme === 'bearer' ? await actorOfSecret(value) : undefined;
    if (known !== undefined) return known;
    const live = await tokens.live(await tokens.find(value));
    // A refresh token is not a bearer for resources (RFC 6749 §1.5), even an administrator's.
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    // A token for an API is none for us, whatever its scopes are called (decision 0002).
    if (live.target !== undefined || isOfFragment(live.token)) throw new AppError('auth.invalid_token');
    const { token, account } = live;
    await dpop.checkBinding(ctx, presented, token);
    const byScope = accessByScope(live.scopes);
    if (account === undefined) return { kind: 'client', id: token.clientId ?? '', access: byScope };
    const access = lowerOf(accessOfRole(account.role), byScope);
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

  async function authorize(ctx: Koa.Context, required: AdminAccess): Promise<AdminActor> {
    const { access, ...actor } = await actorOf(ctx, presentedToken(ctx.get('authorization')));
    if (access === undefined) throw new AppError('auth.insufficient_scope');
    if (access === 'read' && required === 'all') throw readOnlyToken();
    return { ...actor, access };
  }

  return {
    authorizeAdmin: (ctx, required = 'all') => guard(() => authorize(ctx, required)),
    accessOfSecret: async (bearer) => (await actorOfSecret(bearer))?.access,
  };
}

const readOnlyToken = (): AppError =>
  new AppError('auth.insufficient_scope', { message: 'This token is read-only.' });
