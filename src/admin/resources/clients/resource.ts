// Applications (decision 0010): RFC 7591 metadata and the members that only an administrator sets, in one JSON.
import { groupNamePattern } from '../../../accounts/index.ts';
import { type Client, readClient, restrictedTo, toClient } from '../../../clients/index.ts';
import { invalid } from '../../../errors.ts';
import { type ClientRecord, clients as collection } from '../../../store/collections.ts';
import { defineResource } from '../../api/define-resource.ts';
import { EXPECTED } from '../../api/expected.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { Told } from '../../api/route.ts';
import { array, boolean, object, oneOf, optional, string } from '../../api/schema-parts.ts';
import { atVersion, clientIdParams, rotationBody } from '../../api/shared.ts';
import { calledAddressMembers, showAddress } from './called-addresses.ts';
import { refusalsSchema, showRefusal } from './refusals.ts';
import {
  changedClientSchema,
  clientSchema,
  clientWithSecretSchema,
  newClientSchema,
  replacedClientSchema,
} from './schema.ts';

const list: ListDefinition<ClientRecord> = {
  name: 'clients',
  collection,
  sorts: ['created_at', 'client_name', 'client_type', 'id'],
  defaultOrder: 'desc',
  searches: ['client_name'],
  filters: {
    client_type: {
      schema: oneOf(['confidential', 'public'], 'Only applications of this type.'),
    },
    is_active: {
      schema: boolean('Only applications that are active, or that are not.'),
    },
    is_quarantined: {
      schema: boolean('Only applications that nobody vouched for (docs/agents.md), or only others.'),
      toGroups: (value) => [[{ field: 'agent_state', op: value === true ? 'present' : 'absent' }]],
    },
    allowed_group: {
      schema: string({
        pattern: groupNamePattern,
        [EXPECTED]: 'the name of a group',
        description: 'Only applications that are restricted to this group, alone or among others.',
      }),
      toGroups: (name) => [[restrictedTo(String(name))]],
    },
  },
  times: ['created_at'],
};

const show = (client: Client) => ({ data: toClient(client), version: client.version });
const showWithSecret = ({ client, clientSecret }: { client: Client; clientSecret?: string }) => ({
  data: { ...toClient(client), ...(clientSecret && { client_secret: clientSecret }) },
  version: client.version,
});

type Written = Parameters<typeof showWithSecret>[0];

/** Entering an address that cannot be called is no mistake yet: it may be opened later. So it is a warning. */
async function showWithWarnings(written: Written, body: object, ports: AdminPorts) {
  const { data, version } = showWithSecret(written);
  if (!calledAddressMembers.some((name) => Object.hasOwn(body, name))) return { data, version };
  const addresses = await ports.readCalledAddresses(written.client.value);
  const unreachable = addresses.filter(({ problem }) => problem !== undefined).map(showAddress);
  return { data: { ...data, ...(unreachable.length > 0 && { unreachable }) }, version };
}

const checkedUrisQuery = object({
  uris: optional(
    string({
      maxLength: 4096,
      description: 'One address per line, 50 at most.',
      [EXPECTED]: 'one address per line, 50 at most',
    }),
  ),
  application_type: optional(oneOf(['web', 'native'], 'Whose rules apply; default: `web`.')),
});

const checkedUrisSchema = object(
  {
    items: array(
      object({
        uri: string('As it was given.'),
        is_valid: boolean('Whether it can be registered.'),
        problem: optional(string('Why not.')),
      }),
      'In the given order.',
    ),
  },
  'What the rules say about each.',
);

const MOST_URIS = 50;

const path = '/clients/{client_id}';
const withSecret = { answer: clientWithSecretSchema, hasVersion: true } as const;

