// Six-digit codes by mail (checklist R093–R095): one valid code per account, purpose and challenge, five attempts,
// ten minutes, a pause before the next one, and three mails per account in ten minutes across all challenges.
import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { isUsable, securityState } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { secretDigest } from '../ids.ts';
import type { AccountRecord, EmailChallengeRecord, RateRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection, VersionConflict } from '../store/port.ts';
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
}

export interface EmailCodes {
  /**
   * Creates a code, which the caller mails; the previous one becomes invalid.
   * @returns the code and when it expires (epoch ms); cooldown: one was created less than a minute ago; limited: too
   *   many for this account, or an account that cannot sign in
   */
  start(challenge: EmailChallenge): Promise<{ code: string; expiresAt: number } | 'cooldown' | 'limited'>;
  /** @returns expired whenever there is no valid code: none requested, expired, used, or replaced */
  verify(attempt: Attempt & EmailChallenge): Promise<Verdict | 'expired'>;
  removeAllOf(accountId: string): Promise<void>;
}

/** How long a page counts down before it offers to send another code. */
export const EMAIL_CODE_COOLDOWN_SECONDS = 60;
const MAX_MAILS = 3;
const MAILS_WINDOW_MS = 600_000;
// Replaces the digest of a used code: it matches nothing.
const USED = '';

export function createEmailCodes(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  challenges: EphemeralCollection<EmailChallengeRecord>;
  rates: EphemeralCollection<RateRecord>;
  limit: Pick<SecondFactorLimit, 'reserve' | 'clear'>;
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

  /** Each mail takes one of three slots for ten minutes, which makes the limit exact across all processes. */
  async function takePlace(accountId: string): Promise<string | undefined> {
    for (let place = 0; place < MAX_MAILS; place += 1) {
      const id = `email_code ${accountId} ${place}`;
      try {
        await rates.insert(id, { points: 1 }, { expiresAt: clock() + MAILS_WINDOW_MS });
        return id;
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
      }
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
      const isTooSoon = before && now < before.value.createdAt + EMAIL_CODE_COOLDOWN_SECONDS * 1000;
      if (isTooSoon) return 'cooldown';
      const place = await takePlace(accountId);
      if (place === undefined) return 'limited';

      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const [digest = USED] = digestsOf(challenge, account.value, code);
      const triesLeft = MAX_WRONG_PER_CHALLENGE;
      const record = { accountId, purpose, boundTo, digest, triesLeft, createdAt: now };
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
      const account = await limit.reserve('email', challenge.accountId);
      if (account === undefined) return 'blocked';
      const digests = digestsOf(challenge, account, parseSixDigits(code) ?? '');
      const last: { outcome: Verdict | 'expired' } = { outcome: 'expired' };
      const stored = await update(challenges, idOf(challenge), (value) => {
        last.outcome = 'expired';
        if (value.digest === USED) return undefined;
        last.outcome = 'blocked';
        if (value.triesLeft <= 0) return undefined;
        // The result and its count are one write: each of several concurrent guesses costs an attempt.
        const isMatch = digests.some((digest) => isEqual(digest, value.digest));
        last.outcome = isMatch ? 'ok' : 'wrong';
        return {
          value: isMatch
            ? { ...value, digest: USED, triesLeft: 0 }
            : { ...value, triesLeft: value.triesLeft - 1 },
        };
      });
      if (stored === undefined) return 'expired';
      if (last.outcome === 'ok') await limit.clear('email', challenge.accountId);
      return last.outcome;
    },
    async removeAllOf(accountId) {
      await challenges.removeBy('account', accountId);
    },
  };
}

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
