// The addresses that this server calls for an application, and which of them an administrator entered or approved: only those
// may lie inside (OUTBOUND_ALLOW, decisions §10). What registers itself cannot approve anything.
import type { ClientRecord } from '../store/collections.ts';
import { isStringList } from './member-values.ts';
import type { MemberName } from './metadata-members.ts';

const calledMembers = [
  'jwks_uri',
  'backchannel_logout_uri',
  'request_uris',
] as const satisfies readonly MemberName[];

export type CalledMember = (typeof calledMembers)[number];

const normal = (uri: string): string => URL.parse(uri)?.href ?? uri;

type Addressed = Pick<ClientRecord, 'metadata' | 'legacyMetadata'>;

function addressesOf({ metadata, legacyMetadata }: Addressed, name: CalledMember): string[] {
  const value = name === 'request_uris' ? legacyMetadata?.[name] : metadata[name];
  return isStringList(value) ? value : typeof value === 'string' ? [value] : [];
}

/** @returns the called addresses of an application, by member */
export const calledAddresses = (record: Addressed): { readonly name: CalledMember; readonly uri: string }[] =>
  calledMembers.flatMap((name) => addressesOf(record, name).map((uri) => ({ name, uri })));

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
 * Written with every change, so that later none is taken for entered by an administrator.
 * @param before the record until now; undefined: it is new
 * @param chosen those that the administrator names; undefined: as before
 */
export function approved(
  before: ClientRecord | undefined,
  record: ClientRecord,
  kind: 'administrator' | 'registrant',
  chosen?: readonly string[],
): Pick<ClientRecord, 'approvedAddresses'> {
  const called = calledAddresses(record);
  if (called.length === 0 && before?.approvedAddresses === undefined) return {};
  const approvedAddresses = called
    .filter(({ name, uri }) => {
      const isEntered = before === undefined || !addressesOf(before, name).includes(uri);
      if (isEntered) return kind === 'administrator';
      return chosen === undefined ? isApprovedAddress(before, uri) : chosen.includes(uri);
    })
    .map(({ uri }) => uri);
  return { approvedAddresses };
}
