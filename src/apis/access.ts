// Which applications may ask for an API, and how long its tokens live (decision 0026).
import { registeredId } from '../client-ids.ts';
import type { ApiRecord } from '../store/apis.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';

/** @returns whether the API names the application by its id */
export const isListed = ({ clients }: Pick<ApiRecord, 'clients'>, clientId: string): boolean =>
  clients !== 'all' && clients.includes(registeredId(clientId));

/**
 * @returns whether the application may ask for the API: those that registered themselves only where they are listed, those that
 *   nobody vouched for only where it is open to agents
 */
export const isOpenTo = (
  api: Pick<ApiRecord, 'clients' | 'isOpenToAgents'>,
  clientId: string,
  { origin, quarantine }: Pick<ClientRecord, 'origin' | 'quarantine'>,
): boolean => {
  if (quarantine !== undefined) return api.isOpenToAgents === true;
  return api.clients === 'all' ? origin === 'admin' : isListed(api, clientId);
};

export const accessTokenSeconds = (
  { accessTokenFormat, accessTokenSeconds: own }: Pick<ApiRecord, 'accessTokenFormat' | 'accessTokenSeconds'>,
  settings: { readonly api_jwt_seconds: number; readonly api_opaque_seconds: number },
): number => own ?? (accessTokenFormat === 'opaque' ? settings.api_opaque_seconds : settings.api_jwt_seconds);

/** The store's filter for APIs with a scope for members of a group. */
export const forGroup = (group: string) =>
  ({ field: 'scope_groups', op: 'contains', value: `/${group}/` }) as const;

/** @returns a function that finds the identifier of one API with a scope for members of a group, if there is one */
export const createFindApiForGroup =
  (collection: Pick<Collection<ApiRecord>, 'query'>) =>
  async (group: string): Promise<string | undefined> => {
    const { items } = await collection.query({
      filters: [forGroup(group)],
      sort: 'id',
      order: 'asc',
      limit: 1,
      isCounted: false,
    });
    return items[0]?.value.identifier;
  };
