// Every bearer that opens something of ours: wrong ones are counted and reported, and what a valid one causes is its actor's.
//
// Only bearers that belong to no one count, and only they are refused. A bearer is 256 random bits or a signature, so a guess is
// worth nothing however many there are: the limit is against the load of guessing. If it also refused the valid bearer, whoever
// shares an address with the administrators (one proxy too few in TRUST_PROXY) could lock them out.
import { AppError, type ErrorCode } from '../../errors.ts';
import type { Actor, Events } from '../../events/index.ts';
import type { RateLimits } from '../../rate-limits/index.ts';

/** What is known of a bearer that is refused; one that is missing is no attempt. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['auth.invalid_token', 'auth.insufficient_scope']);

/** @throws AppError request.rate_limited, and what `authorize` throws */
export type GuardBearer = <A extends Actor>(authorize: () => Promise<A>) => Promise<A>;

export function createBearerGuard(deps: {
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly events: Pick<Events, 'emit' | 'origins'>;
}): GuardBearer {
  const { limits, events } = deps;
  const { origins } = events;

  async function countRefusal({ code }: AppError): Promise<void> {
    if (code === 'auth.invalid_token') await limits.consume('admin_failures_ip', origins.countedAs());
    if (REFUSALS.has(code)) events.emit('tokensRefused', { endpoint: 'admin', error: code });
  }

  return async (authorize) => {
    try {
      const actor = await authorize();
      origins.setActor({ kind: actor.kind, id: actor.id });
      return actor;
    } catch (error) {
      if (error instanceof AppError) await countRefusal(error);
      throw error;
    }
  };
}
