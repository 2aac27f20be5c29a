// The JSON of applications in the admin API, derived from the member lists of src/clients: RFC 7591 members, members that
// only an administrator sets, and read-only members.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Null,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
  type TProperties,
  type TSchema,
  Union,
  Unsafe,
} from 'typebox';
import {
  allowedGroupsSetting,
  approvedAddressesSetting,
  authenticationSettings,
  type ClientView,
  flagSettings,
  lifetimeSettings,
  type MemberType,
  metadataMembers,
  webOriginsSetting,
} from '../../../clients/index.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { addressesSchema, type showAddress } from './called-addresses.ts';

// These are the JSON types only; src/clients validates values and lengths.
const memberSchemas: Readonly<
  Record<MemberType, (options: { description: string; examples?: unknown[] }) => TSchema>
> = {
  string: (options) => StringSchema({ ...options, maxLength: 2000 }),
  strings: (options) => ArraySchema(StringSchema({ maxLength: 2000 }), { ...options, maxItems: 50 }),
  boolean: (options) => BooleanSchema(options),
  integer: (options) => Integer({ ...options, minimum: 0 }),
  object: (options) => ObjectSchema({}, options),
};

/** Descriptions of members whose type is not self-explanatory. */
const examples: Readonly<Record<string, unknown>> = {
  client_name: 'Acme',
  client_uri: 'https://app.example.com/',
  logo_uri: 'https://app.example.com/logo.png',
  policy_uri: 'https://app.example.com/privacy',
  tos_uri: 'https://app.example.com/terms',
  contacts: ['admin@example.com'],
  application_type: 'web',
  response_modes: ['query'],
  token_endpoint_auth_method: 'client_secret_basic',
  token_endpoint_auth_signing_alg: 'RS256',
  id_token_signed_response_alg: 'RS256',
  userinfo_signed_response_alg: 'RS256',
  subject_type: 'public',
  default_acr_values: [],
  backchannel_logout_uri: 'https://app.example.com/signed-out',
  initiate_login_uri: 'https://app.example.com/sign-in',
  software_id: 'acme-web',
  software_version: '2.1',
  redirect_uris: ['https://app.example.com/callback'],
  post_logout_redirect_uris: ['https://app.example.com/'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid profile email',
};

const examplesOf = (name: string): { examples?: unknown[] } =>
  Object.hasOwn(examples, name) ? { examples: [examples[name]] } : {};

type Wrap = (schema: TSchema) => TSchema;

function members(wrap: Wrap): TProperties {
  const entries = Object.entries(metadataMembers).map(([name, { type, description }]) => [
    name,
    Optional(wrap(memberSchemas[type]({ description, ...examplesOf(name) }))),
  ]);
  return Object.fromEntries(entries);
}

function settings(): TProperties {
  const properties: TProperties = {};
  for (const [name, { isNullable, description }] of Object.entries(flagSettings)) {
    const schema = BooleanSchema({ description });
    properties[name] = Optional(isNullable ? Union([schema, Null()]) : schema);
  }
  const { maxItems, maxLength, description } = allowedGroupsSetting;
  const names = ArraySchema(StringSchema({ maxLength }), { maxItems, description });
  properties.allowed_groups = Optional(Union([names, Null()], { examples: [['staff']] }));
  properties.web_origins = Optional(
    ArraySchema(StringSchema({ maxLength: webOriginsSetting.maxLength }), {
      maxItems: webOriginsSetting.maxItems,
      description: webOriginsSetting.description,
      examples: [['https://app.example.com']],
    }),
  );
  const { required_acr: acr, max_auth_age: age } = authenticationSettings;
  properties.required_acr = Optional(
    Union([Enum([...acr.values]), Null()], { description: acr.description, examples: [null] }),
  );
  properties.max_auth_age = Optional(Union([Integer(age), Null()], { examples: [null] }));
  const { description: approved, ...limits } = approvedAddressesSetting;
  properties.approved_addresses = Optional(
    ArraySchema(StringSchema({ maxLength: limits.maxLength }), {
      maxItems: limits.maxItems,
      description: approved,
      examples: [[]],
    }),
  );
  for (const [name, { minimum, maximum }] of Object.entries(lifetimeSettings)) {
    const description = 'Seconds; null: as the runtime setting says.';
    properties[name] = Optional(
      Union([Integer({ minimum, maximum, description }), Null()], { examples: [null] }),
    );
  }
  return properties;
}

const clientType = () => Enum(['confidential', 'public']);

/** `client_type` is accepted instead of `token_endpoint_auth_method`. */
const created: TProperties = {
  ...members((schema) => schema),
  ...settings(),
  client_type: Optional(clientType()),
};
export const newClientSchema = ObjectSchema(created, strict);

export const replacedClientSchema = ObjectSchema({ ...members((schema) => schema), ...settings() }, strict);

export const changedClientSchema = ObjectSchema(
  { ...members((schema) => Union([schema, Null()])), ...settings() },
  strict,
);

const shown: TProperties = {
  client_id: StringSchema(),
  ...members((schema) => schema),
  ...settings(),
  client_type: clientType(),
  pkce_required_at: nullable(timestamp(), {
    description: 'Since when it requires PKCE by itself, having used it 20 times in a row.',
  }),
  origin: Enum(['admin', 'registration', 'seed']),
  created_at: timestamp(),
  updated_at: timestamp(),
};

/** Derived from lists of members, so that the types come from what src/clients shows. */
export const clientSchema = Unsafe<ClientView>(ObjectSchema(shown, strict));

export const clientWithSecretSchema = Unsafe<
  ClientView & { readonly client_secret?: string; readonly unreachable?: ReturnType<typeof showAddress>[] }
>(
  ObjectSchema(
    {
      ...shown,
      client_secret: Optional(
        StringSchema({ description: 'Shown in this answer only.', examples: ['kX3n…'] }),
      ),
      unreachable: Optional(
        addressesSchema(
          'The addresses of this request that this server cannot call; absent: it can call all.',
        ),
      ),
    },
    strict,
  ),
);
