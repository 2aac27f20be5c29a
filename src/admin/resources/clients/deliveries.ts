import type { LogoutDelivery } from '../../../oidc/index.ts';
import {
  logoutDeliveries as collection,
  type LogoutDeliveryRecord,
  type LogoutProblem,
} from '../../../store/collections.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import {
  boolean,
  createdAt,
  integer,
  iso,
  isoOrNull,
  object,
  oneOf,
  orNull,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { atVersion, clientIdParams } from '../../api/shared.ts';
import { addressesSchema, showAddress } from './called-addresses.ts';

const states = ['queued', 'delivered', 'failed'] as const;

const problems: Readonly<Record<LogoutProblem, string>> = {
  application_inactive: 'The application is deactivated.',
  no_address: 'The application has no address for back-channel sign-out.',
  not_allowed: 'Its address may not be called.',
  host_not_found: 'Its host name was not found.',
  no_connection: 'No connection could be made.',
  certificate: 'Its certificate was not accepted.',
  no_response: 'No response within 5 seconds.',
  invalid_response: 'The response was not valid HTTP.',
};

/** The outcome of the last attempt, in words. */
function wordsOf({ state, status, problem }: LogoutDeliveryRecord): string {
  if (problem !== undefined) return problems[problem];
  if (status === undefined) return 'Waiting for its first attempt.';
  if (state === 'delivered') return `Delivered (${status}).`;
  if (status >= 300 && status < 400)
    return `It responded with a redirect (${status}), which is not followed.`;
  if (status === 400) return 'It received the logout token and refused it (400).';
  return `It responded with status ${status}.`;
}

const deliverySchema = object(
  {
    id: string('The ID of the delivery.'),
    client_id: string('The application.'),
    is_test: boolean('Whether it is about a user and a session that do not exist.'),
    user_id: string('The `sub` of the logout token.'),
    sid: string('The `sid` of the logout token: the session as the application knows it.'),
    state: oneOf([...states], '`queued`: there is another attempt; `failed`: it was given up.'),
    address: stringOrNull('Scheme, host and port at the last attempt; null: there was none.'),
    attempts: integer('How often it was attempted.'),
    status: orNull(integer(), 'The HTTP status of the last attempt; null: no response.'),
    problem: orNull(oneOf(Object.keys(problems)), 'Why the last attempt has no status.'),
    message: string('The outcome of the last attempt, in words.'),
    created_at: createdAt(),
    tried_at: timestampOrNull('When it was last attempted; null: not yet.'),
    next_attempt_at: timestampOrNull('When it is attempted next; null: there is no other attempt.'),
  },
  'A logout token, and what became of it.',
);

const show = ({ id, value }: LogoutDelivery) => ({
  id,
  client_id: value.clientId,
  is_test: value.isTest === true,
  user_id: value.sub,
  sid: value.sid,
  state: value.state,
  address: value.origin ?? null,
  attempts: value.attempts,
  status: value.status ?? null,
  problem: value.problem ?? null,
  message: wordsOf(value),
  created_at: iso(value.createdAt),
  tried_at: isoOrNull(value.triedAt),
  next_attempt_at: value.state === 'queued' ? iso(value.dueAt) : null,
});

const list: ListDefinition<LogoutDeliveryRecord> = {
  name: 'logout-deliveries',
  collection,
  sorts: ['created_at', 'state', 'id'],
  defaultOrder: 'desc',
  filters: { state: { schema: oneOf([...states], 'Only deliveries in this state.') } },
  times: ['created_at'],
};

const calledAddressesSchema = object(
  { items: addressesSchema('Its `jwks_uri` and `backchannel_logout_uri`, where it has them.') },
  'The addresses that this server calls for the application.',
);

const clientOf = async (clientId: string, { clients }: AdminPorts) =>
  atVersion(await clients.find(clientId), 'client.not_found');

export const clientDeliveries = defineResource(
  {
    path: '/clients/{client_id}/logout-deliveries',
    tag: 'Applications',
    target: 'client',
    view: deliverySchema,
    present: (items: readonly LogoutDelivery[]) => items.map(show),
  },
  (on) => ({
    addresses: on.route('GET /clients/{client_id}/called-addresses', {
      summary: 'Read which addresses this server calls for an application, and whether it can',
      params: clientIdParams,
      answer: calledAddressesSchema,
      async run({ params }, ports) {
        const { value } = await clientOf(params.client_id, ports);
        return { data: { items: (await ports.readCalledAddresses(value)).map(showAddress) } };
      },
    }),
    list: on.list({
      summary: 'List the logout tokens of an application and what became of them, the latest first',
      params: clientIdParams,
      before: ({ params }, ports) => clientOf(params.client_id, ports),
      list,
      query: (wanted, ports, { params }) => ports.logoutDeliveries.query(params.client_id, wanted),
      recordOf: ({ value }) => value,
    }),
    test: on.route('POST /clients/{client_id}/test-logout', {
      isUnversioned: true,
      summary: 'Send a logout token for a user and a session that do not exist, at once',
      recorded: { event: 'client.logout_tested', target: 'client' },
      params: clientIdParams,
      answer: deliverySchema,
      async run({ params }, ports) {
        await clientOf(params.client_id, ports);
        const data = show(await ports.logoutDeliveries.sendTest(params.client_id));
        const isDelivered = data.state === 'delivered';
        return {
          data,
          recorded: isDelivered ? {} : { outcome: 'failure', reason: data.problem ?? data.state },
        };
      },
    }),
  }),
);
