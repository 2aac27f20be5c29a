// Registers the sample as an API of the provider, by its admin API, for as long as it runs.
import type { ApiCredentials } from './tokens.ts';
import { scopes } from './tools.ts';

interface RegisteredApi {
  readonly credentials: ApiCredentials;
  remove(): Promise<void>;
}

const TIMEOUT_MS = 5000;

function readAnswer(text: string, { href }: URL) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`What answers at ${href} is not Latchkey. Name its issuer with --issuer.`);
  }
}

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
  const answer = call('POST', resources, {
    identifier,
    name: 'Sample notes',
    scopes,
    is_open_to_agents: true,
  });
  const response = await answer.catch(() => {
    throw new Error(`Nothing answers at ${issuer.origin}. Start Latchkey there, or name it with --issuer.`);
  });
  const { data, error } = readAnswer(await response.text(), resources);
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
