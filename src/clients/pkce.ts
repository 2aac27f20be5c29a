// Which applications must use PKCE (decision 0008, RFC 9700 §2.1.1): some kinds always, of the other confidential ones those
// that say so, and all while the setting says so.
import { AppError } from '../errors.ts';
import { adminScopes } from '../model/applications/vocabulary.ts';
import type { ClientRecord } from '../store/collections.ts';
import { isStringList } from './metadata-rules.ts';

/** A client as stored, or as the admin API shows it. */
interface Kind {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly origin: unknown;
  readonly profile?: unknown;
  readonly webOrigins?: readonly string[] | undefined;
}

const isCustomScheme = (uri: string): boolean => !/^https?:/i.test(uri);

/** @returns why what it holds can reach other programs, as a clause; undefined for one on a server that authenticates */
export function whyExposed({
  metadata,
  webOrigins,
}: Pick<Kind, 'metadata' | 'webOrigins'>): string | undefined {
  const { web_origins: origins = webOrigins } = metadata;
  if (metadata.token_endpoint_auth_method === 'none') return 'it is public';
  if (metadata.application_type === 'native') return 'it is native';
  return isStringList(origins) && origins.length > 0 ? 'it has web_origins' : undefined;
}

/**
 * Such applications can never go without: a code of theirs can be redeemed without a secret, or is worth more, or can reach
 * another program, or no one has checked them.
 * @returns why PKCE is always required, as a clause ("it is public"); undefined when that is for the application to say
 */
export function whyPkceAlways(kind: Kind): string | undefined {
  const { metadata, origin, profile } = kind;
  const { redirect_uris: uris, scope } = metadata;
  const why = whyExposed(kind);
  if (why !== undefined) return why;
  if (isStringList(uris) && uris.some(isCustomScheme)) return 'it has a redirect URI with a custom scheme';
  // An administrator who lets old applications register (docs/legacy.md) vouches for them as for those entered by hand.
  if (origin === 'registration' && profile !== 'legacy') return 'it registered itself';
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  return adminScopes.some((name) => scopes.includes(name)) ? 'it may request admin scopes' : undefined;
}

type PkceRecord = Pick<ClientRecord, 'metadata' | 'origin' | 'profile' | 'requirePkce' | 'webOrigins'>;

/** Whether the application itself has to use PKCE, whatever the setting says. */
export const hasToUsePkce = (record: PkceRecord): boolean =>
  record.requirePkce === true || whyPkceAlways(record) !== undefined;

/** Whether it has to now: while the legacy profile is off it excuses no application that registered itself. */
export const isPkceRequired = (
  record: PkceRecord,
  settings: { readonly require_pkce: boolean; readonly legacy_profiles: boolean },
): boolean =>
  settings.require_pkce ||
  hasToUsePkce(record) ||
  (record.origin === 'registration' && !settings.legacy_profiles);

/**
 * Takes `require_pkce` out of what a registrant sends (RFC 7592 §2.2: it returns what it was shown). It may ask for more
 * protection, never for less.
 * @throws AppError client.invalid_metadata
 */
export function splitRegistrantPkce(
  input: Readonly<Record<string, unknown>>,
  known: Pick<ClientRecord, 'requirePkce'> = {},
): { readonly metadata: Record<string, unknown>; readonly require_pkce?: boolean } {
  const { require_pkce: asked, ...metadata } = input;
  if (asked === undefined || asked === null) return { metadata };
  if (typeof asked !== 'boolean') throw refusal('Must be true or false.');
  if (!asked && known.requirePkce === true) throw refusal('Must be true: an administrator decides about it.');
  return { metadata, require_pkce: asked };
}

/** @throws AppError client.invalid_metadata when it was asked to go without and cannot */
export function checkPkceChoice(record: ClientRecord, asked: unknown): void {
  const why = asked === false ? whyPkceAlways(record) : undefined;
  if (why !== undefined) throw refusal(`Must be true: ${why}, and such an application always uses PKCE.`);
}

const refusal = (problem: string): AppError =>
  new AppError('client.invalid_metadata', { fields: { require_pkce: problem } });
