// The addresses that this server calls for an application, and which of them an administrator entered or approved: only those
// may lie inside (OUTBOUND_ALLOW, decision 0021). What registers itself cannot approve anything.
import type { ClientRecord } from '../store/collections.ts';
import { isStringList, type MemberName } from './metadata-rules.ts';

/** What each is called for: the protocol core has rules for each use (src/oidc/outbound/outbound-rules.ts). */
export const calledMembers = {
  jwks_uri: 'keys',
  backchannel_logout_uri: 'notice',
  // Of the legacy profile, and stored with it.
  request_uris: 'request',
} as const satisfies Partial<Record<MemberName, string>>;

export type CalledMember = keyof typeof calledMembers;

const isCalled = (name: string): name is CalledMember => Object.hasOwn(calledMembers, name);
export const calledMemberNames: readonly CalledMember[] = Object.keys(calledMembers).filter(isCalled);

const normal = (uri: string): string => URL.parse(uri)?.href ?? uri;

type Addressed = Pick<ClientRecord, 'metadata' | 'legacyMetadata'>;

function addressesOf({ metadata, legacyMetadata }: Addressed, name: CalledMember): string[] {
  const value = legacyMetadata?.[name] ?? metadata[name];
  return isStringList(value) ? value : typeof value === 'string' ? [value] : [];
}

/** @returns the called addresses of an application, by member */
export const calledAddresses = (record: Addressed): { readonly name: CalledMember; readonly uri: string }[] =>
  calledMemberNames.flatMap((name) => addressesOf(record, name).map((uri) => ({ name, uri })));

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
