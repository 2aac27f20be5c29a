// Owns the library's view of a stored application: built once per version of its record (the library's own cache holds
// 100 and hashes all metadata at every use), secrets compared by digest, `sid` in every token; and what it is in a trial.
import type { Client as AnyClient } from 'oidc-provider';
import { createIsOwnAddress } from '../../clients/own-addresses.ts';
import type { ClientMetadata, ClientRecord } from '../../store/collections.ts';
import type { Stored } from '../../store/port.ts';
import { type ClientClass, type LogoutClient, ProviderBase } from '../provider-base.ts';
import { isAdmittedTrial, isTrialExchange, trialRedirectUri } from '../trial-gate.ts';

interface Deps {
  readonly findClient: (clientId: string) => Promise<Stored<ClientRecord> | undefined>;
  /** Constant-time comparison with the digests that are valid now. */
  readonly verifySecret: (record: ClientRecord, presented: string) => boolean;
  readonly baseUrl: string;
}

// The library wants a secret where the authentication method has one; ours are digests, so this stands in its place.
// It is never compared (compareClientSecret below) and never keys anything: no symmetric algorithm is enabled.
const SECRET_STAND_IN = 'stored-as-a-digest';

const CACHE_SIZE = 10_000;

const records = new WeakMap<AnyClient, ClientRecord>();

/** @returns our record of an application the library found */
export function clientRecord(client: AnyClient): ClientRecord {
  const record = records.get(client);
  if (record === undefined) throw new TypeError('this client was not made from a stored record');
  return record;
}

export function createClientModel(
  Base: ClientClass,
  { findClient, verifySecret, baseUrl }: Deps,
): ClientClass {
  const cache = new Map<string, { version: number; client: LogoutClient }>();
  const trialUri = trialRedirectUri(baseUrl);
  const isOwnAddress = createIsOwnAddress(baseUrl);

  return class Client extends Base {
    static override async find(id: string): Promise<LogoutClient | undefined> {
      if (typeof id !== 'string' || id === '' || id.length > 200) return undefined;
      const stored = await findClient(id);
      if (stored?.value.isActive !== true) return undefined;
      const { ctx } = ProviderBase;
      if (ctx !== undefined && isTrialExchange(ctx.req, id)) {
        // An algorithm of a method that is not used would be refused.
        const { token_endpoint_auth_signing_alg: _, ...metadata } = stored.value.metadata;
        const client = new Client({ ...metadata, token_endpoint_auth_method: 'none' });
        records.set(client, stored.value);
        return client;
      }
      const cached = cache.get(id);
      if (cached?.version === stored.version) return cached.client;
      const { value: record, version } = stored;
      const client = new Client(withStandIn(Base, record.metadata));
      records.set(client, record);
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

    // Registered or not: one address is for trials alone, and the others of this server are for our own pages. Here too, for
    // a native application may use any port (RFC 8252 §7.3), ours included, and one may be stored from before that rule.
    override redirectUriAllowed(redirectUri: string): boolean {
      if (redirectUri !== trialUri) {
        const isForOurselves = records.get(this)?.origin === 'seed';
        return (isForOurselves || !isOwnAddress(redirectUri)) && super.redirectUriAllowed(redirectUri);
      }
      const { ctx } = ProviderBase;
      return ctx !== undefined && isAdmittedTrial(ctx.req, this.clientId);
    }

    override compareClientSecret(presented: string): boolean {
      const record = records.get(this);
      return record !== undefined && verifySecret(record, presented);
    }
  };
}

function withStandIn(Base: ClientClass, metadata: ClientMetadata): ClientMetadata {
  return Base.needsSecret(metadata) ? { ...metadata, client_secret: SECRET_STAND_IN } : metadata;
}

/**
 * Runs metadata through the library's own client schema (RFC 7591 §2, OIDC Registration §2).
 * @returns the metadata with the schema's defaults filled in, without any secret
 * @throws the library's InvalidClientMetadata: `error`, `error_description`
 */
export function normalizeMetadata(Base: ClientClass, metadata: ClientMetadata): ClientMetadata {
  const client = new Base(withStandIn(Base, metadata));
  const { client_secret: _, client_secret_expires_at: __, ...normalized } = client.metadata();
  return { ...normalized, client_id: metadata.client_id };
}
