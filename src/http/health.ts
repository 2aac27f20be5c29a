// Probes for a load balancer: is the process alive (/healthz), can it serve (/readyz). Cheap, public, not logged, and without
// any other information.
import type Koa from 'koa';
import { StoreUnavailable } from '../store/port.ts';

export interface HealthOptions {
  /** Rejects if the store does not respond. */
  readonly ping: () => Promise<void>;
  /** True once a stop was requested, so that the load balancer sends no more requests. */
  readonly isDraining?: (() => boolean) | undefined;
  /** Timeout for the store. */
  readonly timeoutMs?: number;
}

const PING_TIMEOUT_MS = 2_000;

/** Whether this path is a probe; probes are not logged. */
export const isProbe = (path: string): boolean => path === '/healthz' || path === '/readyz';

/** Reported as down if the store does not name its parts. */
const STORE = ['store'];

/**
 * Concurrent probes share one request to the store: a probe must not cause load.
 * @returns a function that reports which parts are down
 */
function sharedPing(ping: () => Promise<void>, timeoutMs: number): () => Promise<readonly string[]> {
  let pending: Promise<readonly string[]> | undefined;
  const ask = async (): Promise<readonly string[]> => {
    const late = Promise.withResolvers<readonly string[]>();
    const timer = setTimeout(() => late.resolve(STORE), timeoutMs);
    try {
      return await Promise.race([ping().then(() => []), late.promise]);
    } catch (error) {
      return error instanceof StoreUnavailable && error.down.length > 0 ? error.down : STORE;
    } finally {
      clearTimeout(timer);
      pending = undefined;
    }
  };
  return () => {
    pending ??= ask();
    return pending;
  };
}

export function healthRoutes({
  ping,
  isDraining = () => false,
  timeoutMs = PING_TIMEOUT_MS,
}: HealthOptions): Koa.Middleware {
  const askStore = sharedPing(ping, timeoutMs);
  const whatIsDown = async (): Promise<readonly string[]> => (isDraining() ? ['process'] : askStore());
  return async (ctx, next) => {
    if (!isProbe(ctx.path)) return next();
    ctx.set('Cache-Control', 'no-store');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      ctx.status = 405;
      return;
    }
    const down = ctx.path === '/readyz' ? await whatIsDown() : [];
    ctx.status = down.length === 0 ? 200 : 503;
    ctx.body = down.length === 0 ? { status: 'ok' } : { status: 'unavailable', down };
  };
}
