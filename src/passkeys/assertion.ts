// Authentication with a passkey (WebAuthn §7.2): the options for the browser, and validating the authenticator's
// response. The passkey determines the account; user verification determines whether it counts as one factor or two.
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { type Account, isUsable, toAccount } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PasskeyChallengeRecord, PasskeyRecord } from '../store/passkeys.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { CHALLENGE_MS, type PasskeyChallenges } from './challenges.ts';
import { credentialIdOf, findPasskey } from './records.ts';
import { PasskeyProblem } from './registration.ts';
import type { RelyingParty } from './relying-party.ts';
import { clientFacts, parseAssertion } from './response.ts';
import { webauthn } from './webauthn.ts';

type Purpose = Exclude<PasskeyChallengeRecord['ceremony'], 'registration'>;

export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

export interface UsedPasskey {
  readonly id: string;
  readonly account: Account;
  /** Whether the authenticator verified its user: then it counts as two factors, otherwise as one. */
  readonly isUserVerified: boolean;
  readonly deviceType: PasskeyRecord['deviceType'];
}

/** What is known about a refused authentication, for the audit log. */
export interface RefusedPasskey {
  readonly problem: string;
  readonly passkeyId?: string;
  readonly accountId?: string;
  readonly isCounterBack?: boolean;
}

export interface PasskeyAssertion {
  /**
   * @param input.account as a second factor, where the account is known; absent: any account (discoverable
   *   credentials)
   */
  begin(input: { boundTo: string; account?: Account }): Promise<RequestOptions>;
  /**
   * @param input.onRefused awaited before the refusal is thrown
   * @throws AppError passkey.unknown for a passkey that is not, or no longer, registered; otherwise passkey.refused
   */
  finish(input: {
    boundTo: string;
    response: unknown;
    account?: Account;
    onRefused?: (refused: RefusedPasskey) => Promise<void>;
  }): Promise<UsedPasskey>;
}

const purposeOf = (account: Account | undefined): Purpose =>
  account === undefined ? 'sign_in' : 'second_factor';

export function createPasskeyAssertion(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  collection: EphemeralCollection<PasskeyRecord>;
  challenges: PasskeyChallenges;
  relyingParty: RelyingParty;
  clock: Clock;
}): PasskeyAssertion {
  const { accounts, collection, challenges, relyingParty, clock } = deps;

  /** The passkey with its account; undefined when the account no longer lists it. @param of whose it should be */
  async function findOwned(id: string, of: string | undefined) {
    const stored = await findPasskey(collection, of, id);
    const owner = stored && (await accounts.find(stored.value.accountId));
    const isNamed = owner?.value.passkeys?.some((passkey) => passkey.id === id) === true;
    return stored && owner && isNamed
      ? { recordId: stored.id, record: stored.value, account: toAccount(owner) }
      : undefined;
  }

  async function verify(
    response: NonNullable<ReturnType<typeof parseAssertion>>,
    challenge: string,
    record: PasskeyRecord,
  ) {
    const { verifyAuthenticationResponse } = await webauthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origins(),
      expectedRPID: relyingParty.rpId,
      requireUserVerification: false,
      credential: {
        id: response.id,
        publicKey: new Uint8Array(Buffer.from(record.publicKey, 'base64url')),
        // The counter is compared below, after the signature is known to be valid, so that an attacker cannot raise
        // an alarm.
        counter: 0,
      },
    });
    if (!verified) throw new PasskeyProblem('wrong signature');
    // §7.2: whether a credential can be backed up never changes.
    if (authenticationInfo.credentialDeviceType !== record.deviceType)
      throw new PasskeyProblem('backup eligibility has changed');
    return authenticationInfo;
  }

  /**
   * @returns whether the counter increased or stays unused; if not, that is noted (§6.1.1). Of two concurrent uses,
   *   one passes.
   */
  async function count(id: string, counter: number, isBackedUp: boolean): Promise<boolean> {
    const last = { isForward: false };
    await update(collection, id, (record) => {
      last.isForward = (counter === 0 && record.counter === 0) || counter > record.counter;
      if (!last.isForward) return { value: { ...record, counterWentBackAt: clock() } };
      return { value: { ...record, counter, isBackedUp, lastUsedAt: clock() } };
    });
    return last.isForward;
  }

  return {
    async begin({ boundTo, account }) {
      const challenge = await challenges.issue({
        ceremony: purposeOf(account),
        boundTo,
        ...(account && { accountId: account.id }),
      });
      const own = account === undefined ? [] : await collection.findBy('account', account.id);
      const named = new Set((account?.passkeys ?? []).map(({ id }) => id));
      const { generateAuthenticationOptions } = await webauthn();
      return generateAuthenticationOptions({
        rpID: relyingParty.rpId,
        challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
        timeout: CHALLENGE_MS,
        userVerification: 'preferred',
        // Empty: discoverable. Never filled from a typed name, which would reveal accounts (§14.6.2).
        allowCredentials: own
          .map((stored) => ({ id: credentialIdOf(stored), transports: stored.value.transports }))
          .filter(({ id }) => named.has(id)),
      });
    },

    async finish({ boundTo, response: given, account: expected, onRefused }) {
      const refuse = async (code: 'passkey.refused' | 'passkey.unknown', refused: RefusedPasskey) => {
        await onRefused?.(refused);
        return new AppError(code);
      };
      const response = parseAssertion(given);
      const facts = response && clientFacts(response.response.clientDataJSON);
      if (response === undefined || facts === undefined)
        throw await refuse('passkey.refused', { problem: 'not a response' });
      const challenge = await challenges.consume(facts.challenge, {
        boundTo,
        ceremony: purposeOf(expected),
        ...(expected && { accountId: expected.id }),
      });
      if (challenge === undefined) throw await refuse('passkey.refused', { problem: 'no such challenge' });
      const { userHandle } = response.response;
      const handled = userHandle === undefined ? undefined : relyingParty.accountOf(userHandle);
      const owned = await findOwned(response.id, expected?.id ?? handled);
      if (owned === undefined)
        throw await refuse('passkey.unknown', { problem: 'unknown passkey', passkeyId: response.id });
      const { recordId, record, account } = owned;
      const about = { passkeyId: response.id, accountId: account.id };
      try {
        if (facts.isForeignFrame) throw new PasskeyProblem('used in a frame of another site');
        if (expected !== undefined && expected.id !== account.id)
          throw new PasskeyProblem('passkey of another account');
        // §7.2: without a name beforehand, the user handle identifies the account.
        const isHandleRight =
          userHandle === relyingParty.userHandleOf(account.id) ||
          (userHandle === undefined && expected !== undefined);
        if (!isHandleRight) throw new PasskeyProblem('user handle of another account');
        const info = await verify(response, facts.challenge, record);
        if (!isUsable(account)) throw new PasskeyProblem('account locked or inactive');
        if (!(await count(recordId, info.newCounter, info.credentialBackedUp))) {
          await onRefused?.({ ...about, problem: 'counter went back', isCounterBack: true });
          throw new AppError('passkey.refused');
        }
        const { userVerified: isUserVerified } = info;
        return { id: response.id, account, isUserVerified, deviceType: record.deviceType };
      } catch (error) {
        if (error instanceof AppError) throw error;
        const problem = error instanceof Error ? error.message.slice(0, 200) : 'not verified';
        throw await refuse('passkey.refused', { ...about, problem });
      }
    },
  };
}
