// Making a passkey (WebAuthn §7.1): the options an authenticator is given, and judging what it answers. It knows
// nothing of pages: who may make one for whom, and when, is decided before.
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { type Account, isUsable, settleFactors } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PasskeyRecord } from '../store/passkeys.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { CHALLENGE_MS, type PasskeyChallenges } from './challenges.ts';
import { labelOf } from './label.ts';
import { authenticatorName } from './names.ts';
import type { RelyingParty } from './relying-party.ts';
import { clientFacts, parseRegistration } from './response.ts';
import { ALGORITHMS, webauthn } from './webauthn.ts';

/** Why a ceremony failed, for the audit log alone: callers learn that it did. */
export class PasskeyProblem extends Error {
  override readonly name = 'PasskeyProblem';
}

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

export interface MadePasskey {
  readonly id: string;
  readonly label: string;
  readonly isUserVerified: boolean;
  readonly deviceType: PasskeyRecord['deviceType'];
}

export interface PasskeyRegistration {
  begin(input: {
    account: Account;
    boundTo: string;
    /** Beside a sign-in, without asking anybody (automatic upgrade). */
    isConditional?: boolean;
    /** Where it is to be the only way in. */
    needsUserVerification?: boolean;
    /** Whether a security key will do that cannot be found without a name: good as a second step only. */
    mayBeKey?: boolean;
  }): Promise<CreationOptions>;
  /**
   * @param input.response what the browser answered
   * @throws AppError passkey.refused (its cause tells why), passkey.registered, account.not_found, request.invalid
   */
  finish(input: {
    accountId: string;
    boundTo: string;
    response: unknown;
    /** What to call it where its model is not well known; the owner can rename it. */
    label?: string | undefined;
  }): Promise<MadePasskey>;
}

const MAX_PASSKEYS = 25;

export function createPasskeyRegistration(deps: {
  accounts: EphemeralCollection<AccountRecord>;
  collection: EphemeralCollection<PasskeyRecord>;
  challenges: PasskeyChallenges;
  relyingParty: RelyingParty;
  clock: Clock;
  rpName: () => string;
}): PasskeyRegistration {
  const { accounts, collection, challenges, relyingParty, clock, rpName } = deps;

  /** @throws PasskeyProblem, or the library's own errors */
  async function judge(input: { accountId: string; boundTo: string; response: unknown }) {
    const { accountId, boundTo } = input;
    const response = parseRegistration(input.response);
    const facts = response && clientFacts(response.response.clientDataJSON);
    if (response === undefined || facts === undefined) throw new PasskeyProblem('not a response');
    const challenge = await challenges.consume(facts.challenge, {
      boundTo,
      accountId,
      ceremony: 'registration',
    });
    if (challenge === undefined) throw new PasskeyProblem('no such challenge');
    if (facts.isForeignFrame) throw new PasskeyProblem('made in a frame of another site');
    const { verifyRegistrationResponse } = await webauthn();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      supportedAlgorithmIDs: ALGORITHMS,
      response,
      expectedChallenge: facts.challenge,
      expectedOrigin: relyingParty.origins(),
      expectedRPID: relyingParty.rpId,
      requireUserPresence: challenge.isConditional !== true,
      requireUserVerification: challenge.needsUserVerification === true,
    });
    if (!verified || registrationInfo.credential.id !== response.id) throw new PasskeyProblem('not verified');
    const isDiscoverable = response.clientExtensionResults.credProps?.rk === true;
    return { ...registrationInfo, isDiscoverable, isConditional: challenge.isConditional === true };
  }

  async function addToAccount(accountId: string, made: MadePasskey, isKey: boolean): Promise<void> {
    const stored = await update(accounts, accountId, (record) => {
      if (!isUsable(record)) throw new AppError('account.not_found');
      const { mustEnrolSecondFactor: _done, ...rest } = record;
      const passkey = { id: made.id, kind: isKey ? 'security_key' : 'passkey' } as const;
      const passkeys = [...(record.passkeys ?? []), passkey];
      if (passkeys.length > MAX_PASSKEYS) {
        const problem = `There are ${MAX_PASSKEYS} already: remove one first.`;
        throw new AppError('request.invalid', { message: problem, fields: { passkeys: problem } });
      }
      return { value: settleFactors(record, { ...rest, passkeys }, clock()) };
    });
    if (stored === undefined) throw new AppError('account.not_found');
  }

  return {
    async begin({
      account,
      boundTo,
      isConditional = false,
      needsUserVerification = false,
      mayBeKey = false,
    }) {
      const challenge = await challenges.issue({
        ceremony: 'registration',
        boundTo,
        accountId: account.id,
        ...(isConditional && { isConditional }),
        ...(needsUserVerification && { needsUserVerification }),
      });
      const known = await collection.findBy('account', account.id);
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        supportedAlgorithmIDs: ALGORITHMS,
        rpName: rpName(),
        rpID: relyingParty.rpId,
        userID: new Uint8Array(Buffer.from(account.id, 'utf8')),
        userName: account.username,
        userDisplayName: account.profile.name ?? account.username,
        challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
        timeout: CHALLENGE_MS,
        attestationType: 'none',
        excludeCredentials: known.map(({ id, value }) => ({ id, transports: value.transports })),
        authenticatorSelection: {
          residentKey: mayBeKey ? 'preferred' : 'required',
          userVerification: needsUserVerification ? 'required' : 'preferred',
        },
      });
    },

    async finish({ accountId, boundTo, response, label }) {
      const made = await judge({ accountId, boundTo, response }).catch((cause: unknown) => {
        throw new AppError('passkey.refused', { cause });
      });
      const { aaguid, credential } = made;
      const record: PasskeyRecord = {
        accountId,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: [...(credential.transports ?? [])],
        deviceType: made.credentialDeviceType,
        isBackedUp: made.credentialBackedUp,
        aaguid,
        label: authenticatorName(aaguid) ?? labelOf(label) ?? '',
        isUserVerified: made.userVerified,
        createdAt: clock(),
      };
      try {
        // §7.1: an id that anybody has is refused; by insert, so that two at once are not both first.
        await collection.insert(credential.id, record);
      } catch (error) {
        throw error instanceof AlreadyExists ? new AppError('passkey.registered') : error;
      }
      const { deviceType, isUserVerified } = record;
      const passkey: MadePasskey = { id: credential.id, label: record.label, isUserVerified, deviceType };
      try {
        // It cannot sign in by itself: nobody is found by it, or it would do so for whoever finds it.
        const isUnchecked = !isUserVerified && !made.isConditional && deviceType === 'singleDevice';
        await addToAccount(accountId, passkey, !made.isDiscoverable || isUnchecked);
      } catch (error) {
        // It counts only where the account names it; this keeps its id free for another try.
        await collection.remove(credential.id);
        throw error;
      }
      return passkey;
    },
  };
}
