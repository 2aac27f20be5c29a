// The API that an application's tokens are for when a request names none (decision 0026): found by its identifier when an
// administrator sets it, and forgotten when the API is deleted, so that one created again is not meant.
import { type ApiRecord, identifierKey } from '../store/apis.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { update } from '../store/update.ts';

export const createDefaultApis = ({
  apis,
  clients,
}: {
  readonly apis: Collection<ApiRecord>;
  readonly clients: Collection<ClientRecord>;
}) => ({
  async find(identifier: string): Promise<ClientRecord['defaultApi']> {
    const [found] = await apis.findBy('identifier', identifierKey(identifier));
    return found?.value.removingAt === undefined && found !== undefined
      ? { id: found.id, identifier: found.value.identifier }
      : undefined;
  },

  async forget(apiId: string): Promise<void> {
    for (const { id } of await clients.findBy('default_api', apiId)) {
      await update(clients, id, ({ defaultApi, ...value }) =>
        defaultApi?.id === apiId ? { value } : undefined,
      );
    }
  },
});
