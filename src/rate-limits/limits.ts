// The rate limits (checklist R087, R090, R095) and counting them. Each is a number of points per window, a runtime setting,
// counted in the store for all processes; 0 turns it off. When the store cannot count, each process counts alone with a
// fifth of the limit, so that callers are neither unlimited nor locked out.
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
  /** The same per account, or per session where no account is signed in. */
  user_code_account: { windowSeconds: HOUR, key: 'name' },
  /** Refused client authentication of one application from one network: keyFor(clientId, address). */
  client_failures_ip: { windowSeconds: TEN_MINUTES, key: 'name' },
  token_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  register_ip: { windowSeconds: HOUR, key: 'address' },
  /** Clients that register without a token, while the setting `agents` is on. */
  agents_ip: { windowSeconds: HOUR, key: 'address' },
  /** Metadata documents fetched for people of one network, and from one host. */
  agent_documents_ip: { windowSeconds: HOUR, key: 'address' },
  agent_documents_host: { windowSeconds: HOUR, key: 'name' },
  /** Over all sign-ups with that address, so that a code cannot be guessed by starting over. */
  signup_address: { windowSeconds: DAY, key: 'name' },
  mail_address: { windowSeconds: TEN_MINUTES, key: 'name' },
  mail_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Usernames that an account asks for: each answer tells whether one is taken. */
  username_account: { windowSeconds: DAY, key: 'name' },
  /** Each is decoded in a process of its own. */
  avatar_account: { windowSeconds: HOUR, key: 'name' },
  admin_failures_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Records that unauthenticated clients create by /par and /device_authorization, with a lifetime of ten minutes. */
  public_requests_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Logout tokens that administrators send to an application to try it. */
  logout_test_client: { windowSeconds: TEN_MINUTES, key: 'name' },
  /** Started sign-ins: each is in the store until it is finished or expires (checklist R138). */
  authorize_ip: { windowSeconds: HOUR, key: 'address' },
} as const satisfies Readonly<Record<string, { windowSeconds: number; key: 'address' | 'name' }>>;

export type RateKind = keyof typeof kinds;

/** The runtime settings: points per window, 0 for off. */
export type RateSettings = { readonly [Kind in RateKind as `limit_${Kind}`]: number };

export interface RateLimits {
  /**
   * Counts an attempt before it is evaluated: of parallel attempts only as many as there are points pass.
   * @returns the charge, to be given back if the attempt turns out not to be what the limit counts
   * @throws AppError request.rate_limited with the seconds until there are points again
   */
  consume(kind: RateKind, key: string): Promise<Charge>;
  /** The same where reaching the limit must not be visible (R095): @returns whether the operation may continue */
  isWithin(kind: RateKind, key: string): Promise<boolean>;
}

interface Deps {
  readonly collection: EphemeralCollection<RateRecord>;
  readonly clock: Clock;
  readonly settings: () => RateSettings;
  readonly log: Pick<Logger, 'warn'>;
}

const free: Charge = { giveBack: () => undefined };

/** At most one log line in this time about a store that cannot count. */
const QUIET_MS = 10_000;

/** @returns the key for a name and the network that tries it */
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
    log.warn({ err: error }, 'rate limits cannot be counted in the store, each process counts alone');
  }

  /** Created anew when the setting changes. */
  function takerOf(kind: RateKind, points: number): TakePoints {
    const known = limiters.get(kind);
    if (known !== undefined && known.points === points) return known.take;
    const { windowSeconds } = kinds[kind];
    // A changed limit starts a new count: otherwise portions taken of a large limit could exhaust a lowered one, and lock out
    // everyone including the administrator who lowered it.
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
    // Once per window and process, so that a flood of requests does not flood the log.
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

/** All or none: where one limit refuses, nothing was tried, and the others get their points back. */
export async function chargeAll(
  limits: Pick<RateLimits, 'consume'>,
  keys: readonly (readonly [kind: RateKind, key: string])[],
): Promise<Charge> {
  const charges: Charge[] = [];
  const giveBack = (): void => {
    for (const charge of charges) charge.giveBack();
  };
  try {
    for (const [kind, key] of keys) charges.push(await limits.consume(kind, key));
  } catch (error) {
    giveBack();
    throw error;
  }
  return { giveBack };
}
