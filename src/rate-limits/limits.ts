// The rate limits and counting them. Each is a number of points per window, a runtime setting,
// counted in the store for all processes; 0 turns it off. Limits of an address have ceilings for the wider networks that it
// is in (wide.ts). When the store cannot count, each process counts alone with a fifth of the limit, so that callers are
// neither unlimited nor locked out.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { RateRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { createLocalCounter, createStoredCounter } from './counter.ts';
import { digestOf, type NetworkFactor, networksOf } from './key.ts';
import { type Charge, createPointLeases, type PointLease } from './lease.ts';
import { createLimiter, type TakePoints } from './limiter.ts';
import { createWideCounts } from './wide.ts';

export type { Charge } from './lease.ts';

const TEN_MINUTES = 600;
const HOUR = 3600;
const DAY = 86_400;

/**
 * `address` keys are network addresses, `name` keys anything else (an account name, a mail address), `both` a name as it is
 * tried from an address (keyFor).
 */
const kinds = {
  /** Wrong passwords from one network. */
  login_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Wrong passwords for one name from one network: keyFor(name, address). */
  login_account_ip: { windowSeconds: TEN_MINUTES, key: 'both' },
  mfa_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** What one holder of something that strangers don't have tries, once the network's own limit is spent (src/http/spent-limit.ts). */
  holder: { windowSeconds: TEN_MINUTES, key: 'name' },
  /** Wrong user codes of the device flow (RFC 8628 §5.1). */
  user_code_ip: { windowSeconds: HOUR, key: 'address' },
  /** The same per account, or per session where no account is signed in. */
  user_code_account: { windowSeconds: HOUR, key: 'name' },
  /** Refused client authentication of one application from one network: keyFor(clientId, address). */
  client_failures_ip: { windowSeconds: TEN_MINUTES, key: 'both' },
  token_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  register_ip: { windowSeconds: HOUR, key: 'address' },
  /** Clients that register without a token, while the setting `agents` is on. */
  agents_ip: { windowSeconds: HOUR, key: 'address' },
  /** Metadata documents fetched for people of one network, and from one host. */
  agent_documents_ip: { windowSeconds: HOUR, key: 'address' },
  agent_documents_host: { windowSeconds: HOUR, key: 'name' },
  /** Over all sign-ups with that address from one network, so that a code cannot be guessed by starting over. */
  signup_address: { windowSeconds: DAY, key: 'both' },
  /** The same from all networks together. */
  signup_codes: { windowSeconds: DAY, key: 'name' },
  /** Mails of one kind to one recipient that anyone can ask for (decision 0032). */
  mail_address: { windowSeconds: HOUR, key: 'name' },
  /** The same that its owner asked for: signed in, in a known browser, or with an accepted password. */
  mail_owner: { windowSeconds: HOUR, key: 'name' },
  /** Mails of one kind to one recipient that only who asked for them can use, by network: keyFor(what, address). */
  mail_requester_ip: { windowSeconds: HOUR, key: 'both' },
  /** What a signed-in person does, each kind by itself, that mails somebody. */
  mail_acts: { windowSeconds: TEN_MINUTES, key: 'name' },
  mail_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Usernames that an account asks for: each answer tells whether one is taken. */
  username_account: { windowSeconds: DAY, key: 'name' },
  /** Each is decoded in a process of its own. */
  avatar_account: { windowSeconds: HOUR, key: 'name' },
  admin_failures_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Records that unauthenticated clients create by /par and /device_authorization, with a lifetime of ten minutes. */
  public_requests_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Requests that are refused for what they are, whatever they ask; refuses nothing else. */
  refusals_ip: { windowSeconds: TEN_MINUTES, key: 'address' },
  /** Logout tokens that administrators send to an application to try it. */
  logout_test_client: { windowSeconds: TEN_MINUTES, key: 'name' },
  /** Started sign-ins: each is in the store until it is finished or expires. */
  authorize_ip: { windowSeconds: HOUR, key: 'address' },
} as const satisfies Readonly<Record<string, { windowSeconds: number; key: 'address' | 'name' | 'both' }>>;

export type RateKind = keyof typeof kinds;

/** The runtime settings: points per window, and how many times as many for a wider network; 0 for off. */
export type RateSettings = { readonly [Kind in RateKind as `limit_${Kind}`]: number } & {
  readonly [Factor in NetworkFactor]: number;
};

/** @see keyFor */
export interface NameAtAddress {
  readonly name: string;
  readonly address: string;
}

