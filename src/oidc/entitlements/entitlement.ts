// The scopes and claims to which a client and an account are entitled now (decisions 0003 and 0009). On every use, a grant, code or
// token is limited to the intersection of what it was granted and this. Pure functions over records already read.
import { accountScopesOf } from '../../clients/index.ts';
import { isMembers, memberOf, parseJson } from '../../json.ts';
import { openScopes } from '../../model/applications/vocabulary.ts';
import { grantOfWord, isPagelessWord } from '../../model/grant-types.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { ADMIN_SCOPES, claimsByScope, INTERACTIVE_SCOPES, isGrantable } from './scopes.ts';

type Registered = Pick<ClientRecord, 'metadata' | 'skipConsent' | 'quarantine' | 'accountScopes'>;

/** A record without `scope` gets the default scopes of a registration (metadata-rules.ts), never `admin` or `account`. */
export function scopesOfClient(record: Registered): ReadonlySet<string> {
  const { scope } = record.metadata;
  const named = typeof scope === 'string' && scope !== '' ? scope.split(' ') : openScopes;
  return new Set([...named, ...accountScopesOf(record)]);
}

/**
 * @param withheld those that the authentication of the user does not open (withheldScopes)
 * @returns the scopes that the client, and the account if there is one, may have now; in the given order
 */
export function currentScopes(
  given: Iterable<string>,
  client: Registered,
  account?: { readonly role: string },
  withheld: ReadonlySet<string> = NONE,
): string[] {
  const allowed = scopesOfClient(client);
  return [...given].filter(
    (scope) =>
      allowed.has(scope) &&
      (account === undefined || isGrantable(scope, account.role)) &&
      !withheld.has(scope),
  );
}

const NONE: ReadonlySet<string> = new Set();

/** What a session, code or token records about the authentication behind it. */
export interface Authenticated {
  readonly kind?: string;
  readonly acr?: string | undefined;
  /** How a token was first obtained. */
  readonly gty?: unknown;
  /** Of an access token. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** @returns whether that came from such a grant, at first */
export function isPageless({ gty }: Pick<Authenticated, 'gty'>): boolean {
  const [first = ''] = typeof gty === 'string' ? gty.split(' ') : [];
  return isPagelessWord(first);
}

/**
 * What that authentication does not open, whatever was granted (decisions 0002, 0023 and 0011): a grant without pages opens neither the
 * account nor this server, and the admin API needs two factors when the account has a second one or the settings require it.
 */
export function withheldScopes<A>(
  accounts: { mayAdminister(account: A, acr: string | undefined): boolean },
  account: A,
  { acr, gty, extra }: Authenticated,
): ReadonlySet<string> {
  if (isPageless({ gty })) return INTERACTIVE_SCOPES;
  const recorded = acr ?? extra?.acr;
  const isForAdmin = accounts.mayAdminister(account, typeof recorded === 'string' ? recorded : undefined);
  return isForAdmin ? NONE : ADMIN_SCOPES;
}

/**
 * @param token.gty how the token was first obtained, as the library records it: `authorization_code refresh_token`
 * @returns whether the client may still use the grant type that the token came from, and the one that its kind needs
 */
export function isGrantTypeAllowed(
  { metadata }: Pick<ClientRecord, 'metadata'>,
  token: { readonly kind: string; readonly gty?: unknown },
): boolean {
  const { grant_types: types } = metadata;
  if (!Array.isArray(types)) return true;
  if (token.kind === 'ClientCredentials') return types.includes('client_credentials');
  if (token.kind === 'RefreshToken' && !types.includes('refresh_token')) return false;
  const [first] = typeof token.gty === 'string' ? token.gty.split(' ') : [];
  return first === undefined || first === '' || types.includes(grantOfWord(first));
}

const scopeByClaim: ReadonlyMap<string, string> = new Map(
  Object.entries(claimsByScope).flatMap(([scope, names]) =>
    scope === 'openid' ? [] : names.map((name): [string, string] => [name, scope]),
  ),
);

/** @returns the scope that a user claim belongs to; undefined for claims that any ID token may have */
const scopeOfClaim = (claim: string): string | undefined => scopeByClaim.get(claim);

/** @returns the claims whose scope is in `scopes`, in the given order (OIDC Core §5.4, §5.5) */
export const claimsUnder = (claims: Iterable<string>, scopes: ReadonlySet<string>): string[] =>
  [...claims].filter((claim) => scopes.has(scopeOfClaim(claim) ?? ''));

/** @returns the scopes of these claims that the client may have now */
export function scopesOfClaims(claims: Iterable<string>, client: Registered): string[] {
  const allowed = scopesOfClient(client);
  const scopes = new Set([...claims].map((claim) => scopeOfClaim(claim) ?? ''));
  return [...scopes].filter((scope) => allowed.has(scope));
}

/** @returns the names in a `claims` parameter (OIDC Core §5.5); none when it cannot be parsed */
export function namesInClaims(parameter: unknown): string[] {
  if (typeof parameter !== 'string') return [];
  let members: unknown;
  try {
    members = parseJson(parameter);
  } catch {
    return [];
  }
  const places = ['id_token', 'userinfo'].map((name) => memberOf(members, name));
  return [...new Set(places.flatMap((place) => (isMembers(place) ? Object.keys(place) : [])))];
}
