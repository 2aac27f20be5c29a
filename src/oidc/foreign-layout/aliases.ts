// A second path layout (decisions 0001 and 0026), for clients configured for another identity provider's paths. An alias is the same
// handler under another path; nothing else differs. Realms are names, not tenants: which ones answer, a setting says.
import type Koa from 'koa';
import { AppError } from '../../errors.ts';

const TARGETS: Readonly<Record<string, string>> = {
  auth: '/authorize',
  'auth/device': '/device_authorization',
  certs: '/.well-known/jwks.json',
  logout: '/logout',
  revoke: '/revoke',
  token: '/token',
  'token/introspect': '/introspect',
  userinfo: '/userinfo',
};

const REALM = /^\/realms\/([^/]+)(?:\/|$)/;
const LAYOUT = /^(?:\/oauth2|\/realms\/[^/]+)\/protocol\/openid-connect\/(.+)$/;
/** Without a regular expression, for paths of every kind. */
export const mayBeInLayout = (path: string): boolean => path.includes('/protocol/openid-connect/');

const REALM_DISCOVERY = /^\/realms\/[^/]+\/\.well-known\/openid-configuration$/;

const DISCOVERY = '/oauth2/.well-known/openid-configuration';
const JWKS = '/oauth2/.well-known/jwks.json';
const DEVICE = '/oauth2/device_authorization';

/** The addresses from which an issuer appears in requests. */
export interface IssuerAddress {
  readonly issuer: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** @returns the path of the issuer below BASE_URL, empty for BASE_URL itself; undefined for an issuer elsewhere */
export function issuerPath({ issuer, baseUrl }: IssuerAddress): string | undefined {
  // OIDC Discovery §4: a terminating slash is removed before the well-known path is appended.
  const address = issuer.replace(/\/$/, '');
  const isBelow = address === baseUrl || address.startsWith(`${baseUrl}/`);
  return isBelow ? address.slice(baseUrl.length) : undefined;
}

/** Whether a realm of that name answers; the name as it is in the path, still %-encoded. */
export type IsRealm = (name: string) => boolean;

const realmIn = (path: string): string | undefined => REALM.exec(path)?.[1];

/** Decision 0026: the realm in the issuer's own path always answers, since its discovery is what tells of the issuer. */
export const isRealmOfIssuer = (address: IssuerAddress): IsRealm => {
  const own = realmIn(issuerPath(address) ?? '');
  return (name) => name === own;
};

/** @param listed the setting `realm_aliases`; empty: the one in the issuer's path alone, any where there is none */
function createIsRealm(address: IssuerAddress, listed: () => string): IsRealm {
  const isOwn = isRealmOfIssuer(address);
  const hasOwn = realmIn(issuerPath(address) ?? '') !== undefined;
  return (name) => {
    const names = listed();
    return isOwn(name) || (names === '' ? !hasOwn : names.split(' ').includes(name));
  };
}

/** @returns the path of ours that an alias stands for, relative to BASE_URL; undefined for any other path */
export type ResolveAlias = (path: string) => string | undefined;

export function createResolveAlias(address: IssuerAddress, isRealm: IsRealm): ResolveAlias {
  const below = issuerPath(address) ?? '';
  const documents = new Map([
    ['/.well-known/openid-configuration', DISCOVERY],
    ['/.well-known/oauth-authorization-server', DISCOVERY],
    ['/.well-known/oauth-authorization-server/oauth2', DISCOVERY],
    ['/.well-known/jwks.json', JWKS],
    // RFC 8414 §3.1 puts the well-known path before the issuer's own, OIDC Discovery §4 after it.
    [`/.well-known/oauth-authorization-server${below}`, DISCOVERY],
    [`${below}/.well-known/openid-configuration`, DISCOVERY],
    [`${below}/.well-known/oauth-authorization-server`, DISCOVERY],
    [`/.well-known/openid-configuration${below}`, DISCOVERY],
    ['/.well-known/openid-configuration/oauth2', DISCOVERY],
    [`${below}/.well-known/jwks.json`, JWKS],
    // As MSAL calls it.
    ['/oauth2/devicecode', DEVICE],
    [`${below}/devicecode`, DEVICE],
  ]);

  return (path) => {
    const realm = realmIn(path);
    if (realm !== undefined && !isRealm(realm)) return undefined;
    const [, name] = LAYOUT.exec(path) ?? [];
    if (name !== undefined) {
      const target = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
      return target && `/oauth2${target}`;
    }
    return REALM_DISCOVERY.test(path) ? DISCOVERY : documents.get(path);
  };
}

interface Deps extends IssuerAddress {
  /** The setting `realm_aliases` as it is now. */
  readonly realmAliases: () => string;
}

/** @returns what a path means while the setting `realm_aliases` is as it is now */
export const createAliasOf = ({ realmAliases, ...address }: Deps): ResolveAlias =>
  createResolveAlias(address, createIsRealm(address, realmAliases));

export function aliases({ realmAliases, ...address }: Deps): Koa.Middleware {
  const isRealm = createIsRealm(address, realmAliases);
  const resolve = createResolveAlias(address, isRealm);
  return (ctx, next) => {
    const realm = realmIn(ctx.path);
    if (realm !== undefined && !isRealm(realm)) throw new AppError('request.not_found');
    const target = resolve(ctx.path);
    if (target !== undefined) ctx.path = target;
    return next();
  };
}
