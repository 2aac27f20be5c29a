// A second path layout (decisions §1), so that clients configured for another identity provider's paths work unchanged. An
// alias is the same handler under another path; nothing else differs.
import type Koa from 'koa';

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

const LAYOUT = /^(?:\/oauth2|\/realms\/[^/]+)\/protocol\/openid-connect\/(.+)$/;
const REALM_DISCOVERY = /^\/realms\/[^/]+\/\.well-known\/openid-configuration$/;

/** @returns the path of ours that an alias stands for, relative to BASE_URL; undefined for any other path */
function resolveAlias(path: string): string | undefined {
  const [, name] = LAYOUT.exec(path) ?? [];
  if (name !== undefined) {
    const target = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
    return target && `/oauth2${target}`;
  }
  if (REALM_DISCOVERY.test(path)) return '/oauth2/.well-known/openid-configuration';
  switch (path) {
    case '/.well-known/openid-configuration':
    case '/.well-known/oauth-authorization-server/oauth2':
      return '/oauth2/.well-known/openid-configuration';
    case '/.well-known/jwks.json':
      return '/oauth2/.well-known/jwks.json';
    default:
      return undefined;
  }
}

export const aliases: Koa.Middleware = (ctx, next) => {
  const target = resolveAlias(ctx.path);
  if (target !== undefined) ctx.path = target;
  return next();
};
