// The authenticator app (RFC 6238; decisions §8: SHA-1, six digits, 30 s, one step either way): enrolling, checking,
// and that a time step is accepted once. The only door to otplib. The secret is sealed for its account.
import { generateSecret, generateURI, verifySync } from 'otplib';
import { type Account, isUsable, securityState, settleFactors } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Attempt, SecondFactorLimit, Verdict } from './limit.ts';
import { parseSixDigits } from './six-digits.ts';

export interface Enrolment {
  /** Base32, to be typed where no camera is. */
  readonly secret: string;
  /** What the QR code says (otpauth:). */
  readonly uri: string;
  /**
   * The same, sealed: what the caller keeps in the interaction or session and gives to confirm(). It is for this
   * account in its present state only, and for an hour (checklist R099).
   */
  readonly pending: string;
}

/** Encryption at rest; `open` throws for a text that was sealed for another purpose or with a forgotten key. */
export interface Seal {
  seal(purpose: string, text: string): string;
  open(purpose: string, sealed: string): string;
  needsReseal(sealed: string): boolean;
}

export interface Totp {
  begin(account: Account): Enrolment;
  /** To show the same enrolment again. @returns undefined when it is over: begin anew */
  reopen(account: Account, pending: string): Enrolment | undefined;
  /**
   * Enrols after a right code, which also counts as used; an authenticator that was enrolled before is replaced.
   * @returns expired when the account changed since begin(), also when another enrolment was faster
   */
  confirm(accountId: string, pending: string, code: string): Promise<'ok' | 'wrong' | 'expired'>;
  verify(attempt: Attempt): Promise<Verdict>;
  /**
   * @param check throws to refuse; sees the account as it would be
   * @returns whether one was enrolled. Recovery codes go with the last factor.
   */
  remove(accountId: string, check?: (after: AccountRecord) => void): Promise<boolean>;
}

const PERIOD_SECONDS = 30;
const PENDING_MS = 3_600_000;

interface Pending {
  readonly secret: string;
  readonly state: string;
  readonly expiresAt: number;
}

/** What an authenticator's secret is sealed for. */
export const purposeOf = (accountId: string): string => `totp ${accountId}`;

/** @returns the step that the code is for, when it is within the window and after `lastStep` */
function acceptedStep(secret: string, code: string, now: number, lastStep: number): number | undefined {
  const token = parseSixDigits(code);
  if (token === undefined) return undefined;
  try {
    const result = verifySync({
      secret,
      token,
      algorithm: 'sha1',
      digits: 6,
      period: PERIOD_SECONDS,
      epoch: Math.floor(now / 1000),
      epochTolerance: PERIOD_SECONDS,
      afterTimeStep: lastStep,
    });
    return result.valid && 'timeStep' in result ? result.timeStep : undefined;
  } catch {
    // It throws where it will not even compare, such as when the clock was set back behind the last step.
    return undefined;
  }
}

export function createTotp(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  limit: Pick<SecondFactorLimit, 'judge'>;
  sealer: Seal;
  clock: Clock;
  /** Shown in the app beside the username. */
  issuerName: () => string;
}): Totp {
  const { accounts, limit, sealer, clock, issuerName } = deps;
  const pendingPurposeOf = (accountId: string): string => `totp enrolment ${accountId}`;
  // Accounts without an authenticator cost the same work (never matched: the result is not looked at).
  const nobody = { accountId: 'nobody', sealedSecret: sealer.seal(purposeOf('nobody'), generateSecret()) };

  const show = (account: Account, secret: string, pending: string): Enrolment => ({
    secret,
    // A colon would end the issuer's part of the label (Key URI format).
    uri: generateURI({ issuer: issuerName().replaceAll(':', ' '), label: account.username, secret }),
    pending,
  });

  function openPending(accountId: string, account: AccountRecord, pending: string): Pending | undefined {
    let text: string;
    try {
      text = sealer.open(pendingPurposeOf(accountId), pending);
    } catch {
      // Of another account, or sealed with a key that is gone: begin anew.
      return undefined;
    }
    // Authentic, so it is what begin() sealed: exactly this shape.
    const opened = JSON.parse(text) as Pending;
    const isCurrent = opened.expiresAt > clock() && opened.state === securityState(accountId, account);
    return isCurrent && isUsable(account) ? opened : undefined;
  }

  /** The account with that step used up. */
  function useCode(accountId: string, code: string, record: AccountRecord): AccountRecord | undefined {
    const { totp } = record;
    const owner = totp === undefined ? nobody : { accountId, sealedSecret: totp.sealedSecret };
    const secret = sealer.open(purposeOf(owner.accountId), owner.sealedSecret);
    const lastStep = acceptedStep(secret, code, clock(), totp?.lastStep ?? 0);
    if (totp === undefined || lastStep === undefined) return undefined;
    const isOldKey = sealer.needsReseal(totp.sealedSecret);
    const sealedSecret = isOldKey ? sealer.seal(purposeOf(accountId), secret) : totp.sealedSecret;
    return { ...record, totp: { ...totp, sealedSecret, lastStep } };
  }

  return {
    begin(account) {
      const secret = generateSecret();
      const pending: Pending = {
        secret,
        state: securityState(account.id, account),
        expiresAt: clock() + PENDING_MS,
      };
      return show(account, secret, sealer.seal(pendingPurposeOf(account.id), JSON.stringify(pending)));
    },
    reopen(account, pending) {
      const opened = openPending(account.id, account, pending);
      return opened && show(account, opened.secret, pending);
    },
    async confirm(accountId, pending, code) {
      const last: { outcome: 'ok' | 'wrong' | 'expired' } = { outcome: 'expired' };
      const stored = await update(accounts, accountId, (record) => {
        last.outcome = 'expired';
        const opened = openPending(accountId, record, pending);
        if (opened === undefined) return undefined;
        const now = clock();
        const lastStep = acceptedStep(opened.secret, code, now, 0);
        last.outcome = lastStep === undefined ? 'wrong' : 'ok';
        if (lastStep === undefined) return undefined;
        const { mustEnrolSecondFactor: _done, ...rest } = record;
        const sealedSecret = sealer.seal(purposeOf(accountId), opened.secret);
        const totp = { sealedSecret, lastStep, enrolledAt: now };
        return { value: settleFactors(record, { ...rest, totpVerified: true, totp }, now) };
      });
      return stored === undefined ? 'expired' : last.outcome;
    },
    verify: (attempt) =>
      limit.judge('totp', attempt, (record) => useCode(attempt.accountId, attempt.code, record)),
    async remove(accountId, check) {
      const last = { isRemoved: false };
      const stored = await update(accounts, accountId, (record) => {
        const { totp, ...rest } = record;
        last.isRemoved = totp !== undefined;
        if (totp === undefined) return undefined;
        const after = settleFactors(record, { ...rest, totpVerified: false }, clock());
        check?.(after);
        return { value: after };
      });
      return stored !== undefined && last.isRemoved;
    },
  };
}
