// Six-digit codes by mail: per account, purpose and challenge; five attempts, ten minutes, a pause before
// the next one, which leaves those before it valid, and five mails per account in an hour across all challenges, of browsers
// that the account knows five each. Mails whose code was used do not count.
import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { isUsable, securityState } from '../accounts/index.ts';
import { type Clock, isAhead, leftUntil } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { AccountRecord, EmailChallengeRecord, RateRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection, type Stored, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Attempt, MAX_WRONG_PER_CHALLENGE, type SecondFactorLimit, type Verdict } from './limit.ts';
import { parseSixDigits } from './six-digits.ts';

/** What a code is for; it is invalid for anything else. */
export interface EmailChallenge {
  readonly accountId: string;
  readonly purpose: EmailChallengeRecord['purpose'];
  /** The interaction or session. Never a value that the browser chooses. */
  readonly boundTo: string;
  /** Where it is sent if that is not the account's own address: the code verifies this address and no other. */
  readonly address?: string;
  /** The digest by which the account knows the browser: its mails and wrong codes count apart. */
  readonly browser?: string | undefined;
}

export interface EmailCodes {
  /**
   * Creates a code, which the caller mails; earlier ones of the challenge stay valid until they expire.
   * @returns the code and when it expires (epoch ms); cooldown: one was created less than a minute ago; limited: too
   *   many for this account, or an account that cannot sign in
   */
  start(challenge: EmailChallenge): Promise<{ code: string; expiresAt: number } | 'cooldown' | 'limited'>;
  /** @returns expired whenever there is no valid code: none requested, expired, or used */
  verify(attempt: Attempt & EmailChallenge): Promise<Verdict | 'expired'>;
  removeAllOf(accountId: string): Promise<void>;
}

const COOLDOWN_MS = 60_000;

/** How long another code has to wait after one that was sent then. */
export const emailCooldownSeconds = (sentAt: number, now: number): number =>
  Math.ceil(leftUntil(sentAt + COOLDOWN_MS, now, COOLDOWN_MS) / 1000);
const MAX_MAILS = 5;
const MAILS_WINDOW_MS = 3_600_000;
const MAX_EARLIER = 4;
/** As many as the account allows a browser that it knows. */
const MAX_WRONG_IN_KNOWN = 10;
// Replaces the digest of a used code: it matches nothing.
const USED = '';

