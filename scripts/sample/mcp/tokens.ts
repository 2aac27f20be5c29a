// Who calls: an access token of the provider for this API, checked in one of the two ways that an API has.
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

export interface Caller {
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
}

/** @returns undefined for a token that is not valid here @throws Error when the provider does not answer */
export type CheckToken = (token: string) => Promise<Caller | undefined>;

/** What the API introspects with (RFC 7662). */
export interface ApiCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

const TIMEOUT_MS = 5000;

const callerOf = ({ sub, client_id, scope }: Readonly<Record<string, unknown>>): Caller => ({
  subject: String(sub ?? ''),
  clientId: String(client_id ?? ''),
  scopes: new Set(String(scope ?? '').split(' ')),
});

async function readMetadata(issuer: URL): Promise<Readonly<Record<string, unknown>>> {
  const address = `${issuer.href}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${address} answers ${response.status}`);
  return JSON.parse(await response.text());
}

/** By the provider's public keys: no request per call, and a revoked token works until it expires (RFC 9068 §4). */
export function checkByKeys(issuer: URL, audience: string): CheckToken {
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  return async (token) => {
    keys ??= createRemoteJWKSet(new URL(String((await readMetadata(issuer)).jwks_uri)));
    try {
      const { payload } = await jwtVerify(token, keys, { issuer: issuer.href, audience, typ: 'at+jwt' });
      return callerOf(payload);
    } catch (error) {
      if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw error;
      return undefined;
    }
  };
}

/** By asking the provider about each call: a revocation counts at once. */
export function checkByIntrospection(issuer: URL, { clientId, clientSecret }: ApiCredentials): CheckToken {
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  let endpoint: string | undefined;
  return async (token) => {
    endpoint ??= String((await readMetadata(issuer)).introspection_endpoint);
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the introspection endpoint answers ${response.status}`);
    const answer: Readonly<Record<string, unknown>> = JSON.parse(await response.text());
    return answer.active === true ? callerOf(answer) : undefined;
  };
}
