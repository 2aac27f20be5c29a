// Owns the rate limits (decisions §8, checklist R087, R090, R095): which there are, and counting them. Each is so many
// points in a window, a runtime setting, counted in the store for all processes together; 0 switches it off. When the
// store cannot count, each process counts for itself with a fifth of the limit: never unlimited, never nobody.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { RateRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { createLocalCounter, createStoredCounter } from './counter.ts';
import { digestOf, networkOf } from './key.ts';
import { type Charge, createPointLeases } from './lease.ts';
import { createLimiter, type TakePoints } from './limiter.ts';

export type { Charge } from './lease.ts';

const TEN_MINUTES = 600;
const HOUR = 3600;
const DAY = 86_400;

/** `address` keys are network addresses, `name` keys anything else (an account name, a mail address). */
const kinds = {
  /** Wrong passwords from one network. */
  login_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Wrong passwords for one name from one network: keyFor(name, address). */
  login_account_ip: { windowSeconds: TEN_MINUTES, key: 'name' },
  mfa_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Wrong user codes of the device flow (RFC 8628 §5.1). */
  user_code_ip: { windowSeconds: HOUR, key: 'address' },
  /** The same by account, or by session where no account is signed in. */
  user_code_account: { windowSeconds: HOUR, key: 'name' },
  /** Refused client authentication of one application from one network: keyFor(clientId, address). */
  client_failures_ip: { windowSeconds: TEN_MINUTES, key: 'name' },
  token_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  register_ip: { windowSeconds: HOUR, key: 'address' },
  /** Over all sign-ups with that address, or a million guesses would be its owner's mailbox. */
  signup_address: { windowSeconds: DAY, key: 'name' },
  mail_address: { windowSeconds: TEN_MINUTES, key: 'name' },
  mail_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  admin_failures_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** What a stranger stores by /par and /device_authorization, where it lives ten minutes at most. */
  public_requests_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Sign-ins that were begun: each is kept in the store until it is finished or forgotten (checklist R138). */
  authorize_ip: { windowSeconds: HOUR, key: 'address' },
} as const satisfies Readonly<Record<string, { windowSeconds: number; key: 'address' | 'name' }>>;

export type RateKind = keyof typeof kinds;

/** The runtime settings: points per window, 0 for off. */
export type RateSettings = { readonly [Kind in RateKind as `limit_${Kind}`]: number };

export interface RateLimits {
  /**
   * Counts one attempt, before it is looked at: of any number at once only as many as are left are let through.
   * @returns the charge, to be given back where the attempt turns out not to be what the limit is for
   * @throws AppError request.rate_limited with the seconds until there are points again
   */
  consume(kind: RateKind, key: string): Promise<Charge>;
  /** The same where reaching the limit must not show (R095): @returns whether the act may go on */
  isWithin(kind: RateKind, key: string): Promise<boolean>;
}

interface Deps {
  readonly collection: EphemeralCollection<RateRecord>;
  readonly clock: Clock;
  readonly settings: () => RateSettings;
  readonly log: Pick<Logger, 'warn'>;
}

const free: Charge = { giveBack: () => undefined };

/** At most one line in that time about a store that cannot count. */
const QUIET_MS = 10_000;

/** @returns the key for a name and the network it is tried from */
export const keyFor = (name: string, address: string): string => digestOf(name, networkOf(address));

export function createRateLimits({ collection, clock, settings, log }: Deps): RateLimits {
  const counter = createStoredCounter({ collection, clock });
  const insurance = createLocalCounter({ clock });
  const leases = createPointLeases({ clock });
  const limiters = new Map<RateKind, { readonly points: number; readonly take: TakePoints }>();
  let complainedAt = Number.NEGATIVE_INFINITY;

  function onError(error: unknown): void {
    if (Math.abs(clock() - complainedAt) < QUIET_MS) return;
    complainedAt = clock();
    log.warn({ err: error }, 'rate limits cannot be counted in the store, each process counts for itself');
  }

  /** Made anew when the setting has changed. */
  function takerOf(kind: RateKind, points: number): TakePoints {
    const known = limiters.get(kind);
    if (known !== undefined && known.points === points) return known.take;
    const { windowSeconds } = kinds[kind];
    // A changed limit counts anew: portions taken of a large one would be all that a small one has, and who lowers a
    // limit would lock everybody out, himself first.
    const name = `${kind}:${points}`;
    const take = createLimiter({ name, points, windowSeconds, counter, insurance, clock, onError });
    limiters.set(kind, { points, take });
    return take;
  }

  async function consume(kind: RateKind, key: string): Promise<Charge> {
    const points = settings()[`limit_${kind}`];
    if (points <= 0) return free;
    const short = kinds[kind].key === 'address' ? networkOf(key) : digestOf(key);
    const take = takerOf(kind, points);
    const lease = await leases.takeOne(`${kind}:${short}`, points, (wanted) => take(short, wanted));
    if ('charge' in lease) return lease.charge;
    // Once per window and process, or a flood of requests would become a flood of lines.
    if (lease.isFirst) log.warn({ event: 'rate_limited', kind, key: short }, 'rate limit reached');
    const seconds = Math.max(1, Math.ceil((lease.refusedUntil - clock()) / 1000));
    throw new AppError('request.rate_limited', { retryAfterSeconds: seconds });
  }

  return {
    consume,
    async isWithin(kind, key) {
      try {
        await consume(kind, key);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === 'request.rate_limited') return false;
        throw error;
      }
    },
  };
}
