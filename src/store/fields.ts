// Derives index keys and fields from records with an open shape: payloads of the protocol core, lists of names.
import type { CollectionDefinition } from './port.ts';
import type { AccountRecord, ProtocolPayload } from './records.ts';

/** Several names in one field, separated by slashes: `contains` finds `/one/`. No name contains a slash. */
export const asPath = (names: readonly string[] | undefined): string | undefined =>
  names === undefined || names.length === 0 ? undefined : `/${names.join('/')}/`;

export const text = (payload: ProtocolPayload, name: string): string | undefined => {
  const value = payload[name];
  return typeof value === 'string' ? value : undefined;
};
const number = (payload: ProtocolPayload, name: string): number | undefined => {
  const value = payload[name];
  return typeof value === 'number' ? value : undefined;
};

export const protocolIndexes = {
  account: { key: (p: ProtocolPayload) => text(p, 'accountId') },
  client: { key: (p: ProtocolPayload) => text(p, 'clientId') },
  grant: { key: (p: ProtocolPayload) => text(p, 'grantId') },
};

export const protocolFields: CollectionDefinition<ProtocolPayload>['fields'] = {
  created_at: { type: 'number', of: (p) => number(p, 'iat') },
  user_id: { type: 'string', of: protocolIndexes.account.key },
  client_id: { type: 'string', of: protocolIndexes.client.key },
};

/**
 * Also the former primary address, as long as a change can be stopped: it would be another account's when its owner wants it
 * back.
 */
export function furtherAddresses({ emailKey, otherEmails = [], addressChange }: AccountRecord): string[] {
  const keys = new Set(otherEmails.map(({ key }) => key));
  if (addressChange !== undefined && addressChange.fromKey !== emailKey) keys.add(addressChange.fromKey);
  return [...keys];
}

/** Takes further addresses away (yielded-keys.ts). */
export function dropEmails(account: AccountRecord, keys: ReadonlySet<string>): void {
  // Without it a stop goes by times (accounts/address-change.ts).
  if (account.addressChange !== undefined && keys.has(account.addressChange.fromKey))
    delete account.addressChange;
  const left = account.otherEmails?.filter(({ key }) => !keys.has(key)) ?? [];
  if (left.length > 0) account.otherEmails = left;
  else delete account.otherEmails;
}
