// Owns the limits on guessing passwords and administrators' bearers, wrapped round the one function that judges each:
// whatever path a guess comes in by (a page, the password grant, introspection), it is counted before it is judged. What
// turns out to be right is given back, so that an office behind one address can sign in all day.
import { AppError, type ErrorCode } from '../errors.ts';
import { type Charge, keyFor, type RateKind, type RateLimits } from '../rate-limits/limits.ts';
import { parseLoginName } from './login-name.ts';

interface Deps {
  readonly limits: Pick<RateLimits, 'consume'>;
  /** Of the request we are in; '' where there is none. */
  readonly address: () => string;
}

type Key = readonly [kind: RateKind, key: string];

/** All or none: where one limit refuses, nothing was tried, and the others get their points back. */
async function consumeAll(limits: Deps['limits'], keys: readonly Key[]): Promise<Charge> {
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
      charge = await consumeAll(limits, [
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

/**
 * A user code has 34.6 bits (20^8), so what protects it is the number of guesses (RFC 8628 §5.1). Charged before the
 * look-up; a valid code gives the points back.
 * @param limits of the user codes
 * @returns the charge of one guess; throws AppError request.rate_limited
 */
export const chargeUserCode =
  (limits: Deps['limits']) =>
  (address: string, holder: string): Promise<Charge> =>
    consumeAll(limits, [
      ['user_code_account', holder],
      ['user_code_ip', address],
    ]);

/** @returns the charge of one refused client authentication; throws AppError request.rate_limited */
export const chargeRefusedClient =
  (limits: Deps['limits']) =>
  (clientId: string, address: string): Promise<Charge> =>
    limits.consume('client_failures_ip', keyFor(clientId, address));

/**
 * Only bearers that are nobody's count, and only they are refused. A bearer is 256 random bits or a signature, so a guess
 * is worth nothing however many there are: the limit is against the load of guessing. If it also refused the right
 * bearer, whoever shares an address with the administrators (one proxy too few in TRUST_PROXY) could lock them out.
 * @returns authorize, which now also throws AppError request.rate_limited
 */
export function limitBearerGuesses<Actor, More extends unknown[]>(
  authorize: (authorization: string | undefined, ...more: More) => Promise<Actor>,
  { limits, address }: Deps,
): (authorization: string | undefined, ...more: More) => Promise<Actor> {
  return async (authorization, ...more) => {
    try {
      return await authorize(authorization, ...more);
    } catch (error) {
      if (isOneOf(error, ['auth.invalid_token'])) await limits.consume('admin_failures_ip', address());
      throw error;
    }
  };
}
