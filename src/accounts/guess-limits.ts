// Rate limits on guessing passwords: the first step of every password check, from a page or the password grant. A valid
// password gives its point back, so that an office behind one address can sign in all day.
import { AppError } from '../errors.ts';
import { type Charge, chargeAll, keyFor, type RateLimits } from '../rate-limits/index.ts';
import type { BrowserTokens } from './known-browsers.ts';
import type { LoginName } from './login-name.ts';

interface Deps {
  readonly limits: Pick<RateLimits, 'consume'>;
  /** Of the current request; '' outside of one. */
  readonly address: () => string;
}

interface Guess {
  /** Takes the point back; nothing where none was charged. */
  readonly giveBack: Charge['giveBack'];
  /** To be thrown unless the account knows the browser. */
  readonly refusal?: AppError;
}

/**
 * A browser that the account knows (decision 0012) is exempt: strangers behind its address could exhaust the limits,
 * and it has a counter of its own. Whether it is known shows only when the account is read.
 * The limits are the same for existing and unknown names: the key is the typed name, folded as the look-up folds it
 * (R087).
 * @throws AppError request.rate_limited
 */
export type ChargeGuess = (name: LoginName | undefined, tokens: BrowserTokens) => Promise<Guess>;

export function createChargeGuess({ limits, address }: Deps): ChargeGuess {
  return async (name, tokens) => {
    try {
      return await chargeAll(limits, [
        ['login_account_ip', keyFor(name?.key ?? '', address())],
        ['login_ip', address()],
      ]);
    } catch (error) {
      const isLimit = error instanceof AppError && error.code === 'request.rate_limited';
      if (!isLimit || tokens.length === 0) throw error;
      return { giveBack: () => undefined, refusal: error };
    }
  };
}
