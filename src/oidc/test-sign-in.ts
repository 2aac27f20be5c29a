// "Try it" in the Admin UI: an administrator signs in to an application and sees what it would get, without its secret, and without
// an address of ours among its own. The client is the application but for what is said here; whatever it gets passes
// (src/client-ids.ts), and it is used by this server alone (vouched-requests.ts).
import { isPassing, passingId, registeredId } from '../client-ids.ts';
import { defaultGrantTypes } from '../model/grant-types.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Stored } from '../store/port.ts';

/** Where the code goes. */
export const TRY_CALLBACK = '/admin/applications/try/callback';

type Found<Client> = Promise<Client | undefined>;

function asTried({ metadata, ...record }: ClientRecord, baseUrl: string): ClientRecord {
  // The library refuses the algorithm of an authentication that is not used.
  const { token_endpoint_auth_signing_alg: _, grant_types: given, ...others } = metadata;
  return {
    ...record,
    metadata: {
      ...others,
      client_id: passingId(metadata.client_id),
      redirect_uris: [`${baseUrl}${TRY_CALLBACK}`],
      response_types: ['code'],
      // The page says whether there is a refresh token; nobody can use it.
      grant_types: defaultGrantTypes.filter((type) => Array.isArray(given) && given.includes(type)),
      token_endpoint_auth_method: 'none',
    },
  };
}

/** @param find by the id under which an application is registered @returns the same, and by its passing id the one to try */
export const withTried =
  <Client extends Stored<ClientRecord>>(find: (clientId: string) => Found<Client>, baseUrl: string) =>
  (clientId: string): Found<Stored<ClientRecord>> =>
    isPassing(clientId)
      ? find(registeredId(clientId)).then(
          (found) => found && { ...found, value: asTried(found.value, baseUrl) },
        )
      : find(clientId);