export interface RateLimits {
  /**
   * Counts an attempt before it is evaluated: of parallel attempts only as many as there are points pass.
   * @returns the charge, to be given back if the attempt turns out not to be what the limit counts
   * @throws AppError request.rate_limited with the seconds until there are points again
   */
  consume(kind: RateKind, key: string | NameAtAddress): Promise<Charge>;
  /** The same where reaching the limit must not be visible (R095): @returns whether the operation may continue */
  isWithin(kind: RateKind, key: string | NameAtAddress): Promise<boolean>;
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

/** The key for a name and the networks that try it. */
export const keyFor = (name: string, address: string): NameAtAddress => ({ name, address });

interface Key {
  readonly short: string;
  /** Of the ceiling of a wider network, of all origins, or of all networks. */
  readonly factor?: NetworkFactor;
  readonly times?: number;
}

/** How many times as many of a name from all networks together: a person has one mailbox, and a stranger may have many networks. */
const EVERYWHERE: { readonly [Kind in RateKind]?: number } = { mail_requester_ip: 20 };

/** The key of the limit first, then those of its ceilings. */
function keysOf(kind: RateKind, key: string | NameAtAddress): readonly [Key, ...Key[]] {
  if (typeof key === 'string' && kinds[kind].key !== 'address') return [{ short: digestOf(key) }];
  const address = typeof key === 'string' ? key : key.address;
  const shortOf = (network: string): string =>
    typeof key === 'string' ? network : digestOf(key.name, network);
  const [own, ...wider] = networksOf(address).map(({ name, ...factor }) => ({
    short: shortOf(name),
    ...factor,
  }));
  const times = EVERYWHERE[kind];
  const all = times === undefined ? [] : [{ short: shortOf('everywhere'), times }];
  return [own ?? { short: shortOf('') }, ...wider, ...all];
}

export function createRateLimits({ collection, clock, settings, log }: Deps): RateLimits {
  const counter = createStoredCounter({ collection, clock });
  const insurance = createLocalCounter({ clock });
  const leases = createPointLeases({ clock });
  const wide = createWideCounts({ clock });
  const limiters = new Map<string, { readonly points: number; readonly take: TakePoints }>();
  let complainedAt = Number.NEGATIVE_INFINITY;

  function onError(error: unknown): void {
    if (Math.abs(clock() - complainedAt) < QUIET_MS) return;
    complainedAt = clock();
    log.warn({ err: error }, 'rate limits cannot be counted in the store, each process counts alone');
  }

  /** Created anew when the setting changes. */
  function takerOf(kind: RateKind, points: number, factor = ''): TakePoints {
    const width = `${kind} ${factor}`;
    const known = limiters.get(width);
    if (known !== undefined && known.points === points) return known.take;
    const { windowSeconds } = kinds[kind];
    // A changed limit starts a new count: otherwise portions taken of a large limit could exhaust a lowered one, and lock out
    // everyone including the administrator who lowered it.
    const name = `${kind}:${points}`;
    const take = createLimiter({ name, points, windowSeconds, counter, insurance, onError });
    limiters.set(width, { points, take });
    return take;
  }

  /** @throws AppError request.rate_limited */
  function chargeOf(kind: RateKind, short: string, lease: PointLease): Charge {
    if ('charge' in lease) return lease.charge;
    // Once per window and process, so that a flood of requests does not flood the log.
    if (lease.isFirst) log.warn({ event: 'rate_limited', kind, key: short }, 'rate limit reached');
    const seconds = Math.max(1, Math.ceil((lease.refusedUntil - clock()) / 1000));
    throw new AppError('request.rate_limited', { retryAfterSeconds: seconds });
  }

  async function consumeOwn(kind: RateKind, short: string, points: number): Promise<Charge> {
    const take = takerOf(kind, points);
    const lease = await leases.takeOne(`${kind}:${short}`, points, (wanted) => take(short, wanted));
    return chargeOf(kind, short, lease);
  }

  async function consumeWide(
    kind: RateKind,
    { short, factor, times: fixed = 0 }: Key,
    ownPoints: number,
  ): Promise<Charge> {
    const times = factor === undefined ? fixed : settings()[factor];
    if (times <= 0) return free;
    const points = ownPoints * times;
    const take = takerOf(kind, points, factor ?? `times ${times}`);
    const limit = { points, windowMs: kinds[kind].windowSeconds * 1000 };
    const lease = await wide.takeOne(`${kind}:${short}`, limit, (wanted) => take(short, wanted));
    return chargeOf(kind, short, lease);
  }

  async function consume(kind: RateKind, key: string | NameAtAddress): Promise<Charge> {
    const points = settings()[`limit_${kind}`];
    if (points <= 0) return free;
    const [own, ...wider] = keysOf(kind, key);
    if (wider.length === 0) return consumeOwn(kind, own.short, points);
    // The widest first: where it is spent, a flood of new addresses is no write for each.
    return allOrNone([
      ...wider.toReversed().map((one) => () => consumeWide(kind, one, points)),
      () => consumeOwn(kind, own.short, points),
    ]);
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

/** Where one limit refuses, nothing was tried, and the others get their points back. */
async function allOrNone(acts: readonly (() => Promise<Charge>)[]): Promise<Charge> {
  const charges: Charge[] = [];
  const giveBack = (): void => {
    for (const charge of charges) charge.giveBack();
  };
  try {
    for (const act of acts) charges.push(await act());
  } catch (error) {
    giveBack();
    throw error;
  }
  return { giveBack };
}

/** All or none of several limits. */
export const chargeAll = (
  limits: Pick<RateLimits, 'consume'>,
  keys: readonly (readonly [kind: RateKind, key: string | NameAtAddress])[],
): Promise<Charge> =>
  allOrNone(
    keys.map(
      ([kind, key]) =>
        () =>
          limits.consume(kind, key),
    ),
  );
