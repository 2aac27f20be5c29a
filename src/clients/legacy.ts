// The legacy profile as the registry knows it (decision 0026): who may have it, and the members that count only while the
// setting `legacy_profiles` is on. They are stored apart, so that without the setting an application is what it would be if
// there were no profile. What they bring at sign-in is in src/oidc/legacy/.

import { legacyRows } from '../model/applications/legacy.ts';
import { memberRows } from '../model/applications/rows.ts';
import { adminScopes, legacyResponseTypes } from '../model/applications/vocabulary.ts';
import { isLoopbackHost, uriProblem } from '../model/uris.ts';
import { ours } from '../phrase.ts';
import type { ClientMetadata, ClientRecord } from '../store/collections.ts';
import { refusal } from './application.ts';
import { type Authority, choiceProblem, isMemberName, isStringList, sentence } from './metadata-rules.ts';
import type { IsOwnAddress } from './own-addresses.ts';

type Members = Readonly<Record<string, unknown>>;
type Problems = Record<string, string>;

/** With its other called addresses no more than can be approved (src/model/applications/settings.ts). */
const MAX_REQUEST_URIS = 8;
const FRONTCHANNEL = ['frontchannel_logout_uri', 'frontchannel_logout_session_required'];

const inOrder = (type: string): string => [...new Set(type.split(' ').filter(Boolean))].sort().join(' ');
const isLegacyType = (type: string): boolean => legacyResponseTypes.some((one) => one === inOrder(type));
const isLegacyMember = (name: string): boolean => Object.hasOwn(legacyRows, name);
/** Others are of a newer version (src/store/unknown-members.ts). */
const isKnownHere = (name: string): boolean => name === 'response_types' || isLegacyMember(name);
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

export const listOf = (members: Members | undefined, name: string): string[] => {
  const value = members?.[name];
  return isStringList(value) ? value : [];
};

/** Whether the profile is in force for an application, as far as that is for the application to say. */
export const hasLegacyProfile = (record: ClientRecord): boolean =>
  record.profile === 'legacy' && whyNever(record) === undefined;

/** @returns why an application can have neither the profile nor a front-channel address, as a clause */
function whyNever({ metadata, quarantine, origin }: ClientRecord): string | undefined {
  if (quarantine !== undefined) return 'nobody vouched for this application';
  if (origin === 'seed') return 'it is built in';
  if (metadata.application_type === 'native') return 'it is native';
  const scopes = typeof metadata.scope === 'string' ? metadata.scope.split(' ') : [];
  return adminScopes.some((name) => scopes.includes(name)) ? 'it may request admin scopes' : undefined;
}

interface Split {
  readonly metadata: Record<string, unknown>;
  /** Undefined: this request leaves them as they are. */
  readonly legacy: Members | undefined;
}

/**
 * Takes the members of the profile out of what was sent.
 * @param options.isOn the setting; without it nothing of the profile can be set or changed
 * @throws AppError client.invalid_metadata
 */
export function splitLegacy(
  input: Members,
  { isOn, kind }: { readonly isOn: boolean; readonly kind: Authority['kind'] },
): Split {
  const entries = Object.entries(input);
  const metadata = Object.fromEntries(entries.filter(([name]) => !isLegacyMember(name)));
  const own = entries.filter(([name]) => isLegacyMember(name));
  if (!isOn) {
    const needless = own.filter(([, value]) => isGiven(value));
    if (kind === 'registrant' || needless.length === 0) return { metadata, legacy: undefined };
    const problem = 'Needs the setting legacy_profiles, which is off.';
    throw refusal(Object.fromEntries(needless.map(([name]) => [name, problem])));
  }
  const { response_types: types, grant_types: grants } = metadata;
  const legacy: Record<string, unknown> = Object.fromEntries(own);
  if (isStringList(types)) {
    metadata.response_types = types.filter((type) => !isLegacyType(type));
    legacy.response_types = [...new Set(types.filter(isLegacyType).map(inOrder))];
    // What remains without a response type of the code flow has no use for its grant type, which is the default.
    const isWithoutCode = types.length > 0 && !types.includes('code');
    if (isWithoutCode && !isGiven(grants)) metadata.grant_types = [];
  }
  if (isStringList(grants)) metadata.grant_types = grants.filter((grant) => grant !== 'implicit');
  return { metadata, legacy };
}

