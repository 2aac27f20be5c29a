// Where others have used up the limit of a network, those of it go on who hold what strangers don't: a browser that the account
// knows, an accepted password, a passkey, a valid link or invitation (decision 0012). Whether a request has it only its page can say,
// so the refusal waits for the page, and what is held has a counter of its own.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import type { AppError } from '../errors.ts';
import type { Charge, RateLimits } from '../rate-limits/index.ts';

interface SpentLimit {
  readonly refusal: AppError;
  readonly take: (holder: string) => Promise<void>;
}

const spent = new WeakMap<IncomingMessage, SpentLimit>();

export interface LateCharge extends Charge {
  /** @throws the refusal, where no page has asked whether it holds */
  keep(): void;
}

/** @returns the charge of whoever passes */
export function refuseLater(
  ctx: Koa.Context,
  refusal: AppError,
  limits: Pick<RateLimits, 'consume'>,
): LateCharge {
  let charge: Charge | undefined;
  spent.set(ctx.req, {
    refusal,
    async take(holder) {
      charge = await limits.consume('holder', holder);
    },
  });
  return {
    giveBack: () => charge?.giveBack(),
    keep() {
      if (charge === undefined) throw refusal;
    },
  };
}

/**
 * To be called before anything is tried, by each page whose limit waits for it (rate-middleware.ts).
 * @param holder what is held, for its counter; undefined: nothing. Called only where the limit of the network is spent
 * @throws AppError request.rate_limited
 */
export async function passSpentLimit(
  ctx: Koa.Context,
  holder: () => Promise<string | undefined> | string | undefined,
): Promise<void> {
  const limit = spent.get(ctx.req);
  if (limit === undefined) return;
  const held = await holder();
  if (held === undefined) throw limit.refusal;
  await limit.take(held);
}
