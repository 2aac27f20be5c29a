// Owns what is stored of passkeys and of the ceremonies that make and use them; part of collections.ts.
import type { CollectionDefinition } from './port.ts';

/** A passkey; the id is the credential id, base64url. It counts only while its account names it. */
export interface PasskeyRecord {
  accountId: string;
  /** COSE, base64url. */
  publicKey: string;
  /** The signature counter of its last use (WebAuthn §6.1.1); 0 where it has none. */
  counter: number;
  /** Set when the counter went back: the key may have been copied. */
  counterWentBackAt?: number;
  transports: string[];
  deviceType: 'singleDevice' | 'multiDevice';
  isBackedUp: boolean;
  /** The model of the authenticator, as it says itself. */
  aaguid: string;
  label: string;
  /** Whether the authenticator checked who holds it when it was made. */
  isUserVerified: boolean;
  createdAt: number;
  lastUsedAt?: number;
}

/** A challenge for one ceremony; the id is the digest of the challenge. Whoever removes it may use it. */
export interface PasskeyChallengeRecord {
  ceremony: 'sign_in' | 'second_factor' | 'registration';
  /** The interaction or session that asked. */
  boundTo: string;
  /** Whose ceremony it is, where that is known beforehand. */
  accountId?: string;
  /** Made by the browser beside a sign-in, without a person who consents (WebAuthn §5.1.3 conditional mediation). */
  isConditional?: boolean;
  needsUserVerification?: boolean;
}

export const passkeys: CollectionDefinition<PasskeyRecord> = {
  name: 'passkeys',
  durability: 'durable',
  indexes: { account: { key: (p) => p.accountId } },
  fields: { created_at: { type: 'number', of: (p) => p.createdAt } },
};

export const passkeyChallenges: CollectionDefinition<PasskeyChallengeRecord> = {
  name: 'passkey_challenges',
  durability: 'ephemeral',
  indexes: { account: { key: (c) => c.accountId } },
  fields: {},
};
