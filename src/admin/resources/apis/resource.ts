// APIs: what access tokens are issued for, with their scopes and who may have these (decision 0026).
import { groupNamePattern } from '../../../accounts/index.ts';
import { type Api, forGroup, toApi } from '../../../apis/index.ts';
import { type ApiRecord, apis as collection } from '../../../store/apis.ts';
import { defineResource } from '../../api/define-resource.ts';
import { EXPECTED } from '../../api/expected.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { string } from '../../api/schema-parts.ts';
import { idParams, rotationBody } from '../../api/shared.ts';
import {
  apiSchema,
  apiWithSecretSchema,
  changedApiSchema,
  newApiSchema,
  replacedApiSchema,
} from './schema.ts';

const list: ListDefinition<ApiRecord> = {
  name: 'apis',
  collection,
  sorts: ['name', 'identifier', 'created_at', 'updated_at', 'id'],
  defaultOrder: 'asc',
  searches: ['name', 'identifier'],
  filters: {
    identifier: {
      schema: string({
        minLength: 1,
        maxLength: 500,
        description: 'Only the API with exactly this identifier.',
      }),
    },
    scope_group: {
      schema: string({
        pattern: groupNamePattern,
        description: 'The name of a group that a scope of the API is for.',
        [EXPECTED]: 'the name of a group',
      }),
      toGroups: (name) => [[forGroup(String(name))]],
    },
  },
  times: ['created_at', 'updated_at'],
};

const withSecret = ({ api, introspectionSecret }: { api: Api; introspectionSecret: string }) => ({
  data: { ...toApi(api), introspection_client_secret: introspectionSecret },
  version: api.version,
});

export const apis = defineResource(
  {
    path: '/resources',
    tag: 'APIs',
    target: 'api',
    view: apiSchema,
    present: (items: readonly Api[]) => items.map(toApi),
    versionOf: ({ version }) => version,
  },
  (on) => ({
    create: on.create({
      summary: 'Create an API; only this response contains its introspection secret',
      event: 'api.created',
      isBodyShown: true,
      body: newApiSchema,
      answer: apiWithSecretSchema,
      hasVersion: true,
      async run({ body: { identifier, ...body } }, ports) {
        const created = await ports.apis.create(String(identifier), body);
        return { ...withSecret(created), id: created.api.id };
      },
    }),
    list: on.list({
      summary: 'List APIs',
      list,
      query: (wanted, ports) => ports.apis.query(wanted),
      recordOf: ({ value }) => value,
    }),
    read: on.read({
      summary: 'Read an API',
      find: (id, ports) => ports.apis.find(id),
      missing: 'api.not_found',
    }),
    replace: on.change({
      method: 'PUT',
      summary:
        'Replace an API: what is not given gets its default. Tokens for scopes that are gone are revoked.',
      event: 'api.updated',
      isBodyShown: true,
      body: replacedApiSchema,
      run: ({ params, body, ifVersion }, ports) =>
        ports.apis.update(params.id, body, { mode: 'replace', ifVersion }),
    }),
    change: on.change({
      method: 'PATCH',
      summary:
        'Change an API: only the given fields change, lists as a whole. Tokens for scopes that are gone are revoked.',
      event: 'api.updated',
      isBodyShown: true,
      body: changedApiSchema,
      run: ({ params, body, ifVersion }, ports) =>
        ports.apis.update(params.id, body, { mode: 'merge', ifVersion }),
    }),
    remove: on.remove({
      summary: 'Delete an API; its tokens are revoked, and one created again under its identifier is another',
      event: 'api.removed',
      params: idParams,
      run: ({ params, ifVersion }, ports) => ports.apis.remove(params.id, { ifVersion }),
    }),
    rotateSecret: on.route('POST /resources/{id}/rotate-secret', {
      summary: 'Rotate the introspection secret of an API; only this response contains the new one',
      recorded: { event: 'api.secret_rotated', target: 'api' },
      params: idParams,
      body: rotationBody,
      isBodyOptional: true,
      answer: apiWithSecretSchema,
      hasVersion: true,
      run: async ({ params, body, ifVersion }, ports) =>
        withSecret(
          await ports.apis.rotateSecret(params.id, { overlapSeconds: body.overlap_seconds, ifVersion }),
        ),
    }),
  }),
);
