// Who may read /metrics. With METRICS_TOKEN: a request with that bearer token. Without: requests
// from this machine only, and only if no proxy can be in front of us, because every client's request arrives through
// a proxy's loopback connection.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { isLoopbackHost } from '../model/uris.ts';
import { clientAddress } from './client-address.ts';

export interface MetricsRouteOptions {
  readonly token: string | undefined;
  readonly baseUrl: string;
  readonly trustProxy: number;
  readonly text: () => Promise<string>;
}

/** Not logged: it is requested every few seconds. */
export const METRICS_PATH = '/metrics';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const isLoopback = (address: string): boolean => address === '::1' || /^127\./.test(address);

/** Headers of a forwarded request. */
const FORWARDED = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|cf-connecting-ip|true-client-ip)$/;

/** From this machine, to a loopback name: no proxy, no tunnel, no page that uses DNS rebinding. */
function isDirect(request: IncomingMessage): boolean {
  const host = URL.parse(`http://${request.headers.host ?? ''}`)?.hostname ?? '';
  return (
    isLoopback(clientAddress(request, 0)) &&
    isLoopbackHost(host) &&
    !Object.keys(request.headers).some((name) => FORWARDED.test(name))
  );
}

export function metricsRoute({ token, baseUrl, trustProxy, text }: MetricsRouteOptions): Koa.Middleware {
  const expected = token === undefined ? undefined : digest(token);
  // This server does no TLS: with https in BASE_URL there is a proxy.
  const isNothingInFront = trustProxy === 0 && baseUrl.startsWith('http:');

  return async (ctx, next) => {
    if (ctx.path !== METRICS_PATH) return next();
    if (expected === undefined) {
      // As for any unknown address.
      if (!isNothingInFront || !isDirect(ctx.req)) return next();
    } else {
      const [, shown = ''] = /^Bearer +(\S+)$/i.exec(ctx.get('authorization')) ?? [];
      if (!timingSafeEqual(digest(shown), expected)) throw new AppError('auth.invalid_token');
    }
    ctx.set('Cache-Control', 'no-store');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new AppError('request.method_not_allowed');
    }
    ctx.body = await text();
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
  };
}
