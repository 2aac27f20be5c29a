// Recovery codes: ten, shown once, each valid for one sign-in without the other factor. With 80
// random bits each, they can be stored as plain digests, which cannot be brute-forced.
import { randomBytes } from 'node:crypto';
import { hasSecondFactor, withKept } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { secretDigest } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Attempt, SecondFactorLimit, Verdict } from './limit.ts';

export interface RecoveryCodes {
  /**
   * Replaces the previous codes, which become invalid.
   * @param isByOldWays of src/accounts/address-change.ts
   * @returns ten codes like `k3v9-0qzt-m1x8-r5ce`, which cannot be shown again
   * @throws AppError account.not_found; mfa.none for an account without a second factor
   */
  generate(accountId: string, isByOldWays?: boolean): Promise<string[]>;
  /** Uses up a valid code. Also works when too many wrong codes have disabled the other factors. */
  verify(attempt: Attempt): Promise<Verdict>;
}

const COUNT = 10;
const LENGTH = 16;
// Crockford's alphabet: 32 characters that are not mistaken for each other.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
// Longer than any spelling of a code; bounds the work on untrusted input.
const MAX_TYPED = 128;

// 256 is a multiple of 32, so every character is equally likely.
const newCode = (): string => Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % 32]).join('');

const inGroups = (code: string): string => (code.match(/.{4}/g) ?? []).join('-');

/** Normalizes a typed code: case, spaces, hyphens and look-alikes do not matter. */
function parse(text: string): string {
  if (text.length > MAX_TYPED) return '';
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll('o', '0')
    .replace(/[il]/g, '1');
}

// Includes the account, so that a digest copied to another account is useless.
const digestOf = (accountId: string, code: string): string => secretDigest(`recovery ${accountId} ${code}`);

export function createRecoveryCodes(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  limit: Pick<SecondFactorLimit, 'check'>;
}): RecoveryCodes {
  const { accounts, limit } = deps;
  return {
    async generate(accountId, isByOldWays = false) {
      const codes = Array.from({ length: COUNT }, newCode);
      const recoveryCodes = codes.map((code) => digestOf(accountId, code));
      const stored = await update(accounts, accountId, (record) => {
        if (record.deletingAt !== undefined) throw new AppError('account.not_found');
        // Without a factor, they would stay valid for a factor that another person may enrol later.
        if (!hasSecondFactor(record)) throw new AppError('mfa.none');
        return { value: withKept(record, { ...record, recoveryCodes }, isByOldWays) };
      });
      if (stored === undefined) throw new AppError('account.not_found');
      return codes.map(inGroups);
    },
    verify({ code, ...attempt }) {
      const digest = digestOf(attempt.accountId, parse(code));
      const useCode = (record: AccountRecord): AccountRecord | undefined => {
        const left = (record.recoveryCodes ?? []).filter((unused) => unused !== digest);
        const isMatch = hasSecondFactor(record) && left.length < (record.recoveryCodes?.length ?? 0);
        return isMatch ? { ...record, recoveryCodes: left } : undefined;
      };
      return limit.check('recovery', attempt, useCode);
    },
  };
}
