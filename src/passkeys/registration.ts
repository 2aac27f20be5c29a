// Registration of a passkey (WebAuthn §7.1): the options for the authenticator, and validating its response. The
// caller decides which user may register one, and when.
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { type Account, isUsable, settleFactors, withKept } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PasskeyRecord } from '../store/passkeys.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { CHALLENGE_MS, type PasskeyChallenges } from './challenges.ts';
import { labelOf } from './label.ts';
import { authenticatorName } from './names.ts';
import { credentialIdOf, insertPasskey } from './records.ts';
import type { RelyingParty } from './relying-party.ts';
import { clientFacts, parseRegistration } from './response.ts';
import { ALGORITHMS, webauthn, withoutAttestation } from './webauthn.ts';

/** Why a ceremony failed, for the audit log only: callers learn no more than the failure. */
export class PasskeyProblem extends Error {
  override readonly name = 'PasskeyProblem';
}

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

export interface RegisteredPasskey {
  readonly id: string;
  readonly label: string;
  readonly isUserVerified: boolean;
  readonly deviceType: PasskeyRecord['deviceType'];
}

export interface PasskeyRegistration {
  begin(input: {
    account: Account;
    boundTo: string;
    /** Beside a sign-in, without a prompt (automatic upgrade). */
    isConditional?: boolean;
    /** For a passkey that will be the only way to sign in. */
    needsUserVerification?: boolean;
    /** Whether a security key without a discoverable credential is accepted; it can only be a second step. */
    mayBeKey?: boolean;
  }): Promise<CreationOptions>;
  /**
   * @param input.response the browser's response
   * @throws AppError passkey.refused (with the reason as its cause), passkey.registered, account.not_found,
   *   request.invalid
   */
  finish(input: {
    accountId: string;
    boundTo: string;
    response: unknown;
    /** Its name if its model is not well known; the owner can rename it. */
    label?: string | undefined;
    /** Of src/accounts/address-change.ts. */
    isByOldWays?: boolean;
  }): Promise<RegisteredPasskey>;
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

  /** @throws PasskeyProblem, or an error of the library */
  async function validate(input: { accountId: string; boundTo: string; response: unknown }) {
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
    const attestationObject = await withoutAttestation(response.response.attestationObject);
    if (attestationObject === undefined) throw new PasskeyProblem('no attestation object');
    const { verifyRegistrationResponse } = await webauthn();
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      supportedAlgorithmIDs: ALGORITHMS,
      response: { ...response, response: { ...response.response, attestationObject } },
      expectedChallenge: facts.challenge,
      expectedOrigin: relyingParty.origins(),
      expectedRPID: relyingParty.rpId,
      requireUserPresence: challenge.isConditional !== true,
      requireUserVerification: challenge.needsUserVerification === true,
    });
    if (!verified || registrationInfo.credential.id !== response.id) throw new PasskeyProblem('not verified');
    const isDiscoverable = response.clientExtensionResults.credProps?.rk === true;
    return { ...registrationInfo, isDiscoverable };
  }

  async function addToAccount(
    accountId: string,
    made: RegisteredPasskey,
    { isKey, isByOldWays }: { readonly isKey: boolean; readonly isByOldWays: boolean },
  ): Promise<void> {
    const stored = await update(accounts, accountId, (record) => {
      if (!isUsable(record)) throw new AppError('account.not_found');
      const { mustEnrolSecondFactor: _done, ...rest } = record;
      const passkey = { id: made.id, kind: isKey ? 'security_key' : 'passkey' } as const;
      const passkeys = [...(record.passkeys ?? []), passkey];
      if (passkeys.length > MAX_PASSKEYS) {
        const problem = `This account already has ${MAX_PASSKEYS} passkeys. Remove one first.`;
        throw new AppError('request.invalid', { message: problem, fields: { passkeys: problem } });
      }
      const after = settleFactors(record, { ...rest, passkeys }, clock());
      return { value: withKept(record, after, isByOldWays) };
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
        excludeCredentials: known.map((stored) => ({
          id: credentialIdOf(stored),
          transports: stored.value.transports,
        })),
        authenticatorSelection: {
          residentKey: mayBeKey ? 'preferred' : 'required',
          userVerification: needsUserVerification ? 'required' : 'preferred',
        },
      });
    },

    async finish({ accountId, boundTo, response, label, isByOldWays = false }) {
      const made = await validate({ accountId, boundTo, response }).catch((cause: unknown) => {
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
      const recordId = await insertPasskey(collection, credential.id, record);
      if (recordId === undefined) throw new AppError('passkey.registered');
      const { deviceType, isUserVerified } = record;
      const passkey: RegisteredPasskey = {
        id: credential.id,
        label: record.label,
        isUserVerified,
        deviceType,
      };
      try {
        // Second step only if it is not discoverable, or without user verification: then a finder could sign in with
        // it.
        const isUnchecked = !isUserVerified && deviceType === 'singleDevice';
        const isKey = !made.isDiscoverable || isUnchecked;
        await addToAccount(accountId, passkey, { isKey, isByOldWays });
      } catch (error) {
        // A passkey counts only if its account lists it; removing the record frees the id for another attempt.
        await collection.remove(recordId);
        throw error;
      }
      return passkey;
    },
  };
}
