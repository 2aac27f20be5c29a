// The library's model of a stored application: cached per version of its record (the library's own cache holds 100 and hashes
// all metadata on every use), secrets compared by digest, `sid` in every token.
import { errors, type Client as LibraryClient } from 'oidc-provider';
import { isPassing, registeredId } from '../../client-ids.ts';
import { createIsOwnAddress, ordinaryMetadata, scopeWithAccount } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { signedResponseModes } from '../../model/applications/vocabulary.ts';
import { DEVICE_GRANT } from '../../model/grant-types.ts';
import type { ClientMetadata, ClientRecord } from '../../store/collections.ts';
import type { Stored } from '../../store/port.ts';
import { type ClientClass, type ClientKeys, type ClientWithKeys, ProviderBase } from '../provider-base.ts';
import type { AssertionTurns } from '../requests/assertion-turns.ts';
import { createKeyLookup } from '../requests/client-keys.ts';

interface Deps {
  readonly findClient: (clientId: string) => Promise<Stored<ClientRecord> | undefined>;
  /** Constant-time comparison with the digests that are valid now. */
  readonly verifySecret: (record: ClientRecord, presented: string) => boolean;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly assertionTurns: Pick<AssertionTurns, 'enter' | 'whileFetching'>;
  /** Whether this provider knows the response types of the legacy profile. */
  readonly hasLegacy: boolean;
}

// The library requires a secret for methods that use one; ours are stored as digests, so it gets this placeholder, which is
// never compared (compareClientSecret below) and is never a key: no symmetric algorithm is enabled.
const SECRET_PLACEHOLDER = 'stored-as-a-digest';

const CACHE_SIZE = 10_000;

const records = new WeakMap<LibraryClient, ClientRecord>();

/** @returns our record of an application that the library loaded */
export function clientRecord(client: LibraryClient): ClientRecord {
  const record = records.get(client);
  if (record === undefined) throw new TypeError('this client was not created from a stored record');
  return record;
}

export function createClientModel(
  Base: ClientClass,
  { findClient, verifySecret, baseUrl, clock, hasLegacy, assertionTurns }: Deps,
): ClientClass {
  const cache = new Map<string, { version: number; client: ClientWithKeys }>();
  const isOwnAddress = createIsOwnAddress(baseUrl);
  const lookForKey = createKeyLookup(clock);

  return class Client extends Base {
    static override async find(id: string): Promise<ClientWithKeys | undefined> {
      if (typeof id !== 'string' || id === '' || registeredId(id).length > 200) return undefined;
      const stored = await findClient(id);
      if (stored?.value.isActive !== true) return undefined;
      const { ctx } = ProviderBase;
      const assertion = ctx?.oidc?.params?.client_assertion;
      const isSigned = stored.value.metadata.token_endpoint_auth_method === 'private_key_jwt';
      if (ctx !== undefined && assertion !== undefined && isSigned) await assertionTurns.enter(ctx, id);
      const cached = cache.get(id);
      if (cached?.version === stored.version) {
        if (assertion !== undefined) lookForKey(cached.client, assertion);
        return cached.client;
      }
      const { value: record, version } = stored;
      const client = new Client(withPlaceholderSecret(Base, metadataOf(record, hasLegacy)));
      records.set(client, record);
      fetchBetweenTurns(client.asymmetricKeyStore, assertionTurns);
      cache.delete(id);
      cache.set(id, { version, client });
      for (const oldest of cache.keys()) {
        if (cache.size <= CACHE_SIZE) break;
        cache.delete(oldest);
      }
      return client;
    }

    override includeSid(): boolean {
      return true;
    }

    // Addresses of this server are for our own pages, even if registered: a native application may use any port (RFC 8252 §7.3),
    // ours included, and older records may predate the rule.
    override redirectUriAllowed(redirectUri: string): boolean {
      const isOurs = records.get(this)?.origin === 'seed' || isPassing(this.clientId);
      return (isOurs || !isOwnAddress(redirectUri)) && super.redirectUriAllowed(redirectUri);
    }

    /** Signed responses are unknown to whom no administrator gave them, as if the library had none. */
    override responseModeAllowed(...given: Parameters<ClientWithKeys['responseModeAllowed']>): boolean {
      const isSigned = signedResponseModes.some((mode) => mode === given[0]);
      if (isSigned && records.get(this)?.signedResponseAlg === undefined)
        throw new errors.UnsupportedResponseMode();
      return super.responseModeAllowed(...given);
    }

    /** RFC 6749 §5.2. The library calls a grant type that the client is not registered for invalid_request. */
    override grantTypeAllowed(type: string): boolean {
      if (super.grantTypeAllowed(type)) return true;
      if (isRequested(type)) throw new errors.UnauthorizedClient(`this application may not use ${type}`);
      return false;
    }

    override compareClientSecret(presented: string): boolean {
      const record = records.get(this);
      return record !== undefined && verifySecret(record, presented);
    }
  };
}

/** A key set that is slow keeps nobody from their turn whose key is known (requests/assertion-turns.ts). */
function fetchBetweenTurns(keys: ClientKeys, turns: Pick<AssertionTurns, 'whileFetching'>): void {
  const refresh = keys.refresh.bind(keys);
  keys.refresh = async () => {
    const { ctx } = ProviderBase;
    if (ctx === undefined) return refresh();
    try {
      await turns.whileFetching(ctx.req, refresh);
    } catch (error) {
      // The library would call it a wrong assertion (lib/shared/jwt_client_auth.js): provider-middleware.ts throws it again.
      if (error instanceof AppError) ctx.state.serverError = error;
      throw error;
    }
  };
}

function metadataOf(record: ClientRecord, hasLegacy: boolean): ClientMetadata {
  const { metadata, signedResponseAlg } = record;
  const known = hasLegacy ? metadata : ordinaryMetadata(metadata);
  const scope = scopeWithAccount(record);
  return {
    ...known,
    ...(scope !== undefined && { scope }),
    ...(signedResponseAlg !== undefined && { authorization_signed_response_alg: signedResponseAlg }),
  };
}

/** Whether the request itself is for that grant type. */
function isRequested(type: string): boolean {
  const { route, params } = ProviderBase.ctx?.oidc ?? {};
  if (route === 'device_authorization') return type === DEVICE_GRANT;
  return route === 'token' && params?.grant_type === type;
}

function withPlaceholderSecret(Base: ClientClass, metadata: ClientMetadata): ClientMetadata {
  return Base.needsSecret(metadata) ? { ...metadata, client_secret: SECRET_PLACEHOLDER } : metadata;
}

/**
 * Runs metadata through the library's own client schema (RFC 7591 §2, OIDC Registration §2).
 * @returns the metadata with the schema's defaults filled in, without any secret
 * @throws the library's InvalidClientMetadata: `error`, `error_description`
 */
export function normalizeMetadata(Base: ClientClass, metadata: ClientMetadata): ClientMetadata {
  const client = new Base(withPlaceholderSecret(Base, metadata));
  const { client_secret: _, client_secret_expires_at: __, ...normalized } = client.metadata();
  return { ...normalized, client_id: metadata.client_id };
}
