// The JSON of APIs in the admin API (decisions §10).
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  Record as RecordSchema,
  type Static,
  String as StringSchema,
  Union,
} from 'typebox';
import { groupNamePattern } from '../../../accounts/index.ts';
import { type Api, type ApiChanges, scopeNamePattern, showDemands } from '../../../apis/index.ts';
import { ACR } from '../../../model/acr.ts';
import { demandRows } from '../../../model/api-rows.ts';
import { oneLine } from '../../../model/text-kinds.ts';
import { EXPECTED } from '../../api/expected.ts';
import { createdAt, DOCUMENTED, iso, nullable, strict, updatedAt } from '../../api/schema-parts.ts';

const IDENTIFIER = 'https://api.example.com/orders';
const SCOPE = 'orders:read';
const CLIENT = 'b2f0a7c4-5a0e-4c2e-8a3f-2f7f6f0d9c11';

const { max_auth_age: age, access_token_seconds: lifetime, required_acr: acr } = demandRows;

/** From and to how many seconds. */
export const durations = { access_token_seconds: lifetime, max_auth_age: age };
const formats = ['at+jwt', 'jwt', 'opaque'] as const;
const roles = ['user', 'auditor', 'admin'] as const;

/** Examples of whole scopes, since the members' names mean something else elsewhere. */
const scopeExample = {
  name: SCOPE,
  description: 'See your orders',
  is_default: true,
  roles: [],
  groups: [],
};

const scopeMembers = {
  name: StringSchema({
    maxLength: 1000,
    description: 'What applications request. Not a name of OpenID Connect, nor one that begins with `admin`.',
    [DOCUMENTED]: { pattern: scopeNamePattern },
  }),
  description: StringSchema({
    maxLength: 1000,
    description: 'What the consent page says that it allows.',
    [DOCUMENTED]: { minLength: 1, maxLength: 300, pattern: oneLine },
  }),
  is_default: BooleanSchema({ description: 'Granted when a request names no scope of the API.' }),
  roles: ArraySchema(Enum([...roles]), {
    maxItems: roles.length,
    description: 'A user needs one of these roles or groups for it; none: every user may have it.',
  }),
  groups: ArraySchema(StringSchema({ maxLength: 64, [DOCUMENTED]: { pattern: groupNamePattern } }), {
    maxItems: 100,
    description: 'Names of groups: see `roles`.',
  }),
};
const scopeSchema = ObjectSchema(
  {
    name: scopeMembers.name,
    description: scopeMembers.description,
    is_default: Optional(scopeMembers.is_default),
    roles: Optional(scopeMembers.roles),
    groups: Optional(scopeMembers.groups),
  },
  strict,
);

const clientIds = ArraySchema(StringSchema({ minLength: 1, maxLength: 200 }), { maxItems: 500 });
const clientsRule = {
  description:
    '`all`: every application that administrators created; or the client ids of those that may ask for it. Applications ' +
    'that registered themselves must be listed, and `skip_consent` of an application counts only where it is listed.',
  examples: ['all'],
  [EXPECTED]: '“all” or a list of at most 500 client ids',
};
const grantsRule = {
  description:
    'Which scopes an application gets for itself, by client id; without an entry `client_credentials` gets none.',
  examples: [{}],
  [EXPECTED]: 'an object: client ids, each with a list of names of scopes',
};
const claimsRule = {
  maxItems: 3,
  description:
    'Which claims about the user its tokens carry, for applications that may have the scope of that name.',
  examples: [['roles']],
};

const fields = {
  clients: Union([Enum(['all']), clientIds], clientsRule),
  is_open_to_agents: BooleanSchema({
    description:
      'Whether applications that no administrator vouches for may ask for it (setting `agents`). They never get roles or groups.',
  }),
  machine_grants: RecordSchema(StringSchema(), ArraySchema(StringSchema({ maxLength: 1000 })), grantsRule),
  claims: ArraySchema(Enum(['profile', 'roles', 'groups']), claimsRule),
  access_token_format: Enum([...formats], {
    description:
      '`at+jwt` (RFC 9068); `jwt`: the same with `typ: JWT`, for APIs that refuse other types; `opaque`: only ' +
      'introspection says what it is worth, so that a revocation counts at once.',
  }),
  access_token_seconds: nullable(Integer({ ...lifetime.kind.schema }), {
    description: lifetime.description,
    examples: [null],
  }),
  required_acr: nullable(Enum(Object.values<string>(ACR)), {
    description: acr.description,
    examples: [null],
  }),
  max_auth_age: nullable(Integer({ ...age.kind.schema }), {
    description: age.description,
    examples: [null],
  }),
  require_dpop: BooleanSchema({
    description:
      'Whether its tokens are always bound to a key of the application (RFC 9449). A token request without a proof is refused.',
  }),
};
const nameMeaning = 'What the consent page calls it.';
const name = StringSchema({
  minLength: 1,
  maxLength: 200,
  pattern: oneLine,
  description: nameMeaning,
  examples: ['Orders'],
});
const scopesMeaning =
  'What applications may do there. A scope keeps what it gave as long as its name stays in the list.';
