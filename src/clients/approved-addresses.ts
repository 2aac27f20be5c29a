// The addresses that this server calls for an application, and which of them an administrator entered or approved: only those
// may lie inside (OUTBOUND_ALLOW, decisions §10). What registers itself cannot approve anything.
import type { ClientMetadata, ClientRecord } from '../store/collections.ts';
import type { MemberName } from './metadata-members.ts';

const calledMembers = ['jwks_uri', 'backchannel_logout_uri'] as const satisfies readonly MemberName[];

export type CalledMember = (typeof calledMembers)[number];

const normal = (uri: string): string => URL.parse(uri)?.href ?? uri;

const addressOf = (metadata: Readonly<Record<string, unknown>>, name: CalledMember): string | undefined => {
  const value = metadata[name];
  return typeof value === 'string' ? value : undefined;
};

/** @returns the called addresses of an application, by member */
export const calledAddresses = ({
  metadata,
}: Pick<ClientRecord, 'metadata'>): { readonly name: CalledMember; readonly uri: string }[] =>
  calledMembers.flatMap((name) => {
    const uri = addressOf(metadata, name);
    return uri === undefined ? [] : [{ name, uri }];
  });

/** Absent in records of earlier versions: then an administrator entered what no registrant could have written. */
export function isApprovedAddress(record: ClientRecord, uri: string): boolean {
  const { approvedAddresses, origin, registrationTokenDigest } = record;
  if (approvedAddresses === undefined)
    return origin !== 'registration' && registrationTokenDigest === undefined;
  return approvedAddresses.some((one) => normal(one) === normal(uri));
}

export const approvedAddressesOf = (record: ClientRecord): string[] =>
  calledAddresses(record)
    .map(({ uri }) => uri)
    .filter((uri) => isApprovedAddress(record, uri));

/**
 * @param change.before the record until now; undefined: it is new
 * @param change.chosen those that the administrator names; undefined: as before
 * @returns the approved addresses of the changed application
 */
export function approvedAfter(change: {
  readonly before: ClientRecord | undefined;
  readonly metadata: ClientMetadata;
  readonly isByAdministrator: boolean;
  readonly chosen: readonly string[] | undefined;
}): string[] {
  const { before, metadata, isByAdministrator, chosen } = change;
  return calledAddresses({ metadata })
    .filter(({ name, uri }) => {
      const isEntered = before === undefined || addressOf(before.metadata, name) !== uri;
      if (isEntered) return isByAdministrator;
      return chosen === undefined ? isApprovedAddress(before, uri) : chosen.includes(uri);
    })
    .map(({ uri }) => uri);
}
