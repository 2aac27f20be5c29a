// Authenticator apps (RFC 6238; decision 0014: SHA-1, six digits, 30 s, one step either way): enrols them, verifies
// codes, and accepts each time step once (RFC 6238 §5.2). The only import of otplib. The secret is sealed for its
// account.
import { generateSecret, generateURI, verifySync } from 'otplib';
import { type Account, isUsable, securityState, settleFactors, withKept } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Attempt, SecondFactorLimit, Verdict } from './limit.ts';
import { parseSixDigits } from './six-digits.ts';

export interface Enrolment {
  /** Base32, to type where there is no camera. */
  readonly secret: string;
  /** The content of the QR code (otpauth:). */
  readonly uri: string;
  /**
   * The same, sealed: the caller keeps it in the interaction or session and passes it to confirm(). Valid for this
   * account in its current state only, and for an hour.
   */
  readonly pending: string;
}

/**
 * Encryption at rest; `open` throws for a text sealed for another purpose or with a key that is no longer configured.
 */
export interface Seal {
  seal(purpose: string, text: string): string;
  open(purpose: string, sealed: string): string;
  needsReseal(sealed: string): boolean;
}

export interface Totp {
  begin(account: Account): Enrolment;
  /** Shows the same enrolment again. @returns undefined when it expired: call begin() again */
  reopen(account: Account, pending: string): Enrolment | undefined;
  /**
   * Enrols after a valid code, which counts as used; replaces an earlier authenticator.
   * @param isByOldWays of src/accounts/address-change.ts
   * @returns expired when the account changed since begin(), including by another enrolment
   */
  confirm(
    accountId: string,
    pending: string,
    code: string,
    isByOldWays?: boolean,
  ): Promise<'ok' | 'wrong' | 'expired'>;
  verify(attempt: Attempt): Promise<Verdict>;
  /**
   * @param check throws to refuse; gets the account as it would be
   * @returns whether one was enrolled. Removing the last factor also removes the recovery codes.
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

/** The purpose for which an authenticator's secret is sealed. */
export const purposeOf = (accountId: string): string => `totp ${accountId}`;

/** @returns the time step of the code, when it is within the window and after `lastStep` */
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
    // otplib throws where it refuses to compare, for example when the clock was set back before the last step.
    return undefined;
  }
}

export function createTotp(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  limit: Pick<SecondFactorLimit, 'check'>;
  sealer: Seal;
  clock: Clock;
  /** Shown in the app next to the username. */
  issuerName: () => string;
}): Totp {
  const { accounts, limit, sealer, clock, issuerName } = deps;
  const pendingPurposeOf = (accountId: string): string => `totp enrolment ${accountId}`;
  // Makes accounts without an authenticator cost the same work; its result is ignored.
  const placeholder = {
    accountId: 'nobody',
    sealedSecret: sealer.seal(purposeOf('nobody'), generateSecret()),
  };

  const show = (account: Account, secret: string, pending: string): Enrolment => ({
    secret,
    // A colon would end the issuer in the label (Key URI format).
    uri: generateURI({ issuer: issuerName().replaceAll(':', ' '), label: account.username, secret }),
    pending,
  });

  function openPending(accountId: string, account: AccountRecord, pending: string): Pending | undefined {
    let text: string;
    try {
      text = sealer.open(pendingPurposeOf(accountId), pending);
    } catch {
      // Sealed for another account or with a key that is no longer configured: enrolment must start again.
      return undefined;
    }
    // Authenticated by the seal, so it has exactly the shape that begin() sealed.
    const opened = JSON.parse(text) as Pending;
    const isCurrent = opened.expiresAt > clock() && opened.state === securityState(accountId, account);
    return isCurrent && isUsable(account) ? opened : undefined;
  }

  /** The account after that step was used. */
  function useCode(accountId: string, code: string, record: AccountRecord): AccountRecord | undefined {
    const { totp } = record;
    const owner = totp === undefined ? placeholder : { accountId, sealedSecret: totp.sealedSecret };
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
    async confirm(accountId, pending, code, isByOldWays = false) {
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
        const after = settleFactors(record, { ...rest, totpVerified: true, totp }, now);
        return { value: withKept(record, after, isByOldWays) };
      });
      return stored === undefined ? 'expired' : last.outcome;
    },
    verify: (attempt) =>
      limit.check('totp', attempt, (record) => useCode(attempt.accountId, attempt.code, record)),
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
