import {
  type Account,
  hasPasskey,
  hasSecondFactor,
  isUsable,
  settleFactors,
  wantsSecondStep,
  withKept,
} from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import type { CodeFactor, SecondFactor } from '../model/ways-to-sign-in.ts';
import type {
  AccountRecord,
  EmailChallengeRecord,
  RateRecord,
  TrustedDeviceRecord,
} from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { createEmailCodes, type EmailCodes } from './email-codes.ts';
import { type Attempt, createSecondFactorLimit, type Verdict } from './limit.ts';
import { createRecoveryCodes, type RecoveryCodes } from './recovery-codes.ts';
import { createTotp, type Seal, type Totp } from './totp.ts';
import { createTrustedDevices, type TrustedDevices } from './trusted-devices.ts';

export type MfaMode = 'off' | 'optional' | 'required';

export interface CodeFactors {
  /** The available methods, preferred first. May be empty for an account that has a factor (see stepOf). */
  methodsOf(account: Account): SecondFactor[];
  isRequired(account: Account, mode: MfaMode): boolean;
  /**
   * verify: require a code; without any method, refuse, because only an administrator can help. enrol: the account
   * has no factor yet. Never offer to enrol in place of verify, or the password alone could replace a factor.
   */
  stepOf(account: Account, mode: MfaMode): 'none' | 'enrol' | 'verify';
  /** The only check of codes at sign-in and step-up, for all methods. */
  verify(attempt: Attempt & { readonly method: CodeFactor }): Promise<Verdict | 'expired'>;
  /** Creates a code by mail as the second factor; `limited` for an account that does not use it. */
  startEmail(account: Account, boundTo: string, browser?: string): ReturnType<EmailCodes['start']>;
  /**
   * Enables or disables codes by mail as a factor of this account.
   * @param options.check throws to refuse; gets the account as it would be
   * @param options.isByOldWays of src/accounts/address-change.ts
   * @throws AppError account.not_found; request.invalid to enable it without a verified address
   */
  setEmailFactor(
    accountId: string,
    isOn: boolean,
    options?: { readonly check?: (after: AccountRecord) => void; readonly isByOldWays?: boolean },
  ): Promise<void>;
  /** Removes what is stored outside of the account's document, when the account is deleted. */
  removeAllOf(accountId: string): Promise<void>;
  readonly totp: Totp;
  readonly recoveryCodes: RecoveryCodes;
  readonly emailCodes: EmailCodes;
  readonly trustedDevices: TrustedDevices;
}

interface CodeFactorsDeps {
  /** Not guarded: no write here changes role or activation. */
  accounts: EphemeralCollection<AccountRecord>;
  emailChallenges: EphemeralCollection<EmailChallengeRecord>;
  trustedDevices: EphemeralCollection<TrustedDeviceRecord>;
  rates: EphemeralCollection<RateRecord>;
  sealer: Seal;
  /** Newest first. */
  secretKeys: readonly string[];
  clock: Clock;
  issuerName: () => string;
  settings: () => { readonly email_code_seconds: number; readonly trusted_device_seconds: number };
}

function methodsOf(account: Account): SecondFactor[] {
  const methods: SecondFactor[] = [];
  if (hasPasskey(account)) methods.push('passkey');
  if (account.totp !== undefined) methods.push('totp');
  if (account.hasEmailCodes === true && account.email !== undefined && account.isEmailVerified) {
    methods.push('email');
  }
  if (hasSecondFactor(account) && (account.recoveryCodes ?? []).length > 0) methods.push('recovery');
  return methods;
}

export const isRequired = (account: Account, mode: MfaMode): boolean =>
  mode !== 'off' &&
  (mode === 'required' || wantsSecondStep(account) || account.mustEnrolSecondFactor === true);

export function createCodeFactors(deps: CodeFactorsDeps): CodeFactors {
  const { accounts, clock } = deps;
  const limit = createSecondFactorLimit(deps);
  const totp = createTotp({ ...deps, limit });
  const recoveryCodes = createRecoveryCodes({ ...deps, limit });
  const emailCodes = createEmailCodes({ ...deps, challenges: deps.emailChallenges, limit });
  const trustedDevices = createTrustedDevices({ ...deps, collection: deps.trustedDevices });

  return {
    methodsOf,
    isRequired,
    stepOf(account, mode) {
      if (!isRequired(account, mode)) return 'none';
      return hasSecondFactor(account) ? 'verify' : 'enrol';
    },
    async verify({ method, ...attempt }) {
      switch (method) {
        case 'totp':
          return totp.verify(attempt);
        case 'email':
          return emailCodes.verify({ ...attempt, purpose: 'sign_in' });
        case 'recovery':
          return recoveryCodes.verify(attempt);
      }
    },
    async startEmail(account, boundTo, browser) {
      if (!methodsOf(account).includes('email')) return 'limited';
      return emailCodes.start({ accountId: account.id, purpose: 'sign_in', boundTo, browser });
    },
    async setEmailFactor(accountId, isOn, { check, isByOldWays = false } = {}) {
      const stored = await update(accounts, accountId, (record) => {
        if (record.deletingAt !== undefined) throw new AppError('account.not_found');
        if ((record.hasEmailCodes === true) === isOn) return undefined;
        const changed = isOn ? withEmailFactor(record) : withoutEmailFactor(record);
        const after = settleFactors(record, changed, clock());
        check?.(after);
        return { value: withKept(record, after, isByOldWays) };
      });
      if (stored === undefined) throw new AppError('account.not_found');
    },
    async removeAllOf(accountId) {
      await Promise.all([emailCodes.removeAllOf(accountId), trustedDevices.revokeAll(accountId)]);
    },
    totp,
    recoveryCodes,
    emailCodes,
    trustedDevices,
  };
}

function withEmailFactor(record: AccountRecord): AccountRecord {
  if (!isUsable(record) || record.email === undefined || !record.isEmailVerified) {
    throw invalid({ email: 'Must be verified first.' });
  }
  const { mustEnrolSecondFactor: _done, ...rest } = record;
  return { ...rest, hasEmailCodes: true };
}

function withoutEmailFactor({ hasEmailCodes: _off, ...rest }: AccountRecord): AccountRecord {
  return rest;
}
