// Owns the part of the data model that new accounts come by: sign-ups under way, and invitations.
import type { CollectionDefinition } from './port.ts';
import type { AccountRecord } from './records.ts';

/** A sign-up whose address is not proven yet; the id is its interaction's. No account exists before the code is given. */
export interface SignupRecord {
  /** As it will be stored; its e-mail address is where the code goes. */
  account: AccountRecord;
  /** Of the code that was mailed; '' while there is none, after its use, and where the address is somebody's already. */
  digest: string;
  codeExpiresAt?: number;
  triesLeft: number;
  /** When the latest code was asked for. */
  askedAt: number;
}

/** An administrator's invitation to sign up. It has two links: only who has the mailed one has shown the address to be theirs. */
export interface InvitationRecord {
  email: string;
  mailedDigest: string;
  handedDigest: string;
  clientId?: string;
  createdAt: number;
  usedAt?: number;
  /** Whose account it became. */
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

/** Whom a browser may make a passkey for, after a one-time link; the id is a digest of the browser's cookie. */
export interface EnrolmentRecord {
  accountId: string;
  /** What the account's security rested on then. */
  securityState: string;
}

export const enrolments: CollectionDefinition<EnrolmentRecord> = {
  name: 'enrolments',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};
