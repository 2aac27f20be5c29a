// Rate limits on guessing passwords. Every attempt, from a page or the password grant, is counted before the password
// is checked. A valid password gives its point back, so that an office behind one address can sign in all day.
import { AppError, type ErrorCode } from '../errors.ts';
import { type Charge, chargeAll, keyFor, type RateLimits } from '../rate-limits/index.ts';
import { parseLoginName } from './login-name.ts';

interface Deps {
  readonly limits: Pick<RateLimits, 'consume'>;
  /** Of the current request; '' outside of one. */
  readonly address: () => string;
}

const isOneOf = (error: unknown, codes: readonly ErrorCode[]): boolean =>
  error instanceof AppError && codes.includes(error.code);

/** What the limits need to know about the attempt. */
interface From {
  readonly tokens: readonly string[];
  readonly refusal?: AppError;
}

/**
 * A browser that the account knows (decisions §8) is exempt: strangers behind its address could exhaust the limits,
 * and it has a counter of its own.
 * The limits are the same for existing and unknown names: the key is the typed name, folded as the look-up folds it
 * (R087).
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
      // The password was not checked.
      if (isOneOf(error, ['server.busy'])) charge.giveBack();
      throw error;
    }
  };
}
