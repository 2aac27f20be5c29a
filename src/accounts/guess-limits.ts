// The limits on guessing passwords: whatever path a guess comes in by (a page, the password grant), it is counted before it is
// validated. What turns out to be valid is given back, so that an office behind one address can sign in all day.
import { AppError, type ErrorCode } from '../errors.ts';
import { type Charge, chargeAll, keyFor, type RateLimits } from '../rate-limits/index.ts';
import { parseLoginName } from './login-name.ts';

interface Deps {
  readonly limits: Pick<RateLimits, 'consume'>;
  /** Of the request we are in; '' where there is none. */
  readonly address: () => string;
}

const isOneOf = (error: unknown, codes: readonly ErrorCode[]): boolean =>
  error instanceof AppError && codes.includes(error.code);

/** Where a password is typed, as far as the limits ask. */
interface From {
  readonly tokens: readonly string[];
  readonly refusal?: AppError;
}

/**
 * A browser that the account knows (decisions §8) is let past them: strangers behind its address could use them up, and
 * it has a counter of its own.
 *
 * The limits are the same for names that exist and names that don't: what is counted is what was typed, folded as the
 * look-up folds it (R087).
 * @returns authenticate, which now also throws AppError request.rate_limited
 */
export function limitSignIns<Account>(
  authenticate: (identifier: string, password: string, browser?: From) => Promise<Account | undefined>,
  { limits, address }: Deps,
): (identifier: string, password: string, browser?: From) => Promise<Account | undefined> {
  return async (identifier, password, browser) => {
    const name = parseLoginName(identifier)?.key ?? '';
    let charge: Pick<Charge, 'giveBack'>;
    try {
      charge = await chargeAll(limits, [
        ['login_account_ip', keyFor(name, address())],
        ['login_ip', address()],
      ]);
    } catch (error) {
      const isLimit = error instanceof AppError && error.code === 'request.rate_limited';
      if (!isLimit || browser === undefined || browser.tokens.length === 0) throw error;
      return authenticate(identifier, password, { ...browser, refusal: error });
    }
    try {
      const account = await authenticate(identifier, password, browser);
      if (account !== undefined) charge.giveBack();
      return account;
    } catch (error) {
      // Nobody has looked at the password.
      if (isOneOf(error, ['server.busy'])) charge.giveBack();
      throw error;
    }
  };
}
