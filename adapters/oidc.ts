// Owns the translation of oidc-provider's adapter contract (seven methods) onto the storage port, and nothing else.
// Bearer values (codes, refresh tokens, cookie values, …) are stored as digests, so a copied database signs nobody in.
import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Clock } from '../src/clock.ts';
import { secretDigest } from '../src/ids.ts';
import type * as model from '../src/store/collections.ts';
import {
  AlreadyExists,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  type Stored,
  VersionConflict,
} from '../src/store/port.ts';
import * as protocol from '../src/store/protocol-collections.ts';

interface Kind {
  readonly definition: CollectionDefinition<model.ProtocolPayload>;
  /** The id is a credential: keep its digest only. */
  readonly isSecret: boolean;
}

// A model that is missing here (Client, InitialAccessToken, …) is not oidc-provider's to store: see src/clients.
const kinds: Readonly<Record<string, Kind>> = {
  Interaction: { definition: protocol.interactions, isSecret: true },
  Session: { definition: protocol.oidcSessions, isSecret: true },
  Grant: { definition: protocol.grants, isSecret: false },
  AuthorizationCode: { definition: protocol.authorizationCodes, isSecret: true },
  RefreshToken: { definition: protocol.refreshTokens, isSecret: true },
  DeviceCode: { definition: protocol.deviceCodes, isSecret: true },
  PushedAuthorizationRequest: { definition: protocol.pushedRequests, isSecret: true },
  // A jti alone opens nothing: the bearer is the signed JWT (src/oidc/models/jwt-format.ts).
  AccessToken: { definition: protocol.accessTokens, isSecret: false },
  ClientCredentials: { definition: protocol.clientCredentials, isSecret: false },
  ReplayDetection: { definition: protocol.replayMarkers, isSecret: true },
};

// Never written twice. For ReplayDetection the library looks first and saves then: only an insert that refuses the second
// one stops a parallel replay. A refresh token written again could come back to life after it was used.
const INSERTED_ONCE = new Set(['ReplayDetection', 'RefreshToken']);

// Every secret identifier of the library is base64url; anything else cannot be in the store.
const IDENTIFIER = /^[\w-]{1,512}$/;

type Artifact = Stored<model.ProtocolPayload>;

/** What each request has found, so that a use need not look again: its version is all that the compare-and-set asks. */
const foundIn = new WeakMap<object, Map<string, Artifact>>();

function foundNow(): Map<string, Artifact> {
  const { ctx } = Provider;
  const found = (ctx && foundIn.get(ctx)) ?? new Map<string, Artifact>();
  if (ctx !== undefined) foundIn.set(ctx, found);
  return found;
}

/**
 * Stands in for a device code that was found by its user code: the library saves it again and comes back to it, but nobody
 * but the device knows the code itself. Not for presenting (src/oidc/models/device-code.ts).
 */
const HANDLE = 'digest:';
export const isHandle = (id: string): boolean => id.startsWith(HANDLE);

/** @returns the id under which the store keeps an artifact of this kind */
function storedId(isSecret: boolean, id: string): string {
  if (!isSecret) return id;
  return isHandle(id) ? id.slice(HANDLE.length) : secretDigest(id);
}

class PortAdapter implements Adapter {
  readonly #name: string;
  readonly #kind: Kind;
  readonly #collection: EphemeralCollection<model.ProtocolPayload>;
  readonly #clock: Clock;

  constructor(
    name: string,
    kind: Kind,
    collection: EphemeralCollection<model.ProtocolPayload>,
    clock: Clock,
  ) {
    this.#name = name;
    this.#kind = kind;
    this.#collection = collection;
    this.#clock = clock;
  }

  #id(id: string): string {
    return storedId(this.#kind.isSecret, id);
  }

  #load(id: string, payload: model.ProtocolPayload): AdapterPayload {
    return this.#kind.isSecret ? { ...payload, jti: id } : payload;
  }

  #foundKey(id: string): string {
    return `${this.#name} ${this.#id(id)}`;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    foundNow().delete(this.#foundKey(id));
    const value: model.ProtocolPayload = { ...payload };
    // With the plain id beside its digest the digest would be of no use; an interaction's return address has it too.
    if (this.#kind.isSecret) {
      delete value.jti;
      delete value.returnTo;
    }
    const options = expiresIn === undefined ? {} : { expiresAt: this.#clock() + expiresIn * 1000 };
    if (!INSERTED_ONCE.has(this.#name)) {
      await this.#collection.put(this.#id(id), value, options);
      return;
    }
    try {
      await this.#collection.insert(this.#id(id), value, options);
    } catch (cause) {
      if (!(cause instanceof AlreadyExists)) throw cause;
      // Two tabs that refresh at once derive the same successor (models/refresh-token.ts): the first one's stays.
      if (this.#name === 'RefreshToken') return;
      throw new errors.InvalidRequest('this one-time identifier was used before', 400);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!IDENTIFIER.test(isHandle(id) ? this.#id(id) : id)) return undefined;
    const stored = await this.#collection.find(this.#id(id));
    if (stored !== undefined) foundNow().set(this.#foundKey(id), stored);
    return stored && this.#load(id, stored.value);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return (await this.#collection.findBy('uid', uid))[0]?.value;
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    const [stored] = await this.#collection.findBy('user_code', userCode);
    return stored && { ...stored.value, jti: HANDLE + stored.id };
  }

  /** Compare-and-set: of many parallel calls exactly one returns, the others throw (RFC 6749 §4.1.2, RFC 9700 §4.14). */
  async consume(id: string): Promise<void> {
    const stored = foundNow().get(this.#foundKey(id)) ?? (await this.#collection.find(this.#id(id)));
    if (stored === undefined || stored.value.consumed !== undefined) throw this.#used();
    try {
      const consumed = Math.floor(this.#clock() / 1000);
      await this.#collection.replace(stored.id, stored.version, { ...stored.value, consumed });
    } catch (error) {
      throw error instanceof VersionConflict ? this.#used() : error;
    }
  }

  #used(): Error {
    if (this.#name === 'PushedAuthorizationRequest')
      return new errors.InvalidRequestUri('request_uri was used before');
    return new errors.InvalidGrant(`${this.#name} was used before`);
  }

  async destroy(id: string): Promise<void> {
    foundNow().delete(this.#foundKey(id));
    await this.#collection.remove(this.#id(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#collection.removeBy('grant', grantId);
  }
}

/** @returns oidc-provider's adapter factory over a store */
export function createOidcAdapter({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}): (name: string) => Adapter {
  return (name) => {
    const kind = kinds[name];
    if (kind === undefined) throw new TypeError(`oidc-provider must not store ${name}`);
    const { definition } = kind;
    const collection =
      definition.durability === 'durable' ? store.collection(definition) : store.ephemeral(definition);
    return new PortAdapter(name, kind, collection, clock);
  };
}