interface Change {
  readonly before: Members | undefined;
  /** From `splitLegacy`. */
  readonly legacy: Members | undefined;
  readonly mode: 'replace' | 'merge';
  readonly kind: Authority['kind'];
  readonly isOwnAddress: IsOwnAddress | undefined;
}

/**
 * @param record as it will be, but for these members
 * @throws AppError client.invalid_metadata
 */
export function withLegacyMembers(record: ClientRecord, change: Change): ClientRecord {
  const { before, legacy, mode, kind } = change;
  const problems: Problems = {};
  const why = record.profile === 'legacy' ? whyNever(record) : undefined;
  if (why !== undefined) throw refusal({ profile: `Must be null: ${ours(why)}.` });
  const newer = Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => !isKnownHere(name)));
  const wished = legacy === undefined ? before : { ...(mode === 'merge' ? before : newer), ...legacy };
  const open = Object.entries(wished ?? {}).filter(([name, value]) => {
    if (!isKnownHere(name)) return true;
    if (!isGiven(value) || (Array.isArray(value) && value.length === 0)) return false;
    if (record.profile === 'legacy') return true;
    const isKept = JSON.stringify(value) === JSON.stringify(before?.[name]);
    if (FRONTCHANNEL.includes(name) && (kind === 'administrator' || isKept)) return true;
    // What nobody asks for now goes with the profile; RFC 7591 §2 lets the server leave out what a registrant wishes.
    const isAsked = legacy !== undefined && isGiven(legacy[name]) && legacy[name] !== false;
    if (isAsked && (kind === 'administrator' || name === 'response_types'))
      problems[name] =
        `Needs the profile legacy${kind === 'registrant' ? ', which an administrator allows' : ''}.`;
    return false;
  });
  const { legacyMetadata: _, ...rest } = record;
  const members = Object.fromEntries(open);
  const next: ClientRecord = open.length === 0 ? rest : { ...rest, legacyMetadata: members };
  if (legacy !== undefined) Object.assign(problems, memberProblems(next, change.isOwnAddress));
  if (Object.keys(problems).length > 0) throw refusal(problems);
  return next;
}

/** @returns what is wrong with the members of the profile in a complete record, by name */
function memberProblems(record: ClientRecord, isOwnAddress?: IsOwnAddress): Problems {
  const problems: Problems = {};
  const note = (name: string, problem: string | undefined): void => {
    if (problem !== undefined) problems[name] ??= sentence(problem);
  };
  const members = record.legacyMetadata ?? {};
  for (const [name, value] of Object.entries(members)) {
    if (!isMemberName(name)) continue;
    const { kind } = memberRows[name];
    const parsed = kind.parse(value);
    if ('problem' in parsed) note(name, parsed.problem);
    else if (isLegacyMember(name)) note(name, choiceProblem(kind, value, { kind: 'administrator' }));
  }
  if (Object.keys(problems).length > 0) return problems;
  note('response_types', responseTypesProblem(record));
  note('request_uris', requestUrisProblem(listOf(members, 'request_uris'), isOwnAddress));
  const { frontchannel_logout_uri: uri } = members;
  if (typeof uri === 'string') note('frontchannel_logout_uri', frontchannelProblem(uri, record));
  return problems;
}

