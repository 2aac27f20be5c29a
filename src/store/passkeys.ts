// Part of the data model (collections.ts): passkeys and the challenges of their ceremonies.
import type { CollectionDefinition } from './port.ts';

/**
 * A passkey; the id is the credential id, base64url, or another where another account has one of that id (src/passkeys/records.ts).
 * It is valid only while its account lists it.
 */
export interface PasskeyRecord {
  accountId: string;
  /** Where it is not the record's id. */
  credentialId?: string;
  /** COSE, base64url. */
  publicKey: string;
  /** The signature counter of its last use (WebAuthn §6.1.1); 0 if the authenticator has none. */
  counter: number;
  /** Set when the counter decreased: the key may have been cloned (WebAuthn §6.1.1). */
  counterWentBackAt?: number;
  transports: string[];
  deviceType: 'singleDevice' | 'multiDevice';
  isBackedUp: boolean;
  /** The authenticator's model, as it reports it. */
  aaguid: string;
  label: string;
  /** Whether user verification was performed at registration. */
  isUserVerified: boolean;
  createdAt: number;
  lastUsedAt?: number;
}

/** A challenge for one ceremony; the id is its digest. Removing it is what entitles to use it, so it is used once. */
export interface PasskeyChallengeRecord {
  ceremony: 'sign_in' | 'second_factor' | 'registration';
  /** The interaction or session that requested it. */
  boundTo: string;
  /** Whose ceremony it is, where that is known in advance. */
  accountId?: string;
  /** Created without user interaction after a sign-in (WebAuthn §5.1.3 conditional mediation). */
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
