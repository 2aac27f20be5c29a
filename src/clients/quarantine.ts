// Applications that nobody vouched for (decision 0026): programs that registered themselves without a token, or whose
// client_id is the address of a metadata document. What holds for them is one table, applied when such a client is written and
// again whenever one is read, so that neither a change nor an older record leaves it. Nothing lifts it.
import { secretDigest } from '../ids.ts';
import { memberRows } from '../model/applications/rows.ts';
import { settingRows } from '../model/applications/settings.ts';
import { defaultGrantTypes } from '../model/grant-types.ts';
import type { ClientMetadata, ClientRecord } from '../store/collections.ts';
import { refusal, withSettings } from './application.ts';
import { isMemberName, isStringList, type MemberName, memberNames, sentence } from './metadata-rules.ts';

type Members = Readonly<Record<string, unknown>>;

interface Rule {
  /** The wire name of what it is about. */
  readonly name: string;
  /** For the refusal of a change by an administrator. */
  readonly says: string;
  readonly confine: (record: ClientRecord) => ClientRecord;
}

const SCOPES = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'];

const among = (value: unknown, allowed: readonly string[], least: readonly string[]): string[] => {
  const kept = isStringList(value) ? value.filter((one) => allowed.includes(one)) : [];
  return least.every((one) => kept.includes(one)) ? kept : [...least];
};

/** Member name -> the nearest value that it may have. */
const memberValues: Readonly<Partial<Record<MemberName, (value: unknown) => unknown>>> = {
  token_endpoint_auth_method: () => 'none',
  grant_types: (value) => among(value, defaultGrantTypes, ['authorization_code']),
  response_types: () => ['code'],
  scope: (value) => among(String(value ?? '').split(' '), SCOPES, []).join(' ') || 'openid',
};

const memberSays: Readonly<Record<string, string>> = {
  token_endpoint_auth_method: 'must be none',
  grant_types: `must contain authorization_code, and beside it only refresh_token`,
  response_types: 'must be code',
  scope: `must only contain ${SCOPES.join(', ')}`,
};

function memberRule(name: MemberName): Rule {
  const nearest = memberValues[name];
  return {
    name,
    says: memberSays[name] ?? 'must be absent',
    confine(record) {
      const { [name]: value, ...others } = record.metadata;
      const metadata: ClientMetadata = { ...others, client_id: record.metadata.client_id };
      return { ...record, metadata: nearest ? { ...metadata, [name]: nearest(value) } : metadata };
    },
  };
}

const isOpen = (name: MemberName): boolean => memberRows[name].isForAgents;

/** A setting goes back to what absence means. */
const settingRule = (name: string, absent: unknown): Rule => ({
  name,
  says: absent === null ? 'must be null' : 'must be false',
  confine: (record) => withSettings(record, { [name]: absent }),
});

/** What such an application may have of these is neither nothing nor anything. */
const own: readonly Rule[] = [
  {
    name: 'client_type',
    says: 'must be public',
    confine: (record) => ({ ...record, clientType: 'public', secrets: [] }),
  },
  {
    name: 'access_token_audience',
    says: 'must be issuer',
    confine: (record) => ({ ...record, accessTokenAudience: 'issuer' }),
  },
  {
    name: 'frontchannel_logout_uri',
    says: 'must be absent',
    confine: ({ legacyMetadata: _, ...record }) => record,
  },
  {
    name: 'approved_addresses',
    says: 'must be empty',
    confine: ({ approvedAddresses: _, ...record }) => record,
  },
  {
    name: 'allow_self_signup',
    says: 'must not be true',
    confine: (record) =>
      record.allowSelfSignup === true ? withSettings(record, { allow_self_signup: null }) : record,
  },
];

const closed = Object.entries(settingRows)
  .filter(([name, { isForAgents }]) => !isForAgents && !own.some((rule) => rule.name === name))
  .map(([name, { absent }]) => [name, absent] as const);
const closedSettings = Object.fromEntries(closed);

const ofMembers = memberNames
  .filter((name) => !isOpen(name) || memberValues[name] !== undefined)
  .map(memberRule);

/** What such an application may have at all is in its row (`isForAgents`). */
export const quarantineRules: readonly Rule[] = [
  ...ofMembers,
  ...closed.map(([name, absent]) => settingRule(name, absent)),
  ...own,
];

const confineAll = (record: ClientRecord): ClientRecord =>
  [...ofMembers, ...own].reduce(
    (confined, { confine }) => confine(confined),
    withSettings(record, closedSettings),
  );

/**
 * @param isOpen the setting `agents`: without it such applications can do nothing
 * @returns the record as its use may see it; others are returned as they are
 */
export const confined = (record: ClientRecord, isOpen = true): ClientRecord =>
  record.quarantine === undefined ? record : { ...confineAll(record), isActive: record.isActive && isOpen };

/** Before validation: a registrant's wishes, as near as it may have them (RFC 7591 §2). Other members stay, to be reported. */
export function confinedMembers(members: Members): Record<string, unknown> {
  const kept = Object.entries(members).filter(([name]) => !isMemberName(name) || isOpen(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const nearest = isMemberName(name) ? memberValues[name] : undefined;
      return [name, nearest === undefined || !isWellFormed(name, value) ? value : nearest(value)];
    }),
  );
}

/** What is not even of the right type is reported, not replaced. */
const isWellFormed = (name: string, value: unknown): boolean =>
  name === 'grant_types' || name === 'response_types'
    ? isStringList(value)
    : typeof value === 'string' && value !== '';

/** Absent, false and empty are the same: the library's schema fills in such defaults. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

const isSame = (one: unknown, other: unknown): boolean =>
  (isUnset(one) && isUnset(other)) || JSON.stringify(one) === JSON.stringify(other);

const hasEffect = ({ confine }: Rule, record: ClientRecord): boolean => {
  const next = confine(record);
  const [before, after]: Members[] = [
    { ...record, ...record.metadata },
    { ...next, ...next.metadata },
  ].map(({ metadata: _, ...members }) => members);
  return [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].some(
    (key) => !isSame(before?.[key], after?.[key]),
  );
};

/** @throws AppError client.invalid_metadata naming what an administrator's change would let out */
export function checkQuarantine(record: ClientRecord, before: ClientRecord): void {
  const isOfDocument = before.quarantine?.by === 'document';
  if (isOfDocument && statementOf(record) !== statementOf(before)) {
    const problem = 'Name, type and redirect URIs are what its metadata document says.';
    throw refusal({ redirect_uris: problem });
  }
  const broken = quarantineRules.filter((rule) => hasEffect(rule, record));
  if (broken.length === 0) return;
  const why = 'nobody vouched for this application (see docs/agents.md)';
  throw refusal(Object.fromEntries(broken.map(({ name, says }) => [name, sentence(`${says}: ${why}`)])));
}

/**
 * What people agreed to is what the application said about itself then: consent and grants carry this digest.
 * @returns undefined for applications that an administrator vouches for
 */
export function statementOf({ metadata, quarantine }: ClientRecord): string | undefined {
  if (quarantine === undefined) return undefined;
  const { client_name: name, application_type: type, redirect_uris: uris } = metadata;
  const addresses = isStringList(uris) ? [...uris].sort() : [];
  // Keys and authentication: of a document, what it says; others have none (the rules above).
  const said = [quarantine.by, quarantine.says ?? null, name ?? null, type ?? null, addresses];
  return secretDigest(JSON.stringify(said));
}
