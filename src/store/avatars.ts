// Part of the data model (collections.ts): the pictures that people gave of themselves.
import type { CollectionDefinition } from './port.ts';

/** Encoded by us; the id is in its address, and its account names it (AccountRecord.avatar). */
export interface AvatarRecord {
  accountId: string;
  createdAt: number;
  /** JPEG, base64: squares of 256 and of 96 pixels. */
  large: string;
  small: string;
}

export const avatars: CollectionDefinition<AvatarRecord> = {
  name: 'avatars',
  durability: 'durable',
  indexes: { account: { key: (a) => a.accountId } },
  fields: {},
};
