// The challenges of passkey ceremonies (WebAuthn §13.4.3): each for one ceremony of one interaction
// or session, valid for five minutes, and used once, because only one caller can remove its record.
import type { Clock } from '../clock.ts';
import { newSecret, secretDigest } from '../ids.ts';
import type { PasskeyChallengeRecord } from '../store/passkeys.ts';
import type { EphemeralCollection } from '../store/port.ts';

export interface PasskeyChallenges {
  /** @returns the challenge, base64url */
  issue(record: PasskeyChallengeRecord): Promise<string>;
  /** @returns the record to exactly one of any number of callers, and never for another binding */
  consume(
    challenge: string,
    expected: Pick<PasskeyChallengeRecord, 'boundTo' | 'ceremony' | 'accountId'>,
  ): Promise<PasskeyChallengeRecord | undefined>;
  removeAllOf(accountId: string): Promise<number>;
}

export const CHALLENGE_MS = 300_000;

export function createPasskeyChallenges({
  collection,
  clock,
}: {
  collection: EphemeralCollection<PasskeyChallengeRecord>;
  clock: Clock;
}): PasskeyChallenges {
  return {
    async issue(record) {
      const challenge = newSecret();
      await collection.insert(secretDigest(challenge), record, { expiresAt: clock() + CHALLENGE_MS });
      return challenge;
    },
    async consume(challenge, { boundTo, ceremony, accountId }) {
      const id = secretDigest(challenge);
      const found = (await collection.find(id))?.value;
      const isOurs =
        found?.boundTo === boundTo && found.ceremony === ceremony && found.accountId === accountId;
      if (!isOurs) return undefined;
      return (await collection.remove(id)) ? found : undefined;
    },
    removeAllOf: (accountId) => collection.removeBy('account', accountId),
  };
}
