// One limit: counted in the store for all processes together, and in this process alone while the store cannot count.
import type { RateCounter } from './counter.ts';

interface LimiterOptions {
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
  readonly counter: RateCounter;
  /** Counts while the other cannot. */
  readonly insurance: RateCounter;
  readonly onError?: (error: unknown) => void;
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

export function createLimiter(options: LimiterOptions): TakePoints {
  const { name, points, windowSeconds, counter, insurance, onError } = options;

  async function take(by: RateCounter, limit: number, key: string, wanted: number): Promise<Taken> {
    const counted = await by.add(`${name}:${key}`, wanted, limit, windowSeconds * 1000);
    return { isGranted: counted.points <= limit, isInsured: by === insurance, until: counted.expiresAt };
  }

  return async (key, wanted) => {
    try {
      return await take(counter, points, key, wanted);
    } catch (error) {
      onError?.(error);
      return take(insurance, Math.max(1, Math.floor(points / INSURED_SHARE)), key, wanted);
    }
  };
}
