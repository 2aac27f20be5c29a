// Documents that browsers request at the root of the host, even if BASE_URL has a path: the other origins at which passkeys of
// this one may be used (WebAuthn §5.11, Related Origin Requests), and where users change their password (W3C "A Well-Known URL
// for Changing Passwords"), which password managers open, and which issuer signs in the people of a domain (RFC 7033, OpenID
// Connect Discovery §2), which clients ask for that know no more than an address.
import { domainToASCII } from 'node:url';
import type Koa from 'koa';
import { AppError, invalid } from '../errors.ts';
import { isListedDomain } from '../model/word-kinds.ts';
import { publicCorsHeaders } from './cors.ts';
import { createRouter } from './router.ts';

interface Deps {
  /** Ours first. */
  readonly passkeyOrigins: () => readonly string[];
  /** The path of BASE_URL; empty if it has none. */
  readonly basePath: string;
  readonly issuer: string;
  readonly webfingerDomains: () => string;
}

const ISSUER = 'http://openid.net/specs/connect/1.0/issuer';

export function wellKnown({ passkeyOrigins, basePath, issuer, webfingerDomains }: Deps): Koa.Middleware {
  const router = createRouter({ refusesOtherMethods: true });
  router.get('/.well-known/webauthn', (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = { origins: passkeyOrigins() };
  });
  router.get('/.well-known/change-password', (ctx) => {
    // §3.1: a temporary redirect, so that nothing remembers the page behind it.
    ctx.status = 303;
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(`${basePath}/account/password`);
  });
  // By the domain alone: the answer does not say who exists.
  router.get('/.well-known/webfinger', (ctx) => {
    ctx.set(publicCorsHeaders);
    const { resource, rel = [] } = ctx.query;
    if (typeof resource !== 'string' || resource === '') throw invalid({ resource: 'Give one address.' });
    const [, domain = ''] = /^acct:[^@]+@([^@]+)$/i.exec(resource) ?? [];
    if (!isListedDomain(webfingerDomains(), domainToASCII(domain)))
      throw new AppError('request.not_found', { message: 'No address of this domain signs in here.' });
    ctx.set('Cache-Control', 'public, max-age=300');
    const isAsked = rel.length === 0 || [rel].flat().includes(ISSUER);
    ctx.body = { subject: resource, links: isAsked ? [{ rel: ISSUER, href: issuer }] : [] };
    ctx.type = 'application/jrd+json';
  });
  return router.middleware;
}
