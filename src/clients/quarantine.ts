// Applications that nobody vouched for (decisions §10, "Agents"): programs that registered themselves without a token, or whose
// client_id is the address of a metadata document. What holds for them is one table, applied when such a client is written and
// again whenever one is read, so that neither a change nor an older record leaves it. Nothing lifts it.
import { AppError } from '../errors.ts';
import { secretDigest } from '../ids.ts';
import type { ClientMetadata, ClientRecord } from '../store/collections.ts';
import { isStringList } from './member-values.ts';
import { isMemberName, type MemberName, memberNames } from './metadata-members.ts';

type Members = Readonly<Record<string, unknown>>;

interface Rule {
  /** The wire name of what it is about. */
  readonly name: string;
  /** For the refusal of a change by an administrator. */
  readonly says: string;
  readonly confine: (record: ClientRecord) => ClientRecord;
}

const GRANT_TYPES = ['authorization_code', 'refresh_token'];
const SCOPES = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'];

/**
 * What such a client may say about itself. Left out is what browsers are sent to without a question, what people would take for
 * checked (logo, links), what this server would call, and keys, since it is public.
 */
const openMembers: ReadonlySet<MemberName> = new Set([
  'client_name',
  'application_type',
  'redirect_uris',
  'grant_types',
  'response_types',
  'response_modes',
  'scope',
  'token_endpoint_auth_method',
  'id_token_signed_response_alg',
  'subject_type',
  'default_max_age',
  'require_auth_time',
  'require_pushed_authorization_requests',
  'software_id',
  'software_version',
]);

const among = (value: unknown, allowed: readonly string[], least: readonly string[]): string[] => {
  const kept = isStringList(value) ? value.filter((one) => allowed.includes(one)) : [];
  return least.every((one) => kept.includes(one)) ? kept : [...least];
};

/** Member name -> the nearest value that it may have. */
const memberValues: Readonly<Partial<Record<MemberName, (value: unknown) => unknown>>> = {
  token_endpoint_auth_method: () => 'none',
  grant_types: (value) => among(value, GRANT_TYPES, ['authorization_code']),
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

const without =
  (key: keyof ClientRecord) =>
  (record: ClientRecord): ClientRecord => {
    const next: ClientRecord = { ...record };
    Reflect.deleteProperty(next, key);
    return next;
  };

const ruledMembers = memberNames.filter((name) => !openMembers.has(name) || memberValues[name] !== undefined);

export const quarantineRules: readonly Rule[] = [
  ...ruledMembers.map(memberRule),
  {
    name: 'client_type',
    says: 'must be public',
    confine: (record) => ({ ...record, clientType: 'public', secrets: [] }),
  },
  {
    name: 'skip_consent',
    says: 'must be false',
    confine: (record) => ({ ...record, skipConsent: false }),
  },
  {
    name: 'access_token_audience',
    says: 'must be issuer',
    confine: (record) => ({ ...record, accessTokenAudience: 'issuer' }),
  },
  { name: 'may_introspect', says: 'must be false', confine: without('mayIntrospect') },
  { name: 'keycloak_tokens', says: 'must be false', confine: without('keycloakTokens') },
  { name: 'profile', says: 'must be null', confine: without('profile') },
  {
    name: 'authorization_signed_response_alg',
    says: 'must be null',
    confine: without('signedResponseAlg'),
  },
  { name: 'frontchannel_logout_uri', says: 'must be absent', confine: without('legacyMetadata') },
  { name: 'approved_addresses', says: 'must be empty', confine: without('approvedAddresses') },
  {
    name: 'allow_self_signup',
    says: 'must not be true',
    confine: (record) => (record.allowSelfSignup === true ? without('allowSelfSignup')(record) : record),
  },
];

const confineAll = (record: ClientRecord): ClientRecord =>
  quarantineRules.reduce((confined, { confine }) => confine(confined), record);

/**
 * @param isOpen the setting `agents`: without it such applications can do nothing
 * @returns the record as its use may see it; others are returned as they are
 */
export const confined = (record: ClientRecord, isOpen = true): ClientRecord =>
  record.quarantine === undefined ? record : { ...confineAll(record), isActive: record.isActive && isOpen };

/** Before validation: a registrant's wishes, as near as it may have them (RFC 7591 §2). Other members stay, to be reported. */
export function confinedMembers(members: Members): Record<string, unknown> {
  const kept = Object.entries(members).filter(([name]) => !isMemberName(name) || openMembers.has(name));
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
    throw new AppError('client.invalid_metadata', { fields: { redirect_uris: problem } });
  }
  const broken = quarantineRules.filter((rule) => hasEffect(rule, record));
  if (broken.length === 0) return;
  throw new AppError('client.invalid_metadata', {
    fields: Object.fromEntries(
      broken.map(({ name, says }) => [
        name,
        `${says.charAt(0).toUpperCase()}${says.slice(1)}: nobody vouched for this application (see docs/agents.md).`,
      ]),
    ),
  });
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
