// Owns what a load balancer asks: does the process live (/healthz), can it serve (/readyz). Cheap, public, unlogged,
// and silent about everything else (checklist R166).
import type Koa from 'koa';
import { StoreUnavailable } from '../store/port.ts';

export interface HealthOptions {
  /** Rejects when the store does not answer. */
  readonly ping: () => Promise<void>;
  /** True from the moment the process was told to stop, so that the balancer sends nobody here any more. */
  readonly isDraining?: (() => boolean) | undefined;
  /** How long the store may take to answer. */
  readonly timeoutMs?: number;
}

const PING_TIMEOUT_MS = 2_000;

/** Whether this path is a probe, which no log needs to tell every second. */
export const isProbe = (path: string): boolean => path === '/healthz' || path === '/readyz';

/** What is down when the store does not say it more exactly. */
const STORE = ['store'];

/**
 * However many ask at once, the store is asked once: a probe must not become a load.
 * @returns a function that tells what is down
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
