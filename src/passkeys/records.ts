// Passkeys in the store, by account and credential id. The id is the authenticator's choice (WebAuthn §6.1), so a client can send one
// that another account has; refusing it would tell whoever holds an id that it is registered here, and WebAuthn §7.1 advises to refuse
// because a registration could take the place of the other one. Here it takes none: an account's passkey is found by the account,
// which the user handle or the sign-in names, and by the id together (decision 0014).
import { secretDigest } from '../ids.ts';
import type { PasskeyRecord } from '../store/passkeys.ts';
import { AlreadyExists, type EphemeralCollection, type Stored } from '../store/port.ts';

type Passkeys = EphemeralCollection<PasskeyRecord>;

/** With a character that no credential id has, so that nobody can register it. */
const furtherId = (accountId: string, credentialId: string): string =>
  `also.${secretDigest(`${accountId} ${credentialId}`)}`;

export const credentialIdOf = ({ id, value }: Pick<Stored<PasskeyRecord>, 'id' | 'value'>): string =>
  value.credentialId ?? id;

async function findBoth(collection: Passkeys, accountId: string, credentialId: string) {
  const [first, further] = await Promise.all([
    collection.find(credentialId),
    collection.find(furtherId(accountId, credentialId)),
  ]);
  return { first, further };
}

/** @returns the account's own; else another account's of that id; undefined for none */
export async function findPasskey(
  collection: Passkeys,
  accountId: string | undefined,
  credentialId: string,
): Promise<Stored<PasskeyRecord> | undefined> {
  if (accountId === undefined) return collection.find(credentialId);
  const { first, further } = await findBoth(collection, accountId, credentialId);
  return first?.value.accountId === accountId ? first : (further ?? first);
}

/**
 * Which id is free is read, not tried, so that it takes the same time whether another account has it.
 * @returns the id of the record; undefined when the account itself has that credential already
 */
export async function insertPasskey(
  collection: Passkeys,
  credentialId: string,
  record: PasskeyRecord,
): Promise<string | undefined> {
  const { accountId } = record;
  const { first, further } = await findBoth(collection, accountId, credentialId);
  if (first?.value.accountId === accountId || further !== undefined) return undefined;
  if (first === undefined) {
    if (await insertsAt(collection, credentialId, record)) return credentialId;
    // Another registration took it meanwhile: of the same account, or not.
    if ((await collection.find(credentialId))?.value.accountId === accountId) return undefined;
  }
  const id = furtherId(accountId, credentialId);
  return (await insertsAt(collection, id, { ...record, credentialId })) ? id : undefined;
}

/** By insert, so that only one of two concurrent calls succeeds. */
async function insertsAt(collection: Passkeys, id: string, record: PasskeyRecord): Promise<boolean> {
  try {
    await collection.insert(id, record);
    return true;
  } catch (error) {
    if (error instanceof AlreadyExists) return false;
    throw error;
  }
}
