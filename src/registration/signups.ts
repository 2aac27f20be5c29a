// Sign-ups with an unverified e-mail address. The account is created only after the code from the mail was entered:
// typing another person's address or name reserves nothing. A request does the same whether or not the address is
// known; that is checked when the code is created, outside of the request.
import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { type Clock, leftUntil } from '../clock.ts';
import { parseSixDigits } from '../second-factors/index.ts';
import type { AccountRecord, SignupRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';

export interface PendingSignup {
  readonly email: string;
  /** Epoch milliseconds. */
  readonly askedAt: number;
  readonly username: string;
  /** Whether a code was mailed that counts. */
  readonly isIssued: boolean;
}

export type SignupVerdict =
  | { readonly outcome: 'wrong' | 'expired' | 'tried' }
  | { readonly outcome: 'ok'; readonly account: AccountRecord };

export interface Signups {
  /**
   * Whether an account already has the name. Users choose their names, so a conflict is reported; a name that
   * is an e-mail address is never looked up here.
   */
  isNameTaken(account: AccountRecord): Promise<boolean>;
  /**
   * Stores a sign-up until its address is verified; replaces an earlier one of the same interaction.
   * @param id of the interaction. @param account has an e-mail address
   */
  begin(id: string, account: AccountRecord): Promise<void>;
  find(id: string): Promise<PendingSignup | undefined>;
  /** @returns whether another code may be requested now; the request is then noted */
  askAgain(id: string): Promise<boolean>;
  /**
   * Creates the code to mail; earlier ones count until they expire. For the address of an existing account no code is
   * created, so every entered code is wrong.
   */
  issue(
    id: string,
  ): Promise<{ email: string; isKnown: boolean; code: string; expiresAt: number } | undefined>;
  /**
   * @param options.isFirstOnly only the first guess after a mail is looked at
   * @returns the account to store, to exactly one of any number of callers; `tried` where it was not the first
   */
  verify(id: string, code: string, options?: { readonly isFirstOnly: boolean }): Promise<SignupVerdict>;
  /** Without the address, where it need not be verified. @returns the account to store, once */
  takeWithoutEmail(id: string): Promise<AccountRecord | undefined>;
}

const COOLDOWN_MS = 60_000;

/** How long another code has to wait. */
export const coolingDownMs = ({ askedAt }: Pick<PendingSignup, 'askedAt'>, now: number): number =>
  leftUntil(askedAt + COOLDOWN_MS, now, COOLDOWN_MS);
const MAX_TRIES = 5;
const NONE = '';

export function createSignups(deps: {
  collection: EphemeralCollection<SignupRecord>;
  accounts: Pick<EphemeralCollection<AccountRecord>, 'findBy'>;
  /** Newest first. The digest of six digits can be brute-forced, so it needs a key that is not in the store. */
  secretKeys: readonly string[];
  clock: Clock;
  settings: () => { readonly email_code_seconds: number; readonly interaction_seconds: number };
}): Signups {
  const { collection, accounts, clock, settings } = deps;
  const keys = deps.secretKeys.map((secretKey) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', 'latchkey sign-up code digest', 32)),
  );
  const digestsOf = (id: string, account: AccountRecord, code: string): string[] =>
    keys.map((key) =>
      createHmac('sha256', key)
        .update(JSON.stringify([id, account.emailKey, code]))
        .digest('base64url'),
    );

  return {
    async isNameTaken({ usernameKey }) {
      if (usernameKey.includes('@')) return false;
      return (await accounts.findBy('username', usernameKey)).length > 0;
    },

    async begin(id, account) {
      const now = clock();
      const record: SignupRecord = { account, digest: NONE, triesLeft: MAX_TRIES, askedAt: now };
      await collection.put(id, record, { expiresAt: now + settings().interaction_seconds * 1000 });
    },

    async find(id) {
      const value = (await collection.find(id))?.value;
      if (value?.account.email === undefined) return undefined;
      const { email, username } = value.account;
      return { email, username, askedAt: value.askedAt, isIssued: value.digest !== NONE };
    },

    async askAgain(id) {
      let mayAsk = false;
      const stored = await update(collection, id, (value) => {
        mayAsk = coolingDownMs(value, clock()) === 0;
        return mayAsk ? { value: { ...value, askedAt: clock() } } : undefined;
      });
      return stored !== undefined && mayAsk;
    },

    async issue(id) {
      const pending = (await collection.find(id))?.value;
      const { email, emailKey } = pending?.account ?? {};
      if (pending === undefined || email === undefined || emailKey === undefined) return undefined;
      const isKnown = (await accounts.findBy('email', emailKey)).length > 0;
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const expiresAt = clock() + settings().email_code_seconds * 1000;
      const [digest = NONE] = digestsOf(id, pending.account, code);
      const stored = await update(collection, id, (value) => {
        // Restarted meanwhile with another address, which has its own request.
        if (value.account.emailKey !== emailKey) return undefined;
        return {
          value: {
            ...value,
            earlier: isKnown ? [] : earlierCodes(value, clock()),
            digest: isKnown ? NONE : digest,
            triesLeft: MAX_TRIES,
            codeExpiresAt: expiresAt,
          },
        };
      });
      return stored?.value.account.emailKey === emailKey ? { email, isKnown, code, expiresAt } : undefined;
    },

    async verify(id, code, { isFirstOnly } = { isFirstOnly: false }) {
      const digits = parseSixDigits(code) ?? '';
      let verdict: SignupVerdict = { outcome: 'expired' };
      await update(collection, id, (value) => {
        verdict = { outcome: 'expired' };
        const now = clock();
        const isOver = value.codeExpiresAt !== undefined && now >= value.codeExpiresAt;
        if (isOver || value.triesLeft <= 0) return undefined;
        if (isFirstOnly && value.triesLeft < MAX_TRIES) {
          verdict = { outcome: 'tried' };
          return undefined;
        }
        // The result and its count are one write: each of several concurrent guesses costs an attempt.
        const digests = digestsOf(id, value.account, digits);
        const live = [
          value.digest,
          ...(value.earlier ?? []).filter((one) => now < one.expiresAt).map((one) => one.digest),
        ];
        const isMatch = digests.some((digest) => live.some((one) => isEqual(digest, one)));
        verdict = isMatch ? { outcome: 'ok', account: value.account } : { outcome: 'wrong' };
        const { earlier: _void, ...used } = { ...value, triesLeft: 0, digest: NONE };
        return { value: isMatch ? used : { ...value, triesLeft: value.triesLeft - 1 } };
      });
      return verdict;
    },

    async takeWithoutEmail(id) {
      const pending = (await collection.find(id))?.value;
      if (pending === undefined || !(await collection.remove(id))) return undefined;
      const { email: _email, emailKey: _key, ...account } = pending.account;
      return account;
    },
  };
}

const MAX_EARLIER = 4;

/** The codes that a new one leaves valid: the person may type the one whose mail came first. */
const earlierCodes = ({ digest, codeExpiresAt = 0, earlier = [] }: SignupRecord, now: number) =>
  [{ digest, expiresAt: codeExpiresAt }, ...earlier]
    .filter((one) => one.digest !== NONE && now < one.expiresAt)
    .slice(0, MAX_EARLIER);

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
