// The two public documents (OIDC Discovery §4, RFC 8414, JWKS) as prebuilt bytes, created once per key set and served
// without Koa, save at the addresses that depend on a setting (aliases.ts).
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type Koa from 'koa';
import { publicCorsHeaders } from '../http/index.ts';
import type { Discovery, InUse } from './discovery.ts';
import { createResolveAlias, type IssuerAddress, isRealmOfIssuer } from './foreign-layout/aliases.ts';

interface Document {
  readonly body: string;
  readonly gzipped: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, which Node writes as they are, of the response with the body and of the gzipped one. */
  readonly wholeHead: string[];
  readonly gzippedHead: string[];
}

export interface Documents {
  /** @returns whether the request was for one of the documents and has been answered */
  respond(request: IncomingMessage, response: ServerResponse): boolean;
  /** Answers for a document's own path, to which an alias has led. */
  readonly middleware: Koa.Middleware;
}

// Long enough to save requests, and shorter than the time for which a new key is published before it signs, so clients
// know every key in time.
const CACHE_CONTROL = 'public, max-age=300';

function createDocument(content: object, commonHeaders: Readonly<Record<string, string>>): Document {
  // A document that any origin may read may also be embedded by any page.
  const { 'Cross-Origin-Resource-Policy': _, ...withoutResourcePolicy } = commonHeaders;
  const body = JSON.stringify(content);
  const gzipped = gzipSync(body, { level: 9 });
  const headers = {
    ...withoutResourcePolicy,
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': CACHE_CONTROL,
    ...publicCorsHeaders,
    Vary: 'Accept-Encoding',
    ETag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  };
  const head = Object.entries(headers).flat();
  return {
    body,
    gzipped,
    headers,
    wholeHead: [...head, 'Content-Length', String(Buffer.byteLength(body))],
    gzippedHead: [...head, 'Content-Length', String(gzipped.length), 'Content-Encoding', 'gzip'],
  };
}

interface Deps extends IssuerAddress {
  readonly discovery: Discovery;
  readonly inUse: () => InUse;
  readonly jwks: object;
  readonly basePath: string;
  /** Security headers that every response has. */
  readonly headers: Readonly<Record<string, string>>;
}

export function createDocuments({ discovery, inUse, jwks, basePath, headers, ...address }: Deps): Documents {
  const made = new Map<string, Document>();
  const jwksDocument = createDocument(jwks, headers);
  const resolve = createResolveAlias(address, isRealmOfIssuer(address));

  const discoveryNow = (): Document => {
    const now = inUse();
    const key = JSON.stringify(now);
    const known = made.get(key) ?? createDocument(discovery(now), headers);
    made.set(key, known);
    return known;
  };

  const documentAt = (path: string): Document | undefined => {
    switch (path) {
      case '/oauth2/.well-known/openid-configuration':
      case '/oauth2/.well-known/oauth-authorization-server':
        return discoveryNow();
      case '/oauth2/.well-known/jwks.json':
        return jwksDocument;
      default:
        return undefined;
    }
  };

  // RFC 8414 §3.1: with the whole path of the issuer at the root of the host, which may lie beside BASE_URL.
  const whole = new URL(address.issuer).pathname.replace(/\/$/, '');
  const rooted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `/.well-known/${name}${whole}`,
  );

  const find = (url: string): Document | undefined => {
    const path = url.includes('?') ? url.slice(0, url.indexOf('?')) : url;
    // Called for every request, so most of them must cost nothing here.
    if (!path.includes('/.well-known/') && !path.endsWith('/certs')) return undefined;
    if (rooted.includes(path)) return discoveryNow();
    if (!path.startsWith(`${basePath}/`)) return undefined;
    const own = path.slice(basePath.length);
    return documentAt(resolve(own) ?? own);
  };

  return {
    middleware(ctx, next) {
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
      const document = isRead ? documentAt(ctx.path) : undefined;
      if (document === undefined) return next();
      ctx.status = 200;
      ctx.set({ ...document.headers });
      if (ctx.fresh) ctx.status = 304;
      else ctx.body = document.body;
      return undefined;
    },

    respond(request, response) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      // Refused (src/http/request-guard.ts).
      if (request.headers['sec-fetch-mode'] === 'no-cors') return false;
      const document = find(request.url ?? '');
      if (document === undefined) return false;
      if (request.headers['if-none-match'] === document.headers.ETag) {
        response.writeHead(304, document.headers).end();
        return true;
      }
      const isGzipped = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
      response.writeHead(200, isGzipped ? document.gzippedHead : document.wholeHead);
      // Node sends a text in one piece with the head.
      if (request.method === 'HEAD') response.end();
      else response.end(isGzipped ? document.gzipped : document.body);
      return true;
    },
  };
}
