// Part of the data model (collections.ts): APIs, the resources of RFC 8707 for which access tokens are issued.
import type { demandRows } from '../model/api-rows.ts';
import type { Stored } from '../model/row.ts';
import { asPath } from './fields.ts';
import type { CollectionDefinition } from './port.ts';
import type { Role } from './records.ts';

export interface ApiScopeRecord {
  /** Grants, consents and tokens name it by this: a scope created again under an old name revives nothing. */
  id: string;
  name: string;
  /** What the consent page says. */
  description: string;
  /** Granted when a request names no scope of the API. */
  isDefault: boolean;
  /** A user needs one of these roles or groups; both absent: every user may have it. */
  roles?: Role[];
  groups?: string[];
}

/** Which claims about the user its tokens and their introspection carry. */
export type ApiClaim = 'profile' | 'roles' | 'groups';

export type AccessTokenFormat = 'at+jwt' | 'jwt' | 'opaque';

/** With what its rows say. */
export interface ApiRecord extends Stored<typeof demandRows> {
  /** An absolute URI; never changes. */
  identifier: string;
  name: string;
  scopes: ApiScopeRecord[];
  /** Which applications may ask for it; `all`: every one that administrators created. */
  clients: 'all' | string[];
  /** Whether applications that nobody vouched for (src/clients/quarantine.ts) may ask for it; absent: no. */
  isOpenToAgents?: true;
  /** Which scopes, by id, an application gets for itself; without an entry: none. */
  machineGrants: { clientId: string; scopeIds: string[] }[];
  claims: ApiClaim[];
  accessTokenFormat: AccessTokenFormat;
  /** Its tokens are bound to a key of the application (RFC 9449); absent: where the application sends a proof. */
  isDpopRequired?: true;
  /** With the secret, what the API introspects with. */
  introspectionClientId: string;
  /** SHA-256 of each secret that is valid for introspection (two during a rotation's overlap). Epoch milliseconds. */
  secrets: { digest: string; createdAt: number; expiresAt?: number }[];
  /** Ids of scopes that it has no longer, and whose tokens are yet to be revoked. */
  endingScopeIds?: string[];
  /** Set at the start of a removal; from then on the API counts as removed. */
  removingAt?: number;
  createdAt: number;
  updatedAt: number;
}

/** An empty path and `/` are one (RFC 3986 §6.2.3); nothing else is made equal. */
export const identifierKey = (identifier: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\/[^/]+\/$/i.test(identifier) ? identifier.slice(0, -1) : identifier;

const scopeGroups = ({ scopes }: ApiRecord): string[] => scopes.flatMap(({ groups = [] }) => groups);

/** The id is random: what is stored elsewhere about a removed API says nothing about one that has its identifier later. */
export const apis: CollectionDefinition<ApiRecord> = {
  name: 'apis',
  durability: 'durable',
  indexes: {
    identifier: { unique: true, key: (a) => identifierKey(a.identifier) },
    introspection_client: { unique: true, key: (a) => a.introspectionClientId },
    ending: {
      key: (a) => (a.removingAt === undefined && a.endingScopeIds === undefined ? undefined : 'yes'),
    },
  },
  fields: {
    name: { type: 'string', of: (a) => a.name },
    identifier: { type: 'string', of: (a) => a.identifier },
    is_removing: { type: 'boolean', of: (a) => a.removingAt !== undefined },
    scope_groups: { type: 'string', of: (a) => asPath(scopeGroups(a)) },
    created_at: { type: 'number', of: (a) => a.createdAt },
    updated_at: { type: 'number', of: (a) => a.updatedAt },
  },
};
