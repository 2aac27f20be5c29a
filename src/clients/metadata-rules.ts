// Our rules for client metadata, applied before the protocol core's schema at every creation and change, whatever its source
// (RFC 7591, RFC 7592, admin API). Pure: neither stores nor fetches.
import type { MemberKind } from '../model/applications/member-kinds.ts';
import { memberRows } from '../model/applications/rows.ts';
import { settingRows } from '../model/applications/settings.ts';
import { openScopes } from '../model/applications/vocabulary.ts';
import { defaultGrantTypes } from '../model/grant-types.ts';
import { editorUris, uriProblem } from '../model/uris.ts';
import { ours } from '../phrase.ts';
import type { IsOwnAddress } from './own-addresses.ts';

/** Who makes the request. A registrant may keep what an administrator allowed the client (`keeps`), never gain more. */
export interface Authority {
  readonly kind: 'administrator' | 'registrant';
  readonly keeps?: ReadonlySet<string> | undefined;
  /** Recognises addresses of this server, which cannot be redirect URIs; default: none, as for the built-in client. */
  readonly isOwnAddress?: IsOwnAddress | undefined;
  /** Whether this server may call a plain http address that an administrator enters; default: none. */
  readonly mayBePlain?: ((uri: string, use: 'keys' | 'notice') => boolean) | undefined;
}

export interface CheckedMetadata {
  /** Known members only, with our defaults; meaningful only without problems. */
  readonly metadata: Record<string, unknown>;
  /** Member name -> what is wrong. */
  readonly problems: Record<string, string>;
}

type Members = Record<string, unknown>;
type Note = (name: string, problem: string | undefined) => void;

export type MemberName = keyof typeof memberRows;
export const isMemberName = (name: string): name is MemberName => Object.hasOwn(memberRows, name);
export const memberNames: readonly MemberName[] = Object.keys(memberRows).filter(isMemberName);
export const kinds = Object.entries<{ readonly kind: MemberKind<unknown> }>(memberRows);

export const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const sentence = (problem: string): string =>
  `${problem.charAt(0).toUpperCase()}${problem.slice(1)}${problem.endsWith('.') ? '' : '.'}`;

/**
 * Members that only the server sets (RFC 7591 §3.2.1, RFC 7592 §2.2). A request with one is refused rather than processed
 * without it, so that no client believes it has chosen an id or a secret.
 */
const serverMembers: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'client_secret_expires_at',
  'client_id_issued_at',
  'registration_access_token',
  'registration_client_uri',
  'client_type',
  'quarantine',
  'origin',
  'created_at',
  'updated_at',
]);

function whoseProblem(name: string, { kind }: Authority): string | undefined {
  if (serverMembers.has(name)) return 'is set by the server';
  // Registrants of other servers ask for it, too (JARM), and get answers without it.
  const isLeftOut = kind === 'registrant' && name === 'authorization_signed_response_alg';
  return Object.hasOwn(settingRows, name) && !isLeftOut ? 'is for an administrator to set' : undefined;
}

/**
 * @param input unvalidated members; null counts as absent (RFC 7592 §2.2), unknown members are dropped (RFC 7591 §2)
 * @returns the known members with our defaults, and all problems by member name
 */
export function checkMetadata(input: Readonly<Members>, authority: Authority): CheckedMetadata {
  const problems: Record<string, string> = {};
  const note: Note = (name, problem) => {
    if (problem !== undefined) problems[name] ??= problem;
  };
  const metadata: Members = {};
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    note(name, whoseProblem(name, authority));
    if (!isMemberName(name)) continue;
    const parsed = memberRows[name].kind.parse(value);
    if ('problem' in parsed) note(name, parsed.problem);
    else metadata[name] = parsed.value;
  }
  if (authority.kind === 'registrant') {
    leaveOutScopes(metadata, authority);
    if (isProgram(metadata)) metadata.application_type ??= 'native';
  }
  for (const [name, { kind }] of kinds) {
    const value = metadata[name];
    if (value === undefined) continue;
    note(name, choiceProblem(kind, value, authority));
    if (kind.use !== undefined) note(name, addressProblem(name, value, kind.use, metadata, authority));
  }
  checkGrants(metadata, note);
  return { metadata: withDefaults(metadata), problems };
}

/**
 * RFC 7591 §2: the server may replace what a registrant asks for. Programs ask for scopes that only other servers know, so
 * those are left out and not kept (decision 0026); never does that leave more than was asked for.
 */
