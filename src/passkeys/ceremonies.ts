import { type Account, hasCodeFactor } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { deviceName } from '../events/index.ts';
import { arePasswordsOff } from '../settings/index.ts';
import type { PasskeyAssertion, RefusedPasskey } from './assertion.ts';
import type { PasskeyDoors } from './doors.ts';
import type { AccountPasskeys } from './passkeys.ts';
import type { PasskeyRegistration } from './registration.ts';

type Used = Awaited<ReturnType<PasskeyAssertion['finish']>>;
type Registered = Awaited<ReturnType<PasskeyRegistration['finish']>>;

/** The ceremonies, with their audit events. */
export interface PasskeyCeremonies {
  readonly beginAuthentication: PasskeyAssertion['begin'];
  /**
   * @param input.account at a second step; absent: at a sign-in
   * @throws AppError passkey.refused, passkey.unknown
   */
  finishAuthentication(input: { boundTo: string; response: unknown; account?: Account }): Promise<Used>;
  readonly beginRegistration: PasskeyRegistration['begin'];
  /** The owner is notified. @throws AppError passkey.refused, passkey.registered */
  add(input: {
    readonly accountId: string;
    readonly boundTo: string;
    readonly response: unknown;
    /** Of src/accounts/address-change.ts. */
    readonly isByOldWays?: boolean;
  }): Promise<Registered>;
  /** The next step after a passkey without user verification; undefined: none is possible. */
  stepAfterKey(account: Account): 'verify' | 'password' | undefined;
  /**
   * Whether to create recovery codes with this first passkey, because its owner has no other way to sign in again.
   */
  needsCodes(account: Account): boolean;
}

export function createPasskeyCeremonies(
  { events, settings }: PasskeyDoors,
  passkeys: AccountPasskeys,
): PasskeyCeremonies {
  const { registration, assertion } = passkeys;

  async function recordRefused(
    { problem, passkeyId, accountId, isCounterBack = false }: RefusedPasskey,
    purpose: string,
  ): Promise<void> {
    const details = { purpose, problem, ...(passkeyId && { passkey_id: passkeyId }) };
    const reason = isCounterBack ? 'counter_went_back' : 'refused';
    const target = accountId === undefined ? {} : { target: { kind: 'user', id: accountId } as const };
    await events.record({ event: 'passkey.failure', reason, ...target, details });
  }

  return {
    beginAuthentication: assertion.begin,
    beginRegistration: registration.begin,

    async finishAuthentication(input) {
      const purpose = input.account === undefined ? 'sign_in' : 'second_factor';
      const onRefused = (refused: RefusedPasskey) => recordRefused(refused, purpose);
      const used = await assertion.finish({ ...input, onRefused });
      const details = { method: 'passkey', passkey_id: used.id };
      const owner = used.account.id;
      await events.record({ event: 'passkey.used', owner, details: { ...details, purpose } });
      if (purpose === 'second_factor') await events.record({ event: 'mfa.success', owner, details });
      return used;
    },

    async add({ accountId, boundTo, response, isByOldWays = false }) {
      try {
        const label = deviceName(events.origins.current()?.userAgent ?? '');
        const added = await registration.finish({ accountId, boundTo, response, label, isByOldWays });
        const { id, label: named, isUserVerified } = added;
        const details = { passkey_id: id, label: named, is_user_verified: isUserVerified };
        await events.record({ event: 'passkey.added', owner: accountId, details });
        return added;
      } catch (error) {
        const cause = error instanceof AppError && error.code === 'passkey.refused' ? error.cause : undefined;
        if (cause instanceof Error)
          await recordRefused({ accountId, problem: cause.message.slice(0, 200) }, 'registration');
        throw error;
      }
    },

    stepAfterKey(account) {
      if (hasCodeFactor(account)) return 'verify';
      const hasPassword = account.passwordHash !== undefined && !arePasswordsOff(settings());
      return hasPassword ? 'password' : undefined;
    },

    needsCodes: (account) =>
      arePasswordsOff(settings()) && !hasCodeFactor(account) && !account.recoveryCodes?.length,
  };
}