/** OIDC Registration §2: tokens in a fragment need https, and no name that is not one machine's alone. */
function responseTypesProblem({ metadata, legacyMetadata }: ClientRecord): string | undefined {
  const types = listOf(legacyMetadata, 'response_types');
  if (types.length === 0) return undefined;
  const uris = listOf(metadata, 'redirect_uris').map((uri) => URL.parse(uri));
  if (uris.length === 0) return 'need redirect_uris';
  if (!uris.every((url) => url?.protocol === 'https:' && url.hostname !== 'localhost'))
    return `must be code alone unless every redirect URI is https and none on localhost (${types.join(', ')})`;
  const hasToken = types.some((type) => type.split(' ').includes('token'));
  return hasToken && metadata.dpop_bound_access_tokens === true
    ? 'must not contain token with dpop_bound_access_tokens'
    : undefined;
}

/** OIDC Core §6.2: the fragment, if there is one, is a digest. */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

function requestUrisProblem(
  uris: readonly string[],
  isOwnAddress: IsOwnAddress | undefined,
): string | undefined {
  if (uris.length > MAX_REQUEST_URIS) return `must not have more than ${MAX_REQUEST_URIS} entries`;
  for (const [at, uri] of uris.entries()) {
    const [address = '', digest] = uri.split('#', 2);
    const problem =
      uriProblem(address, 'fetched', false) ??
      (digest === undefined || DIGEST.test(digest)
        ? undefined
        : 'must have the SHA-256 of its content in base64url as its fragment, or none') ??
      (isOwnAddress?.(address) === true ? 'must not be an address of this server' : undefined);
    if (problem !== undefined) return `entry ${at + 1} ${ours(problem)}`;
  }
  return undefined;
}

function frontchannelProblem(uri: string, record: ClientRecord): string | undefined {
  const why = whyNever(record);
  if (why !== undefined) return `must be absent: ${ours(why)}`;
  const url = URL.parse(uri);
  const problem = uriProblem(uri, 'page', false);
  if (problem !== undefined || url === null) return problem ?? 'must be an absolute URI';
  // A Content-Security-Policy cannot name it.
  if (url.hostname.startsWith('[')) return 'must not have an IPv6 address';
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) return 'must start with https://';
  const origins = listOf(record.metadata, 'redirect_uris').map((one) => URL.parse(one)?.origin);
  return origins.includes(url.origin) ? undefined : 'must have the same origin as a redirect URI';
}

/**
 * The record as it may be used now: with what the profile adds while the setting is on. What became impossible since it was
 * written, such as a redirect URI without https, counts for nothing.
 */
export function withLegacy(record: ClientRecord, isOn: boolean): ClientRecord {
  const { legacyMetadata: members } = record;
  if (!isOn || members === undefined) return record;
  const isWhole = hasLegacyProfile(record);
  const usable = Object.entries(members).filter(([name]) => isWhole || FRONTCHANNEL.includes(name));
  const { response_types: types, ...others }: Record<string, unknown> = Object.fromEntries(usable);
  const wrong = memberProblems({ ...record, legacyMetadata: Object.fromEntries(usable) });
  const right = Object.fromEntries(Object.entries(others).filter(([name]) => wrong[name] === undefined));
  const metadata: ClientMetadata = { ...record.metadata, ...right };
  if (isStringList(types) && wrong.response_types === undefined) {
    metadata.response_types = [...listOf(record.metadata, 'response_types'), ...types];
    metadata.grant_types = [...listOf(record.metadata, 'grant_types'), 'implicit'];
  }
  return { ...record, metadata };
}

/**
 * The metadata as a provider without the profile takes it: for the moments in which the setting is on and the provider in use was
 * built without.
 */
export function ordinaryMetadata(metadata: ClientMetadata): ClientMetadata {
  const types = listOf(metadata, 'response_types');
  if (!types.some(isLegacyType)) return metadata;
  return {
    ...metadata,
    response_types: types.filter((type) => !isLegacyType(type)),
    grant_types: listOf(metadata, 'grant_types').filter((grant) => grant !== 'implicit'),
  };
}