function leaveOutScopes(metadata: Members, { keeps }: Authority): void {
  const { scope } = metadata;
  if (typeof scope !== 'string') return;
  const known = words(scope).filter((word) => openScopes.includes(word) || keeps?.has(word) === true);
  metadata.scope = known.length === 0 ? 'openid' : known.join(' ');
}

const loopbackUri = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:[/?]|$)/;

/** Programs on a device seldom say that they are, and take whichever port is free (RFC 8252 §7.3). */
const isProgram = ({ token_endpoint_auth_method: method, redirect_uris: uris }: Members): boolean =>
  method === 'none' &&
  isStringList(uris) &&
  uris.length > 0 &&
  (uris.every((uri) => loopbackUri.test(uri)) || uris.some((uri) => editorUris.has(uri)));

const words = (scope: string): string[] => scope.split(' ').filter((word) => word !== '');

export function choiceProblem(
  { open, closed = [], isWords }: MemberKind<unknown>,
  value: unknown,
  { kind, keeps }: Authority,
): string | undefined {
  if (open === undefined) return undefined;
  const allowed = [...open, ...closed.filter((one) => kind === 'administrator' || keeps?.has(one) === true)];
  const isSeveral = isWords === true || Array.isArray(value);
  const chosen = isStringList(value) ? value : isWords === true ? words(String(value)) : [String(value)];
  return chosen.every((one) => allowed.includes(one))
    ? undefined
    : `${isSeveral ? 'must only contain' : 'must be one of'} ${allowed.join(', ')}`;
}

function addressProblem(
  name: string,
  value: unknown,
  use: NonNullable<MemberKind<unknown>['use']>,
  metadata: Readonly<Members>,
  { kind, keeps, isOwnAddress, mayBePlain: mayCall }: Authority,
): string | undefined {
  const isTrusted = kind === 'administrator';
  const isNative = metadata.application_type === 'native';
  const mayBePlain = (uri: string): boolean =>
    keeps?.has(uri) === true ||
    (isTrusted && mayCall?.(uri, name === 'jwks_uri' ? 'keys' : 'notice') === true);
  const problemOf = (uri: string): string | undefined =>
    uriProblem(uri, use, isNative, {
      mayBePlain,
      mayBeBare: isTrusted || keeps?.has(uri) === true || editorUris.has(uri),
    });
  if (!isStringList(value)) return problemOf(String(value));
  const isOwn = (uri: string): boolean => name === 'redirect_uris' && isOwnAddress?.(uri) === true;
  for (const [at, uri] of value.entries()) {
    const problem = problemOf(uri);
    if (problem !== undefined) return `entry ${at + 1} ${ours(problem)}`;
  }
  const own = value.findIndex(isOwn);
  return own === -1 ? undefined : `entry ${own + 1} must not be an address of this server`;
}

function checkGrants(metadata: Readonly<Members>, note: Note): void {
  const { grant_types: grants, response_types: responses } = metadata;
  if (!isStringList(grants)) return;
  if (isStringList(responses) && responses.includes('code') !== grants.includes('authorization_code')) {
    // RFC 7591 §2.1: the two must match.
    note('response_types', 'must contain code exactly when grant_types contains authorization_code');
  }
  if (metadata.token_endpoint_auth_method === 'none' && grants.includes('client_credentials')) {
    // RFC 6749 §4.4: confidential clients only.
    note('grant_types', 'must not contain client_credentials when the application cannot authenticate');
  }
}

/**
 * RFC 7591 §2 lets the server choose absent members. An absent scope would mean "any" to the protocol core, so it is
 * written out; response types follow from the grant types, so that a machine client needs no redirect URI.
 */
function withDefaults(metadata: Readonly<Members>): Members {
  const { grant_types: given, scope } = metadata;
  const grants = isStringList(given) ? given : defaultGrantTypes;
  const scopes = typeof scope === 'string' ? words(scope) : [];
  return {
    application_type: 'web',
    token_endpoint_auth_method: 'client_secret_basic',
    response_types: grants.includes('authorization_code') ? ['code'] : [],
    redirect_uris: [],
    ...metadata,
    grant_types: [...new Set(grants)],
    scope: [...new Set(scopes.length > 0 ? scopes : openScopes)].join(' '),
  };
}
