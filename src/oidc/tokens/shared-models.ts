// Tokens and grants for answers that only read them. A resource server asks about the same token again and again; what the
// library makes of its documents is kept for as long as the store says that they are still the same (Collection.findShared), so
// it never outlives a revocation. What depends on the time or on anything else is asked each time. All of it is frozen.
import type { AccessToken, ClientCredentials } from 'oidc-provider';
import { deepFreeze } from '../../deep-freeze.ts';
import type { ProtocolPayload } from '../../store/collections.ts';
import type { CollectionDefinition, EphemeralCollection, Store } from '../../store/port.ts';
import { accessTokens, clientCredentials, grants } from '../../store/protocol-collections.ts';
import type { SessionGrant } from '../models/grant.ts';
import { isRecordOf } from '../models/jwt-format.ts';
import type { ModelClass, Models } from '../provider-base.ts';
import type { AccessTokenJwt } from './access-token-jwt.ts';
import type { TokenKind } from './opaque-tokens.ts';
import type { TokenModels } from './token-state.ts';

interface Deps {
  readonly models: () => Pick<Models, 'AccessToken' | 'ClientCredentials' | 'RefreshToken' | 'Grant'>;
  readonly jwt: () => Pick<AccessTokenJwt, 'resolve'>;
  readonly store: Pick<Store, 'collection' | 'ephemeral'>;
}

type Documents = Pick<EphemeralCollection<ProtocolPayload>, 'findShared'>;

/** @param model of the provider in use: a rotation of keys puts another in its place */
function sharedTokens<Token extends AccessToken | ClientCredentials>(
  kind: TokenKind,
  model: () => Pick<ModelClass<Token>, 'find' | 'instantiate'>,
  { findShared }: Documents,
  jwt: Deps['jwt'],
) {
  const kept = new WeakMap<object, { token: Token; by: unknown }>();
  return {
    async find(bearer: string): Promise<Token | undefined> {
      const by = model();
      if (findShared === undefined) return by.find(bearer);
      const resolved = jwt().resolve(bearer, kind);
      const stored = resolved && (await findShared(resolved.jti));
      if (resolved === undefined || stored === undefined || !isRecordOf(resolved, stored.value))
        return undefined;
      // One that ends with its session depends on that, too.
      if (stored.value.expiresWithSession) return by.find(bearer);
      const known = kept.get(stored);
      if (known?.by === by) return known.token;
      // Its parts are frozen with the document.
      const token = Object.freeze(by.instantiate(stored.value));
      kept.set(stored, { token, by });
      return token;
    },
  };
}

function sharedGrants(model: () => Pick<Models['Grant'], 'find'>, documents: Documents) {
  const kept = new WeakMap<object, { grant: SessionGrant; by: unknown }>();
  return {
    async find(id: string): Promise<SessionGrant | undefined> {
      const by = model();
      const stored = await documents.findShared?.(id);
      const known = stored && kept.get(stored);
      if (known?.by === by && known.grant.isValid) return known.grant;
      const grant: SessionGrant | undefined = await by.find(id);
      if (stored === undefined || grant === undefined) return grant;
      // The library adds what is missing when it is asked for it.
      grant.getRejectedOIDCClaims();
      kept.set(stored, { grant: deepFreeze(grant), by });
      return grant;
    },
  };
}

/** @returns the models for answers that only read; where the store cannot share, they find as the others do */
export function createSharedModels({ models, jwt, store }: Deps): TokenModels {
  const documentsOf = (definition: CollectionDefinition<ProtocolPayload>): Documents =>
    definition.durability === 'durable' ? store.collection(definition) : store.ephemeral(definition);
  return {
    AccessToken: sharedTokens('AccessToken', () => models().AccessToken, documentsOf(accessTokens), jwt),
    ClientCredentials: sharedTokens(
      'ClientCredentials',
      () => models().ClientCredentials,
      documentsOf(clientCredentials),
      jwt,
    ),
    RefreshToken: { find: (value) => models().RefreshToken.find(value) },
    Grant: sharedGrants(() => models().Grant, documentsOf(grants)),
  };
}
