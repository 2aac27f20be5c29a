// Maps oidc-provider's adapter contract (seven methods) onto the storage port. Bearer values (codes, refresh tokens, cookie
// values, …) are stored as digests, so that a stolen copy of the database contains no usable credential.
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Clock } from '../src/clock.ts';
import { secretDigest } from '../src/ids.ts';
import { currentRequest, withDrafts } from '../src/oidc/index.ts';
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

// A model that is missing here (Client, InitialAccessToken, …) is not stored by oidc-provider: see src/clients.
const kinds: Readonly<Record<string, Kind>> = {
  Interaction: { definition: protocol.interactions, isSecret: true },
  Session: { definition: protocol.oidcSessions, isSecret: true },
  Grant: { definition: protocol.grants, isSecret: false },
  AuthorizationCode: { definition: protocol.authorizationCodes, isSecret: true },
  RefreshToken: { definition: protocol.refreshTokens, isSecret: true },
  DeviceCode: { definition: protocol.deviceCodes, isSecret: true },
  PushedAuthorizationRequest: { definition: protocol.pushedRequests, isSecret: true },
  // Not a credential: the bearer value is the signed JWT, not its jti (src/oidc/models/jwt-format.ts).
  AccessToken: { definition: protocol.accessTokens, isSecret: false },
  ClientCredentials: { definition: protocol.clientCredentials, isSecret: false },
  ReplayDetection: { definition: protocol.replayMarkers, isSecret: true },
};

// Never overwritten. The library checks for a ReplayDetection entry and then saves it, so only an insert that fails for the
// second caller stops a parallel replay. Overwriting a used refresh token could make it usable again.
const INSERTED_ONCE = new Set(['ReplayDetection', 'RefreshToken']);

/** Used at a moment, not in a second: another process compares it with the time at which a request arrived. */
const USED_AT_MOMENT = new Set(['AuthorizationCode', 'DeviceCode']);

// Every secret identifier of the library is base64url; a lookup of anything else needs no store call.
const IDENTIFIER = /^[\w-]{1,512}$/;

type Artifact = Stored<model.ProtocolPayload>;

/** What each request has found: `consume` needs only the version for its compare-and-set, so it need not read again. */
const foundByRequest = new WeakMap<object, Map<string, Artifact>>();

function foundInRequest(): Map<string, Artifact> {
  const ctx = currentRequest();
  const found = (ctx && foundByRequest.get(ctx)) ?? new Map<string, Artifact>();
  if (ctx !== undefined) foundByRequest.set(ctx, found);
  return found;
}

/**
 * Replaces a device code that was found by its user code: only the device knows the code itself, but the library saves the
 * record again. A handle is never accepted from a client (src/oidc/models/device-code.ts).
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
    foundInRequest().delete(this.#foundKey(id));
    const value: model.ProtocolPayload = { ...payload };
    // Stored in clear, the id would defeat its digest; an interaction's return address contains it too.
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
      // Two parallel refreshes derive the same successor (models/refresh-token.ts); the first write is kept.
      if (this.#name === 'RefreshToken') return;
      throw new errors.InvalidRequest('this one-time identifier was used before', 400);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!IDENTIFIER.test(isHandle(id) ? this.#id(id) : id)) return undefined;
    const stored = await this.#collection.find(this.#id(id));
    if (stored !== undefined) foundInRequest().set(this.#foundKey(id), stored);
    return stored && this.#load(id, stored.value);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return (await this.#collection.findBy('uid', uid))[0]?.value;
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    const [stored] = await this.#collection.findBy('user_code', userCode);
    return stored && { ...stored.value, jti: HANDLE + stored.id };
  }

  /** Compare-and-set: of parallel calls exactly one returns, the others throw (RFC 6749 §4.1.2, RFC 9700 §4.14). */
  async consume(id: string): Promise<void> {
    const stored = foundInRequest().get(this.#foundKey(id)) ?? (await this.#collection.find(this.#id(id)));
    if (stored === undefined || stored.value.consumed !== undefined) throw this.#alreadyUsed();
    const seconds = this.#clock() / 1000;
    const consumed = USED_AT_MOMENT.has(this.#name) ? seconds : Math.floor(seconds);
    try {
      await this.#collection.replace(stored.id, stored.version, { ...stored.value, consumed });
    } catch (error) {
      throw error instanceof VersionConflict ? this.#alreadyUsed() : error;
    }
  }

  #alreadyUsed(): Error {
    if (this.#name === 'PushedAuthorizationRequest')
      return new errors.InvalidRequestUri('request_uri was used before');
    return new errors.InvalidGrant(`${this.#name} was used before`);
  }

  async destroy(id: string): Promise<void> {
    foundInRequest().delete(this.#foundKey(id));
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
    return withDrafts(name, new PortAdapter(name, kind, collection, clock));
  };
}