export function createEmailCodes(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  challenges: EphemeralCollection<EmailChallengeRecord>;
  rates: EphemeralCollection<RateRecord>;
  limit: Pick<SecondFactorLimit, 'reserve' | 'release' | 'clear'>;
  /** Newest first. The digest of six digits can be brute-forced, so it needs a key that is not in the store. */
  secretKeys: readonly string[];
  clock: Clock;
  settings: () => { readonly email_code_seconds: number };
}): EmailCodes {
  const { accounts, challenges, rates, limit, clock, settings } = deps;
  const keys = deps.secretKeys.map((secretKey) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', 'latchkey email code digest', 32)),
  );

  const idOf = ({ accountId, purpose, boundTo }: EmailChallenge): string =>
    secretDigest(JSON.stringify([accountId, purpose, boundTo]));

  /** One digest per key. It includes the account's security state, so that a change invalidates the code. */
  function digestsOf(challenge: EmailChallenge, account: AccountRecord, code: string): string[] {
    const { accountId, purpose, boundTo, address } = challenge;
    const state = securityState(accountId, account);
    const text = JSON.stringify([accountId, purpose, boundTo, address, state, code]);
    return keys.map((key) => createHmac('sha256', key).update(text).digest('base64url'));
  }

  /** Each mail takes one of five slots for an hour, which makes the limit exact across all processes. */
  async function takePlace({ accountId, browser }: EmailChallenge): Promise<string | undefined> {
    const holder = browser === undefined ? accountId : `${accountId} ${browser}`;
    for (let place = 0; place < MAX_MAILS; place += 1) {
      const id = `email_code ${holder} ${place}`;
      const now = clock();
      const taken = [{ points: 1 }, { expiresAt: now + MAILS_WINDOW_MS }] as const;
      try {
        await rates.insert(id, ...taken);
        return id;
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
      }
      const found = await rates.find(id);
      if (found?.expiresAt === undefined || isAhead(found.expiresAt, now, MAILS_WINDOW_MS)) continue;
      const freed = await rates.replace(id, found.version, ...taken).catch((error: unknown) => {
        if (!(error instanceof VersionConflict)) throw error;
      });
      if (freed !== undefined) return id;
    }
    return undefined;
  }

  return {
    async start(challenge) {
      const { accountId, purpose, boundTo } = challenge;
      const now = clock();
      const id = idOf(challenge);
      const [account, before] = await Promise.all([accounts.find(accountId), challenges.find(id)]);
      if (account === undefined || !isUsable(account.value)) return 'limited';
      const isTooSoon = before && emailCooldownSeconds(before.value.createdAt, now) > 0;
      if (isTooSoon) return 'cooldown';
      const place = await takePlace(challenge);
      if (place === undefined) return 'limited';

      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const [digest = USED] = digestsOf(challenge, account.value, code);
      const triesLeft = challenge.browser === undefined ? MAX_WRONG_PER_CHALLENGE : MAX_WRONG_IN_KNOWN;
      const earlier = before === undefined ? [] : earlierCodes(before, now);
      const mails = [...(before?.value.mails ?? []), place];
      const record = { accountId, purpose, boundTo, digest, earlier, triesLeft, createdAt: now, mails };
      const expiresAt = now + settings().email_code_seconds * 1000;
      try {
        if (before === undefined) await challenges.insert(id, record, { expiresAt });
        else await challenges.replace(id, before.version, record, { expiresAt });
        return { code, expiresAt };
      } catch (error) {
        const isBeaten = error instanceof AlreadyExists || error instanceof VersionConflict;
        if (!isBeaten) throw error;
        // A concurrent request created a code or is verifying the previous one, so this one sends no mail.
        await rates.remove(place);
        return 'cooldown';
      }
    },
    async verify({ code, ...challenge }) {
      // A code that was never issued is no guess at one: it takes none of the account's attempts.
      const { digest = USED } = (await challenges.find(idOf(challenge)))?.value ?? {};
      if (digest === USED) return 'expired';
      const account = await limit.reserve('email', challenge);
      if (account === undefined) return 'blocked';
      const digests = digestsOf(challenge, account, parseSixDigits(code) ?? '');
      const last: { outcome: Verdict | 'expired'; mails: readonly string[] } = {
        outcome: 'expired',
        mails: [],
      };
      const stored = await update(challenges, idOf(challenge), (value) => {
        last.outcome = 'expired';
        if (value.digest === USED) return undefined;
        last.outcome = 'blocked';
        if (value.triesLeft <= 0) return undefined;
        // The result and its count are one write: each of several concurrent guesses costs an attempt.
        const now = clock();
        const before = (value.earlier ?? []).filter((one) => now < one.expiresAt);
        const live = [value.digest, ...before.map((one) => one.digest)];
        const isMatch = digests.some((digest) => live.some((one) => isEqual(digest, one)));
        last.outcome = isMatch ? 'ok' : 'wrong';
        last.mails = value.mails ?? [];
        const { earlier: _void, mails: _free, ...used } = { ...value, digest: USED, triesLeft: 0 };
        return { value: isMatch ? used : { ...value, triesLeft: value.triesLeft - 1 } };
      });
      const outcome = stored === undefined ? 'expired' : last.outcome;
      if (outcome === 'expired' || outcome === 'blocked') await limit.release('email', challenge);
      if (outcome === 'ok')
        await Promise.all([
          limit.clear('email', challenge),
          ...last.mails.map((place) => rates.remove(place)),
        ]);
      return outcome;
    },
    async removeAllOf(accountId) {
      await challenges.removeBy('account', accountId);
    },
  };
}

/** The codes that a new one leaves valid: the person may type the one whose mail came first. */
function earlierCodes({ value, expiresAt = 0 }: Stored<EmailChallengeRecord>, now: number) {
  const codes = [{ digest: value.digest, expiresAt }, ...(value.earlier ?? [])];
  return codes.filter((one) => one.digest !== USED && now < one.expiresAt).slice(0, MAX_EARLIER);
}

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
