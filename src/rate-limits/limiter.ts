// The only file that imports rate-limiter-flexible: one limiter over a counter of ours, with a second one as insurance for
// when the first cannot count.
import { createRequire } from 'node:module';
import type { RateLimiterLike, RateLimiterRes, RateLimiterStoreAbstract } from 'rate-limiter-flexible';
import type { Clock } from '../clock.ts';
import type { Counted, RateCounter } from './counter.ts';

// The library's documented extension point for custom stores (README, "Any new limiter with storage must be extended from
// RateLimiterStoreAbstract") is `_upsert` and `_getRateLimiterRes`. Its types export the class, its index does not.
const load = createRequire(import.meta.url);
const StoreAbstract: typeof RateLimiterStoreAbstract = load(
  'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js',
);
const Result: typeof RateLimiterRes = load('rate-limiter-flexible/lib/RateLimiterRes.js');

/** The library's result with the fields that we need. */
class CountedResult extends Result {
  readonly expiresAt: number;
  readonly isInsured: boolean;
  constructor(
    counted: Counted,
    { limit, now, isInsured }: { limit: number; now: number; isInsured: boolean },
  ) {
    super(Math.max(limit - counted.points, 0), Math.max(counted.expiresAt - now, 0), counted.points, false);
    this.expiresAt = counted.expiresAt;
    this.isInsured = isInsured;
  }
}

interface LimiterOptions {
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
  readonly counter: RateCounter;
  readonly clock: Clock;
  readonly onError?: (error: unknown) => void;
}

class CountingLimiter extends StoreAbstract {
  readonly #options: LimiterOptions;
  readonly #isInsurance: boolean;

  constructor(options: LimiterOptions, insurance?: RateLimiterLike) {
    super({
      keyPrefix: options.name,
      points: options.points,
      duration: options.windowSeconds,
      storeClient: options.counter,
      ...(insurance && { insuranceLimiter: insurance }),
    });
    this.#options = options;
    this.#isInsurance = insurance === undefined;
  }

  /** Called by the library: adds points. */
  async _upsert(key: string, points: number, durationMs: number): Promise<Counted> {
    const { counter, onError } = this.#options;
    try {
      return await counter.add(key, points, this.points, durationMs);
    } catch (error) {
      onError?.(error);
      throw error;
    }
  }

  /** Called by the library: converts the result of _upsert. */
  _getRateLimiterRes(_key: string, _points: number, counted: Counted): RateLimiterRes {
    const now = this.#options.clock();
    return new CountedResult(counted, { limit: this.points, now, isInsured: this.#isInsurance });
  }
}

export interface Taken {
  readonly isGranted: boolean;
  /** Whether the store was unavailable and only this process has counted. */
  readonly isInsured: boolean;
  /** End of the window, epoch milliseconds. */
  readonly until: number;
}

/** @returns whether that many points could be taken for the key; all or none */
export type TakePoints = (key: string, points: number) => Promise<Taken>;

/** While each process counts alone, each gets this fraction of the limit. */
const INSURED_SHARE = 5;

export function createLimiter(options: LimiterOptions & { readonly insurance: RateCounter }): TakePoints {
  const { insurance, ...own } = options;
  const points = Math.max(1, Math.floor(own.points / INSURED_SHARE));
  const limiter = new CountingLimiter(own, new CountingLimiter({ ...own, points, counter: insurance }));
  const toTaken = (result: unknown, isGranted: boolean): Taken => {
    // Every result is created by _getRateLimiterRes; anything else is an error that the insurance had too.
    if (!(result instanceof CountedResult)) throw result;
    return { isGranted, isInsured: result.isInsured, until: result.expiresAt };
  };
  return async (key, wanted) => {
    try {
      return toTaken(await limiter.consume(key, wanted), true);
    } catch (refusal) {
      return toTaken(refusal, false);
    }
  };
}
