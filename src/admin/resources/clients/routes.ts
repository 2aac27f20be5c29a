// The routes of applications (decisions §6): RFC 7591 metadata and the members that only an administrator sets, in one JSON.
import {
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
} from 'typebox';
import { groupNamePattern } from '../../../accounts/index.ts';
import { type Client, type Clients, readClient, restrictedTo, toClient } from '../../../clients/index.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { type ClientRecord, clients as collection } from '../../../store/collections.ts';
import type { Cursors } from '../../api/cursor.ts';
import { EXPECTED } from '../../api/expected.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { atVersion, clientIdParams } from '../../api/shared.ts';
import {
  changedClientSchema,
  clientSchema,
  clientWithSecretSchema,
  newClientSchema,
  replacedClientSchema,
} from './schema.ts';

export type ClientsPort = Pick<Clients, 'find' | 'query' | 'create' | 'update' | 'rotateSecret' | 'remove'>;

interface Deps {
  readonly clients: ClientsPort;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<ClientRecord> = {
  name: 'clients',
  collection,
  sorts: ['created_at', 'client_name', 'client_type', 'id'],
  defaultOrder: 'desc',
  searches: ['client_name'],
  filters: {
    client_type: { schema: Enum(['confidential', 'public']) },
    is_active: { schema: BooleanSchema() },
    allowed_group: {
      schema: StringSchema({ pattern: groupNamePattern, [EXPECTED]: 'the name of a group' }),
      toGroups: (name) => [[restrictedTo(String(name))]],
    },
  },
  times: ['created_at'],
};

const querySchema = listQuerySchema(list);
const MAX_OVERLAP_SECONDS = 2_592_000;
const rotationSchema = ObjectSchema(
  {
    overlap_seconds: Optional(
      Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_SECONDS,
        description: 'How long the secret until now is still taken; 0 (default): not any more.',
      }),
    ),
  },
  { additionalProperties: false },
);

const tag = 'Applications';

const show = (client: Client) => ({ data: toClient(client), version: client.version });
const showWithSecret = ({ client, clientSecret }: { client: Client; clientSecret?: string }) => ({
  data: { ...toClient(client), ...(clientSecret && { client_secret: clientSecret }) },
  version: client.version,
});

export function clientRoutes({ clients, cursors, clock }: Deps): Route[] {
  /** Without the built-in application no user, administrators included, could sign in to this product's own pages. */
  async function refuseBuiltIn(clientId: string): Promise<void> {
    const found = await clients.find(clientId);
    if (found?.value.origin === 'seed') throw new AppError('client.built_in');
  }

  const change = (method: 'PUT' | 'PATCH'): Route =>
    defineRoute({
      method,
      path: '/clients/{client_id}',
      sensitivity: 'sensitive',
      tag,
      summary:
        method === 'PUT'
          ? 'Replace the metadata of an application; of the settings beside it only the given ones change'
          : 'Change an application: only the given fields change, null clears one',
      params: clientIdParams,
      body: method === 'PUT' ? replacedClientSchema : changedClientSchema,
      success: { status: 200, schema: clientWithSecretSchema, hasVersion: true },
      handle: async ({ params, body, ifVersion }) => {
        await refuseBuiltIn(params.client_id);
        const updated = await clients.update(params.client_id, {
          ...readClient(body),
          mode: method === 'PUT' ? 'replace' : 'merge',
          authority: 'administrator',
          ifVersion,
        });
        return showWithSecret(updated);
      },
    });

  return [
    defineRoute({
      method: 'POST',
      path: '/clients',
      sensitivity: 'sensitive',
      tag,
      summary: 'Create an application; the secret of a confidential one is in this answer only',
      body: newClientSchema,
      success: { status: 201, schema: clientWithSecretSchema, hasVersion: true },
      handle: async ({ body }) => {
        const created = await clients.create({ ...readClient(body), origin: 'admin' });
        return { ...showWithSecret(created), id: created.client.id };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/clients',
      sensitivity: 'plain',
      tag,
      summary: 'List applications',
      query: querySchema,
      success: { status: 200, schema: pageSchema(clientSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => clients.query(wanted),
          recordOf: ({ value }) => value,
          idOf: ({ id }) => id,
        });
        return { data: { ...page, items: page.items.map(toClient) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/clients/{client_id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read an application',
      params: clientIdParams,
      success: { status: 200, schema: clientSchema, hasVersion: true },
      handle: async ({ params }) => show(atVersion(await clients.find(params.client_id), 'client.not_found')),
    }),
    change('PUT'),
    change('PATCH'),
    defineRoute({
      method: 'DELETE',
      path: '/clients/{client_id}',
      sensitivity: 'sensitive',
      tag,
      summary: 'Delete an application with all its grants and tokens',
      params: clientIdParams,
      success: { status: 204 },
      handle: async ({ params, ifVersion }): Promise<Answer<never> | undefined> => {
        await refuseBuiltIn(params.client_id);
        await clients.remove(params.client_id, { ifVersion });
        return undefined;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/clients/{client_id}/rotate-secret',
      sensitivity: 'sensitive',
      tag,
      summary: 'Rotate the secret of an application; the new one is in this answer only',
      params: clientIdParams,
      body: rotationSchema,
      isBodyOptional: true,
      success: { status: 200, schema: clientWithSecretSchema, hasVersion: true },
      handle: async ({ params, body, ifVersion }) => {
        await refuseBuiltIn(params.client_id);
        const overlapSeconds = body.overlap_seconds;
        return showWithSecret(await clients.rotateSecret(params.client_id, { overlapSeconds, ifVersion }));
      },
    }),
  ];
}
