// An API, one row per member of its JSON (decision 0026).
import { demandRows } from '../api-rows.ts';
import { datedRows } from '../dated-rows.ts';
import { choice, flag } from '../kinds.ts';
import { rowWith } from '../row.ts';
import { anyText, name } from '../text-kinds.ts';
import { claims, clients, grants, identifier, scopes } from './kinds.ts';

const row = rowWith<{ readonly example?: unknown }>();

const byServer = {
  hint: null,
  setBy: 'server',
  shownTo: 'administrator',
  sensitivity: 'sensitive',
  reported: 'value',
} as const;
const byAdministrators = { ...byServer, setBy: 'administrator', isAlwaysStored: true } as const;
const flagged = { ...byServer, setBy: 'administrator', absent: false } as const;
const CLIENT = 'b2f0a7c4-5a0e-4c2e-8a3f-2f7f6f0d9c11';

export const apiRows = {
  id: row(anyText(128), {
    ...byServer,
    stored: 'id',
    absent: '',
    label: 'API',
    description: 'Random; an API created again under its identifier has another.',
  }),
  identifier: row(identifier, {
    ...byServer,
    stored: 'identifier',
    absent: '',
    label: 'Identifier',
    description:
      'What `resource` names it by and the `aud` of its tokens: an absolute URI without query, fragment and user. It ' +
      'never changes.',
    hint: 'The audience of its tokens: best its address, such as https://api.example.com. It cannot be changed later.',
    example: 'https://api.example.com/orders',
  }),
  name: row(name(200), {
    ...byAdministrators,
    stored: 'name',
    absent: '',
    label: 'Name',
    description: 'What the consent page calls it.',
    hint: 'Users see it when an application asks for access to the API.',
    example: 'Orders',
  }),
  scopes: row(scopes, {
    ...byAdministrators,
    stored: 'scopes',
    absent: [],
    isSpecial: true,
    label: 'Scopes',
    description:
      'What applications may do there. A scope keeps what it gave as long as its name stays in the list.',
    // Whole: the names of its members mean something else elsewhere.
    example: [
      { name: 'orders:read', description: 'See your orders', is_default: true, roles: [], groups: [] },
    ],
  }),
  clients: row(clients, {
    ...byAdministrators,
    stored: 'clients',
    absent: 'all',
    label: 'Applications',
    description:
      '`all`: every application that administrators created; or the client ids of those that may ask for it. Applications ' +
      'that registered themselves must be listed, and `skip_consent` of an application counts only where it is listed.',
    example: 'all',
  }),
  is_open_to_agents: row(flag, {
    ...flagged,
    stored: 'isOpenToAgents',
    label: 'Open to agents',
    description:
      'Whether applications that no administrator vouches for may ask for it (setting `agents`). They never get roles or groups.',
  }),
  machine_grants: row(grants, {
    ...byAdministrators,
    stored: 'machineGrants',
    absent: {},
    isSpecial: true,
    label: 'Without a user',
    description:
      'Which scopes an application gets for itself, by client id; without an entry `client_credentials` gets none.',
    example: {},
  }),
  claims: row(claims, {
    ...byAdministrators,
    stored: 'claims',
    absent: [],
    label: 'Claims in its tokens',
    description:
      'Which claims about the user its tokens carry, for applications that may have the scope of that name.',
    example: ['roles'],
  }),
  access_token_format: row(choice({ 'at+jwt': 'JWT', jwt: 'JWT for older libraries', opaque: 'Opaque' }), {
    ...byAdministrators,
    stored: 'accessTokenFormat',
    absent: 'at+jwt',
    label: 'Format of its tokens',
    description:
      '`at+jwt` (RFC 9068); `jwt`: the same with `typ: JWT`, for APIs that refuse other types; `opaque`: only ' +
      'introspection says what it is worth, so that a revocation counts at once.',
  }),
  ...demandRows,
  require_dpop: row(flag, {
    ...flagged,
    stored: 'isDpopRequired',
    label: 'Bind its tokens to a key (DPoP)',
    description:
      'Whether its tokens are always bound to a key of the application (RFC 9449). A token request without a proof is refused.',
  }),
  introspection_client_id: row(anyText(128), {
    ...byServer,
    stored: 'introspectionClientId',
    absent: '',
    label: 'Client ID of the API',
    description: 'With the secret, what the API itself introspects with (RFC 7662). It gets no tokens.',
    example: `api-${CLIENT}`,
  }),
  ...datedRows,
};

/** Of a new one its identifier is given. */
export const newApiRows = () => ({
  ...apiRows,
  identifier: { ...apiRows.identifier, setBy: 'administrator' as const },
});
