// Limits on how often something may be tried, by address or name, over all processes (limits.ts, where to start), and how many
// sign-ins may be open at once: of one network (open-sign-ins.ts), of wider ones and of all strangers (shared-places.ts). What a limit protects is decided where it is consumed.
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { interactions } from '../store/protocol-collections.ts';
import { createStoredCounter } from './counter.ts';
import { digestOf } from './key.ts';
import { type Charge, chargeAll, createRateLimits, keyFor, type RateSettings } from './limits.ts';
import { createOpenSignIns } from './open-sign-ins.ts';
import { type Beginner, createSharedPlaces, type SharedPlaceSettings } from './shared-places.ts';

export { createFairQueue, createSharedQueue, type SharedQueue } from './bounded-queue.ts';
export { networkOf, ofOrigin, turnOf } from './key.ts';
export { type Charge, chargeAll, keyFor, type RateKind, type RateLimits } from './limits.ts';
export type { TurnPath } from './turns.ts';

/** How long a device waits between two questions (RFC 8628 §3.2). */
export const POLL_SECONDS = 5;

/** Less by what two answers may differ in on their way. */
const POLL_MS = (POLL_SECONDS - 1) * 1000;

/** Of one sign-in. */
interface Places {
  /** Among its own network's. */
  readonly place: string | undefined;
  /** Among those of the installation and of the wider networks. */
  readonly sharedPlaces: readonly string[];
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: () => RateSettings & SharedPlaceSettings;
  readonly log: Pick<Logger, 'warn'>;
}

export function createRateLimiting({ store, clock, settings, log }: Deps) {
  const collection = store.ephemeral(model.rates);
  const limits = createRateLimits({ collection, clock, settings, log });
  const polls = createStoredCounter({ collection, clock });
  const openSignIns = createOpenSignIns({
    collection: store.ephemeral(interactions),
    clock,
    limit: () => settings().limit_open_signins_ip,
  });
  const sharedPlaces = createSharedPlaces({ collection: store.ephemeral(interactions), clock, settings });
  return {
    limits,
    openSignIns,
    /** For the protocol core. */
    guards: {
      takePlace: <T>(beginner: Beginner, save: (places: Places) => Promise<T>): Promise<T> =>
        sharedPlaces.take(beginner, (shared) =>
          openSignIns.take(beginner.address, (place) => save({ place, sharedPlaces: shared })),
        ),
      /**
       * A user code has 34.6 bits (20^8), so what protects it is the number of guesses (RFC 8628 §5.1). Charged before the
       * look-up; a valid code gives the points back.
       * @throws AppError request.rate_limited
       */
      chargeUserCode: (address: string, holder: string): Promise<Charge> =>
        chargeAll(limits, [
          ['user_code_account', holder],
          ['user_code_ip', address],
        ]),
      /** Whether the last time that this device asked is long enough ago. */
      mayPoll: async (code: string): Promise<boolean> =>
        (await polls.add(`device_poll:${digestOf(code)}`, 1, 1, POLL_MS)).points <= 1,
      /** One refused client authentication. @throws AppError request.rate_limited */
      chargeRefusedClient: (clientId: string, address: string): Promise<Charge> =>
        limits.consume('client_failures_ip', keyFor(clientId, address)),
    },
  };
}

export type RateLimiting = ReturnType<typeof createRateLimiting>;
