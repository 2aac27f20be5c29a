// What is shown of a client: RFC 7591 names plus our settings. Never a secret.
import type { ClientRecord } from '../store/collections.ts';
import type { Stored } from '../store/port.ts';
import { scopeWithAccount } from './account-scopes.ts';
import { approvedAddressesOf } from './approved-addresses.ts';
import type { AccessTokenAudience } from './client-settings.ts';
import { type MemberName, memberNames } from './metadata-members.ts';
import { hasToUsePkce } from './pkce.ts';

/** A stored client; the id is the client_id. */
export type Client = Stored<ClientRecord>;

const time = (at: number): string => new Date(at).toISOString();

/** Registered metadata; prepare.ts has checked the values. */
export type PublicMetadata = { readonly [Name in MemberName]?: unknown };

/** @returns the registered metadata only, with wire names, without the id */
export const publicMetadata = (record: ClientRecord): PublicMetadata => {
  const { metadata } = record;
  const shown = memberNames.filter((name) => Object.hasOwn(metadata, name));
  return Object.fromEntries(
    shown.map((name) => [name, name === 'scope' ? scopeWithAccount(record) : metadata[name]]),
  );
};

const audienceOf = ({ accessTokenAudience }: ClientRecord): AccessTokenAudience =>
  accessTokenAudience ?? 'client_id';

/** @returns the client as the admin API shows it */
export const toClient = ({ id, value }: Client) => ({
  client_id: id,
  ...publicMetadata(value),
  client_type: value.clientType,
  is_active: value.isActive,
  skip_consent: value.skipConsent,
  require_pkce: hasToUsePkce(value),
  pkce_required_at:
    value.requirePkce === true && value.pkceRequiredAt !== undefined ? time(value.pkceRequiredAt) : null,
  logout_needs_auth: value.logoutNeedsAuth === true,
  keycloak_tokens: value.keycloakTokens === true,
  minimal_id_tokens: value.minimalIdTokens === true,
  /** The legacy profile. */
  profile: value.profile ?? null,
  authorization_signed_response_alg: value.signedResponseAlg ?? null,
  may_introspect: value.mayIntrospect === true,
  access_token_audience: audienceOf(value),
  default_resource: value.defaultApi?.identifier ?? null,
  approved_addresses: approvedAddressesOf(value),
  allow_self_signup: value.allowSelfSignup ?? null,
  allowed_groups: value.allowedGroups ?? null,
  web_origins: value.webOrigins ?? [],
  access_token_seconds: value.accessTokenSeconds ?? null,
  id_token_seconds: value.idTokenSeconds ?? null,
  refresh_token_seconds: value.refreshTokenSeconds ?? null,
  required_acr: value.requiredAcr ?? null,
  max_auth_age: value.maxAuthAgeSeconds ?? null,
  origin: value.origin,
  quarantine: value.quarantine?.by ?? null,
  last_used_at: value.quarantine?.usedAt === undefined ? null : time(value.quarantine.usedAt),
  created_at: time(value.createdAt),
  updated_at: time(value.updatedAt),
});

export type ClientView = ReturnType<typeof toClient>;
