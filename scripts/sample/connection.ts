// How the sample becomes an application of the provider: discovery, then the given credentials or dynamic registration. Both
// are retried at the next use if the provider did not respond.
import * as client from 'openid-client';
import type { Credentials } from './options.ts';
import { Problem, toProblem } from './problem.ts';

export interface Connection {
  readonly issuer: URL;
  /** Known without asking the provider; undefined until it is entered. */
  readonly clientId: string | undefined;
  /** A public application may not introspect: its client ID alone proves nothing (RFC 7662 §2.1). */
  readonly canIntrospect: boolean;
  /** Whether there are credentials, or a token to register with. */
  readonly isConfigured: boolean;
  /** @throws Problem: not configured, not reachable, credentials refused */
  configuration(): Promise<client.Configuration>;
  /** Changes the credentials if the provider accepts them, else keeps the present ones. @throws Problem */
  configure(credentials: Credentials): Promise<void>;
  forget(): void;
  /** Deletes the application if it was registered here. */
  close(): Promise<void>;
}

interface Options {
  readonly issuer: URL;
  readonly redirectUri: string;
  readonly homeUri: string;
  readonly credentials?: Credentials | undefined;
  readonly adminToken?: string | undefined;
}

export const SCOPE = 'openid profile email';

const TIMEOUT_SECONDS = 5;

/**
 * Registration needs a token, so discovery does not announce the endpoint (decision 0001), and the library registers nowhere
 * else.
 */
export const announceRegistration: client.CustomFetch = async (url, { body, ...init }) => {
  const response = await fetch(url, { ...init, body: body ?? null });
  if (!url.includes('/.well-known/') || !response.ok) return response;
  const document: { readonly token_endpoint: string } = JSON.parse(await response.text());
  const endpoint = new URL('register', document.token_endpoint).href;
  return Response.json({ ...document, registration_endpoint: endpoint });
};

type Connect = () => Promise<client.Configuration>;

export function createConnection(options: Options): Connection {
  const { issuer } = options;
  // Plain http is for a provider on this machine.
  const execute = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const request = { execute, timeout: TIMEOUT_SECONDS };

  /** Introspects a token that does not exist: the response shows whether the credentials are valid. */
  async function verify(configuration: client.Configuration): Promise<void> {
    if (configuration.serverMetadata().introspection_endpoint === undefined) return;
    await client.tokenIntrospection(configuration, 'is-this-me');
  }

  const connectWith =
    ({ clientId, clientSecret }: Credentials): Connect =>
    async () => {
      const authentication =
        clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
      const configuration = await client.discovery(issuer, clientId, undefined, authentication, request);
      if (clientSecret !== undefined) await verify(configuration);
      return configuration;
    };

  const registerWith =
    (initialAccessToken: string): Connect =>
    () =>
      client.dynamicClientRegistration(
        issuer,
        {
          client_name: 'Sample',
          client_uri: options.homeUri,
          redirect_uris: [options.redirectUri],
          post_logout_redirect_uris: [options.homeUri],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'client_secret_basic',
          scope: SCOPE,
        },
        client.ClientSecretBasic(),
        { ...request, initialAccessToken, [client.customFetch]: announceRegistration },
      );

  const { credentials, adminToken } = options;
  let clientId = credentials?.clientId;
  let hasSecret = credentials === undefined || credentials.clientSecret !== undefined;
  let connect: Connect | undefined =
    credentials === undefined
      ? adminToken === undefined
        ? undefined
        : registerWith(adminToken)
      : connectWith(credentials);
  let connected: Promise<client.Configuration> | undefined;

  async function unregister(configuration: client.Configuration): Promise<void> {
    const { registration_client_uri: uri, registration_access_token: token } = configuration.clientMetadata();
    if (typeof uri !== 'string' || typeof token !== 'string') return;
    await fetch(uri, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
  }

  return {
    issuer,
    get clientId() {
      return clientId;
    },
    get canIntrospect() {
      return hasSecret;
    },
    get isConfigured() {
      return connect !== undefined;
    },
    async configuration() {
      if (connect === undefined) throw new Problem('other', 'No application is configured yet.');
      connected ??= connect();
      try {
        const configuration = await connected;
        clientId = configuration.clientMetadata().client_id;
        return configuration;
      } catch (error) {
        connected = undefined;
        throw toProblem(error, issuer);
      }
    },
    async configure(given) {
      const attempt = connectWith(given);
      try {
        connected = Promise.resolve(await attempt());
      } catch (error) {
        throw toProblem(error, issuer);
      }
      connect = attempt;
      clientId = given.clientId;
      hasSecret = given.clientSecret !== undefined;
    },
    forget() {
      connect = undefined;
      connected = undefined;
      clientId = undefined;
    },
    async close() {
      try {
        if (connected !== undefined) await unregister(await connected);
      } catch {
        // The provider is unavailable too: nothing to clean up now.
      }
    },
  };
}
