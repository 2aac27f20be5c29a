// Part of the data model (collections.ts): sign-ups in progress, invitations, passkey enrolments.
import type { CollectionDefinition } from './port.ts';
import type { AccountRecord } from './records.ts';

/** A sign-up with an unverified address; the id is its interaction's. The account is created once the code is entered. */
export interface SignupRecord {
  /** The account as it will be stored; the code goes to its e-mail address. */
  account: AccountRecord;
  /** Digest of the mailed code; '' while there is none, after its use, and if the address already has an account. */
  digest: string;
  codeExpiresAt?: number;
  /** Codes that were mailed before, newest first. */
  earlier?: { digest: string; expiresAt: number }[];
  triesLeft: number;
  /** When the last code was requested. */
  askedAt: number;
}

/** An administrator's invitation to sign up. It has two links: only the mailed one verifies the address. */
export interface InvitationRecord {
  email: string;
  mailedDigest: string;
  handedDigest: string;
  clientId?: string;
  createdAt: number;
  usedAt?: number;
  /** The account that was created with it. */
  accountId?: string;
}

export const signups: CollectionDefinition<SignupRecord> = {
  name: 'signups',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

export const invitations: CollectionDefinition<InvitationRecord> = {
  name: 'invitations',
  durability: 'durable',
  indexes: {
    mailed: { unique: true, key: (i) => i.mailedDigest },
    handed: { unique: true, key: (i) => i.handedDigest },
    account: { key: (i) => i.accountId },
  },
  fields: {
    email: { type: 'string', of: (i) => i.email },
    created_at: { type: 'number', of: (i) => i.createdAt },
  },
};

/** Allows a browser to register a passkey after a one-time link; the id is a digest of the browser's cookie. */
export interface EnrolmentRecord {
  accountId: string;
  /** The account's security state at that time. */
  securityState: string;
}

export const enrolments: CollectionDefinition<EnrolmentRecord> = {
  name: 'enrolments',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};
