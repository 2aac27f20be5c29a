// Registers the sample as an API of the provider, by its admin API, for as long as it runs.
import type { ApiCredentials } from './tokens.ts';
import { scopes } from './tools.ts';

interface RegisteredApi {
  readonly credentials: ApiCredentials;
  remove(): Promise<void>;
}

const TIMEOUT_MS = 5000;

/** @throws Error what the provider said */
export async function registerApi(
  issuer: URL,
  adminToken: string,
  identifier: string,
): Promise<RegisteredApi> {
  const resources = new URL('admin/api/resources', issuer);
  const call = (method: string, address: URL | string, body?: object): Promise<Response> =>
    fetch(address, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  const response = await call('POST', resources, {
    identifier,
    name: 'Sample notes',
    scopes,
    is_open_to_agents: true,
  });
  const { data, error } = JSON.parse(await response.text());
  if (!response.ok) throw new Error(`The API could not be registered: ${error?.message ?? response.status}`);
  return {
    credentials: {
      clientId: data.introspection_client_id,
      clientSecret: data.introspection_client_secret,
    },
    async remove() {
      await call('DELETE', `${resources}/${data.id}`);
    },
  };
}
