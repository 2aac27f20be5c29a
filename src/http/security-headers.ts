// The headers of every response, errors included. Pages replace the Content-Security-Policy (src/views/views.ts);
// a response that may be cached sets its own Cache-Control.
import type Koa from 'koa';

export interface SecurityHeadersOptions {
  /** Whether BASE_URL is https. */
  readonly isSecure: boolean;
}

const always = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'",
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cache-Control': 'no-store',
} as const;

/** Also for responses without a Koa context (server.ts). */
export const securityHeaderValues = ({
  isSecure,
}: SecurityHeadersOptions): Readonly<Record<string, string>> =>
  isSecure ? { ...always, 'Strict-Transport-Security': 'max-age=63072000; includeSubDomains' } : always;

export function securityHeaders(options: SecurityHeadersOptions): Koa.Middleware {
  const headers = securityHeaderValues(options);
  return async (ctx, next) => {
    ctx.set({ ...headers });
    await next();
    // Other origins may embed what they may read: the two headers must not contradict each other.
    if (!ctx.headerSent && ctx.res.hasHeader('Access-Control-Allow-Origin')) {
      ctx.remove('Cross-Origin-Resource-Policy');
    }
  };
}