export const clients = defineResource(
  {
    path: '/clients',
    tag: 'Applications',
    target: 'client',
    compared: 'client',
    view: clientSchema,
    present: (items: readonly Client[]) => items.map(toClient),
  },
  (on) => {
    const change = (method: 'PUT' | 'PATCH', body: typeof replacedClientSchema, summary: string) =>
      on.route(`${method} ${path}`, {
        summary,
        recorded: { event: 'client.updated', target: 'client', view: 'client' },
        params: clientIdParams,
        body,
        ...withSecret,
        async run({ params, body, ifVersion }, ports) {
          const mode = method === 'PUT' ? 'replace' : 'merge';
          const given = { ...readClient(body), mode, authority: 'administrator', ifVersion } as const;
          const written = await ports.clients.update(params.client_id, given);
          return { ...(await showWithWarnings(written, body, ports)), before: toClient(written.before) };
        },
      });

    return {
      create: on.create({
        summary: 'Create an application; only this response contains the secret of a confidential one',
        event: 'client.created',
        body: newClientSchema,
        answer: clientWithSecretSchema,
        hasVersion: true,
        async run({ body }, ports) {
          const created = await ports.clients.create({ ...readClient(body), origin: 'admin' });
          return { ...(await showWithWarnings(created, body, ports)), id: created.client.id };
        },
      }),
      list: on.list({
        summary: 'List applications',
        list,
        query: (wanted, { clients }) => clients.query(wanted),
        recordOf: ({ value }) => value,
      }),
      read: on.route(`GET ${path}`, {
        summary: 'Read an application',
        params: clientIdParams,
        answer: clientSchema,
        hasVersion: true,
        run: async ({ params }, { clients }) =>
          show(atVersion(await clients.find(params.client_id), 'client.not_found')),
      }),
      replace: change(
        'PUT',
        replacedClientSchema,
        'Replace the metadata of an application; its other settings change only where given',
      ),
      change: change(
        'PATCH',
        changedClientSchema,
        'Change an application: only the given fields change; null clears a field',
      ),
      checkRedirectUris: on.route('GET /redirect-uris/check', {
        summary: 'Check redirect URIs by the rules of a registration, without registering them',
        query: checkedUrisQuery,
        answer: checkedUrisSchema,
        async run({ query }, ports) {
          const uris = (query.uris ?? '').split('\n').filter((uri) => uri !== '');
          if (uris.length > MOST_URIS) throw invalid({ uris: `Must not be more than ${MOST_URIS}.` });
          const { application_type: applicationType = 'web' } = query;
          const checked = await ports.clients.checkRedirectUris({ uris, applicationType });
          const items = checked.map(({ uri, problem }) => ({
            uri,
            is_valid: problem === undefined,
            ...(problem !== undefined && { problem }),
          }));
          return { data: { items } };
        },
      }),
      remove: on.remove({
        path,
        summary: 'Delete an application with all its grants and tokens',
        event: 'client.removed',
        params: clientIdParams,
        async run({ params, ifVersion }, ports) {
          return new Told({}, toClient(await ports.clients.remove(params.client_id, { ifVersion })));
        },
      }),
      refusals: on.route(`GET ${path}/refusals`, {
        summary: 'List the last requests of an application that were refused, with cause and remedy',
        params: clientIdParams,
        answer: refusalsSchema,
        async run({ params }, { clients, refusals }) {
          const { value } = atVersion(await clients.find(params.client_id), 'client.not_found');
          const entries = await refusals.of(params.client_id);
          return { data: { items: entries.map((entry) => showRefusal(entry, value)) } };
        },
      }),
      rotateSecret: on.route(`POST ${path}/rotate-secret`, {
        summary: 'Rotate the secret of an application; only this response contains the new one',
        recorded: { event: 'client.secret_rotated', target: 'client' },
        params: clientIdParams,
        body: rotationBody,
        isBodyOptional: true,
        ...withSecret,
        async run({ params, body, ifVersion }, ports) {
          const overlapSeconds = body.overlap_seconds;
          return showWithSecret(
            await ports.clients.rotateSecret(params.client_id, { overlapSeconds, ifVersion }),
          );
        },
      }),
    };
  },
);