const scopes = ArraySchema(scopeSchema, {
  maxItems: 100,
  description: scopesMeaning,
  examples: [[scopeExample]],
  [EXPECTED]:
    'a list of at most 100 scopes, each an object with name and description, and optionally is_default (true or false), ' +
    'roles and groups (lists)',
});

const optional = {
  clients: Optional(fields.clients),
  is_open_to_agents: Optional(fields.is_open_to_agents),
  machine_grants: Optional(fields.machine_grants),
  claims: Optional(fields.claims),
  access_token_format: Optional(fields.access_token_format),
  access_token_seconds: Optional(fields.access_token_seconds),
  required_acr: Optional(fields.required_acr),
  max_auth_age: Optional(fields.max_auth_age),
  require_dpop: Optional(fields.require_dpop),
};

const identifier = StringSchema({
  maxLength: 2000,
  description:
    'What `resource` names it by and the `aud` of its tokens: an absolute URI without query, fragment and user. It ' +
    'never changes.',
  examples: [IDENTIFIER],
  [DOCUMENTED]: { format: 'uri', maxLength: 500, pattern: '^[A-Za-z][A-Za-z0-9+.-]*:[^?#% ]+$' },
});

export const newApiSchema = ObjectSchema({ identifier, name, scopes: Optional(scopes), ...optional }, strict);
/** `scopes` is required, so that none ends because it was forgotten. */
export const replacedApiSchema = ObjectSchema({ name, scopes, ...optional }, strict);
export const changedApiSchema = ObjectSchema(
  { name: Optional(name), scopes: Optional(scopes), ...optional },
  strict,
);

const shown = {
  id: StringSchema({ description: 'Random; an API created again under its identifier has another.' }),
  identifier: StringSchema({
    description: 'What `resource` names it by and the `aud` of its tokens; it never changes.',
    examples: [IDENTIFIER],
  }),
  name: StringSchema({ description: nameMeaning, examples: ['Orders'] }),
  scopes: ArraySchema(ObjectSchema(scopeMembers, strict), {
    description: scopesMeaning,
    examples: [[scopeExample]],
  }),
  ...fields,
  introspection_client_id: StringSchema({
    description: 'With the secret, what the API itself introspects with (RFC 7662). It gets no tokens.',
    examples: [`api-${CLIENT}`],
  }),
  created_at: createdAt(),
  updated_at: updatedAt(),
};
export const apiSchema = ObjectSchema(shown, {
  ...strict,
  description: 'An API that access tokens are for.',
});

/** As the list shows it; what an import cannot set is not read. */
export const importedApiSchema = ObjectSchema(
  {
    identifier,
    name,
    scopes,
    ...optional,
    id: Optional(
      StringSchema({ maxLength: 128, description: 'Not read: an API is found by its identifier.' }),
    ),
    introspection_client_id: Optional(
      StringSchema({ maxLength: 128, description: 'Not read: an API keeps its own.' }),
    ),
    created_at: Optional(StringSchema({ maxLength: 40, description: 'Not read.' })),
    updated_at: Optional(StringSchema({ maxLength: 40, description: 'Not read.' })),
  },
  strict,
);

export type ApiView = Static<typeof apiSchema>;

export const apiWithSecretSchema = ObjectSchema(
  {
    ...shown,
    introspection_client_secret: StringSchema({
      description: 'The new secret; only this response contains it.',
      examples: ['kX3n…'],
    }),
  },
  { ...strict, description: 'An API, with the secret that only this response contains.' },
);

export function showApi({ id, value }: Api): ApiView {
  const nameOf = new Map(value.scopes.map((scope) => [scope.id, scope.name]));
  return {
    id,
    identifier: value.identifier,
    name: value.name,
    scopes: value.scopes.map((scope) => ({
      name: scope.name,
      description: scope.description,
      is_default: scope.isDefault,
      roles: scope.roles ?? [],
      groups: scope.groups ?? [],
    })),
    clients: value.clients,
    is_open_to_agents: value.isOpenToAgents === true,
    machine_grants: Object.fromEntries(
      value.machineGrants.map(({ clientId, scopeIds }) => [
        clientId,
        scopeIds.map((scope) => nameOf.get(scope) ?? '').filter(Boolean),
      ]),
    ),
    claims: value.claims,
    access_token_format: value.accessTokenFormat,
    ...showDemands(value),
    require_dpop: value.isDpopRequired === true,
    introspection_client_id: value.introspectionClientId,
    created_at: iso(value.createdAt),
    updated_at: iso(value.updatedAt),
  };
}

export const readApi = (body: Static<typeof changedApiSchema>): ApiChanges => ({
  name: body.name,
  scopes: body.scopes?.map(({ is_default: isDefault, ...scope }) => ({ ...scope, isDefault })),
  clients: body.clients,
  isOpenToAgents: body.is_open_to_agents,
  machineGrants: body.machine_grants,
  claims: body.claims,
  accessTokenFormat: body.access_token_format,
  demands: body,
  isDpopRequired: body.require_dpop,
});
