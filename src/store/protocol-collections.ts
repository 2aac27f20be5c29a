// Part of the data model (collections.ts): payloads of oidc-provider, as adapters/oidc.ts stores them.
import { protocolFields, protocolIndexes, text } from './fields.ts';
import type { CollectionDefinition } from './port.ts';
import type { ProtocolPayload } from './records.ts';

export const grants: CollectionDefinition<ProtocolPayload> = {
  name: 'grants',
  durability: 'durable',
  indexes: {
    account: protocolIndexes.account,
    client: protocolIndexes.client,
    session: { key: (p) => text(p, 'sessionUid') },
  },
  fields: protocolFields,
};

const idOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? value.id
    : undefined;

export const refreshTokens: CollectionDefinition<ProtocolPayload> = {
  name: 'refresh_tokens',
  durability: 'durable',
  indexes: protocolIndexes,
  fields: {
    ...protocolFields,
    grant_id: { type: 'string', of: protocolIndexes.grant.key },
    is_used: { type: 'boolean', of: (p) => p.consumed !== undefined },
    api_id: { type: 'string', of: (p) => idOf(p.api) },
  },
};

const ephemeralArtifact = (name: string): CollectionDefinition<ProtocolPayload> => ({
  name,
  durability: 'ephemeral',
  indexes: protocolIndexes,
  fields: {},
});

/** `api`: the internal id of the API that the token is for (src/oidc/entitlements/api-pairs.ts). */
const token = (name: string): CollectionDefinition<ProtocolPayload> => ({
  ...ephemeralArtifact(name),
  indexes: { ...protocolIndexes, api: { key: (p) => idOf(p.api) } },
});

export const accessTokens = token('access_tokens');
export const clientCredentials = token('client_credentials');
export const authorizationCodes = ephemeralArtifact('authorization_codes');

export const deviceCodes: CollectionDefinition<ProtocolPayload> = {
  ...ephemeralArtifact('device_codes'),
  indexes: { ...protocolIndexes, user_code: { unique: true, key: (p) => text(p, 'userCode') } },
};

export const oidcSessions: CollectionDefinition<ProtocolPayload> = {
  name: 'oidc_sessions',
  durability: 'ephemeral',
  indexes: { uid: { key: (p) => text(p, 'uid') }, account: protocolIndexes.account },
  fields: {},
};

const accountIn = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'accountId' in value && typeof value.accountId === 'string'
    ? value.accountId
    : undefined;
const loginIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'login' in value ? value.login : undefined;

/** The places of a sign-in among those of the installation, and of the wider networks it came from (src/rate-limits/shared-places.ts). */
export const sharedPlacesOf = ({ sharedPlaces }: ProtocolPayload): readonly string[] =>
  Array.isArray(sharedPlaces) ? sharedPlaces.filter((place) => typeof place === 'string') : [];

export const interactions: CollectionDefinition<ProtocolPayload> = {
  name: 'interactions',
  durability: 'ephemeral',
  indexes: {
    // The user who is signing in, once known, so that deleting the user finds it.
    account: {
      key: (p) =>
        accountIn(loginIn(p.result)) ??
        accountIn(p.progress) ??
        accountIn(p.session) ??
        accountIn(loginIn(p.lastSubmission)),
    },
    // One of a limited number per network (src/rate-limits/open-sign-ins.ts).
    place: { unique: true, key: (p) => text(p, 'place') },
    shared_place: {
      unique: true,
      key: (p) => sharedPlacesOf(p)[0],
      furtherKeys: (p) => sharedPlacesOf(p).slice(1),
    },
    network: { key: (p) => text(p, 'place')?.replace(/#\d+$/, '') },
  },
  fields: {},
};

export const pushedRequests: CollectionDefinition<ProtocolPayload> = {
  name: 'pushed_requests',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

/**
 * One-time identifiers of other parties (client assertions): insert-if-absent is the replay check. Durable, because losing
 * an entry would make the assertion usable again.
 */
export const replayMarkers: CollectionDefinition<ProtocolPayload> = {
  name: 'replay_markers',
  durability: 'durable',
  indexes: {},
  fields: {},
};
