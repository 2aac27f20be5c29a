// Our rules for client metadata, applied before the protocol core's schema at every creation and change, whatever its source
// (RFC 7591, RFC 7592, admin API). Pure: neither stores nor fetches.
import { ours } from '../phrase.ts';
import { settingNames } from './client-settings.ts';
import { isStringList, valueProblem } from './member-values.ts';
import {
  accountScopes,
  adminGrantTypes,
  adminScopes,
  authMethods,
  isMemberName,
  openGrantTypes,
  openScopes,
  plainResponseModes,
  serverMembers,
  signedResponseModes,
  tokenSigningAlgorithms,
} from './metadata-members.ts';
import type { IsOwnAddress } from './own-addresses.ts';
import { type UriUse, uriProblem } from './uris.ts';

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

const assertionAlgorithms = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/;

const uriUses: Readonly<Record<string, UriUse>> = {
  redirect_uris: 'redirect',
  post_logout_redirect_uris: 'redirect',
  client_uri: 'page',
  logo_uri: 'page',
  policy_uri: 'page',
  tos_uri: 'page',
  initiate_login_uri: 'page',
  jwks_uri: 'fetched',
  backchannel_logout_uri: 'fetched',
};

const words = (scope: string): string[] => scope.split(' ').filter((word) => word !== '');

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
    if (serverMembers.has(name)) note(name, 'is set by the server');
    if (settingNames.has(name) && !isLeftOut(name, authority)) note(name, 'is for an administrator to set');
    if (!isMemberName(name)) continue;
    const problem = valueProblem(name, value);
    if (problem === undefined) metadata[name] = typeof value === 'string' ? value.normalize('NFC') : value;
    note(name, problem);
  }
  if (authority.kind === 'registrant') leaveOutScopes(metadata, authority);
  checkChoices(metadata, authority, note);
  checkGrants(metadata, note);
  checkUris(metadata, authority, note);
  checkOwnAddresses(metadata, authority, note);
  return { metadata: withDefaults(metadata), problems };
}

/** Registrants of other servers ask for it, too (JARM), and get answers without it. */
const isLeftOut = (name: string, { kind }: Authority): boolean =>
  kind === 'registrant' && name === 'authorization_signed_response_alg';

/**
 * RFC 7591 §2: the server may replace what a registrant asks for. Programs ask for scopes that only other servers know, so
 * those are left out and not kept (decisions §10); never does that leave more than was asked for.
 */
function leaveOutScopes(metadata: Members, { keeps }: Authority): void {
  const { scope } = metadata;
  if (typeof scope !== 'string') return;
  const known = words(scope).filter((word) => openScopes.includes(word) || keeps?.has(word) === true);
  metadata.scope = known.length === 0 ? 'openid' : known.join(' ');
}

function checkChoices(metadata: Readonly<Members>, authority: Authority, note: Note): void {
  const mayHave = (value: string): boolean =>
    authority.kind === 'administrator' || authority.keeps?.has(value) === true;
  const choose = (name: string, open: readonly string[], reserved: readonly string[] = []): void => {
    const allowed = [...open, ...reserved.filter(mayHave)];
    const value = metadata[name];
    const chosen =
      name === 'scope' && typeof value === 'string' ? words(value) : isStringList(value) ? value : [value];
    if (value !== undefined && !chosen.every((one) => typeof one === 'string' && allowed.includes(one))) {
      note(
        name,
        `${isStringList(value) || name === 'scope' ? 'must only contain' : 'must be one of'} ${allowed.join(', ')}`,
      );
    }
  };
  choose('application_type', ['web', 'native']);
  choose('grant_types', openGrantTypes, adminGrantTypes);
  choose('response_types', ['code']);
  choose('response_modes', plainResponseModes, signedResponseModes);
  choose('token_endpoint_auth_method', authMethods);
  choose('subject_type', ['public']);
  choose('id_token_signed_response_alg', tokenSigningAlgorithms);
  choose('userinfo_signed_response_alg', tokenSigningAlgorithms);
  // Those of the account API were taken out before (account-scopes.ts); named among what an administrator may give.
  choose('scope', openScopes, [...adminScopes, ...accountScopes]);
}

function checkGrants(metadata: Readonly<Members>, note: Note): void {
  const { token_endpoint_auth_signing_alg: alg, grant_types: grants, response_types: responses } = metadata;
  if (typeof alg === 'string' && !assertionAlgorithms.test(alg)) {
    note(
      'token_endpoint_auth_signing_alg',
      'must be an asymmetric algorithm such as RS256, PS256, ES256 or EdDSA',
    );
  }
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

function checkUris(metadata: Readonly<Members>, authority: Authority, note: Note): void {
  const isNative = metadata.application_type === 'native';
  for (const [name, use] of Object.entries(uriUses)) {
    const value = metadata[name];
    const mayBePlain = (uri: string): boolean =>
      authority.keeps?.has(uri) === true ||
      (authority.kind === 'administrator' &&
        authority.mayBePlain?.(uri, name === 'jwks_uri' ? 'keys' : 'notice') === true);
    if (typeof value === 'string') note(name, uriProblem(value, use, isNative, { mayBePlain }));
    if (!isStringList(value)) continue;
    for (const [at, uri] of value.entries()) {
      const mayBeBare = authority.kind === 'administrator' || authority.keeps?.has(uri) === true;
      const problem = uriProblem(uri, use, isNative, { mayBePlain, mayBeBare });
      if (problem !== undefined) note(name, `entry ${at + 1} ${ours(problem)}`);
    }
  }
}

function checkOwnAddresses(metadata: Readonly<Members>, { isOwnAddress }: Authority, note: Note): void {
  const { redirect_uris: uris } = metadata;
  if (isOwnAddress === undefined || !isStringList(uris)) return;
  for (const [at, uri] of uris.entries()) {
    if (isOwnAddress(uri)) note('redirect_uris', `entry ${at + 1} must not be an address of this server`);
  }
}

/**
 * RFC 7591 §2 lets the server choose absent members. An absent scope would mean "any" to the protocol core, so it is
 * written out; response types follow from the grant types, so that a machine client needs no redirect URI.
 */
function withDefaults(metadata: Readonly<Members>): Members {
  const { grant_types: given, scope } = metadata;
  const grants = isStringList(given) ? given : ['authorization_code', 'refresh_token'];
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
