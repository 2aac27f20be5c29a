// Tracks whether a remote database responds. One request makes several calls and must be answered within two seconds in all,
// so after one timeout without any response the following calls get a much shorter timeout, until a response arrives.
import { StoreUnavailable } from '../src/store/port.ts';

/** Timeout of each call while the database is unresponsive. */
const UNRESPONSIVE_TIMEOUT_MS = 50;

export interface ResponseWatch {
  isUnresponsive(): boolean;
  /** @returns the timeout for a call that normally gets `ms` */
  timeoutFor(ms: number): number;
  /** A response has arrived, possibly after its caller's timeout. */
  responded(): void;
  /** A call that started then (by performance.now()) timed out. */
  timedOut(startedAt: number): void;
  /** The connection is new: the next call gets its full timeout. */
  reconnected(): void;
  /** @throws StoreUnavailable with this message after `ms`; the work itself continues */
  within<R>(work: Promise<R>, ms: number, message: string): Promise<R>;
}

export function createResponseWatch(): ResponseWatch {
  let respondedAt = performance.now();
  /** True from a timeout during which no other call got a response either, until the next response. */
  let isUnresponsive = false;

  const timedOut = (startedAt: number): void => {
    if (respondedAt < startedAt) isUnresponsive = true;
  };

  return {
    isUnresponsive: () => isUnresponsive,
    timeoutFor: (ms) => (isUnresponsive ? Math.min(ms, UNRESPONSIVE_TIMEOUT_MS) : ms),
    responded() {
      respondedAt = performance.now();
      isUnresponsive = false;
    },
    timedOut,
    reconnected() {
      isUnresponsive = false;
    },
    async within(work, ms, message) {
      const startedAt = performance.now();
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        timedOut(startedAt);
        late.reject(new StoreUnavailable(message));
      }, ms);
      try {
        return await Promise.race([work, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
