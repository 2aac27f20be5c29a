// The JSON of applications in the admin API, derived from the member lists of src/clients: RFC 7591 members, members that
// only an administrator sets, and read-only members.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
  type TProperties,
  type TSchema,
  Unsafe,
} from 'typebox';
import { groupNamePattern } from '../../../accounts/index.ts';
import {
  ACR,
  accountScopes,
  adminGrantTypes,
  adminScopes,
  allowedGroupsSetting,
  approvedAddressesSetting,
  audienceSetting,
  authenticationSettings,
  authMethods,
  type ClientView,
  defaultResourceSetting,
  flagSettings,
  legacyResponseTypes,
  lifetimeSettings,
  type MemberName,
  type MemberType,
  metadataMembers,
  openGrantTypes,
  openScopes,
  plainResponseModes,
  profileSetting,
  requestObjectAlgorithms,
  signedResponseModes,
  signedResponseSetting,
  tokenSigningAlgorithms,
  webOriginsSetting,
} from '../../../clients/index.ts';
import { oneLine } from '../../../model/text-kinds.ts';
import {
  createdAt,
  DOCUMENTED,
  type Keywords,
  nullable,
  strict,
  timestamp,
  updatedAt,
} from '../../api/schema-parts.ts';
import { addressesSchema, type showAddress } from './called-addresses.ts';

// These are the JSON types only; src/clients validates values and lengths.
const memberSchemas: Readonly<
  Record<
    MemberType,
    (options: { description: string; examples?: unknown[]; [DOCUMENTED]?: Keywords }) => TSchema
  >
> = {
  string: (options) => StringSchema({ ...options, maxLength: 2000 }),
  strings: (options) => ArraySchema(StringSchema({ maxLength: 2000 }), { ...options, maxItems: 50 }),
  boolean: (options) => BooleanSchema(options),
  integer: (options) => Integer({ ...options, minimum: 0 }),
  object: (options) => ObjectSchema({}, options),
};

const oneOf = (...values: readonly string[]) => ({ enum: values });
const someOf = (...values: readonly string[]) => ({ items: { type: 'string', enum: values } });
const text = { minLength: 1, pattern: oneLine };
// RFC 3986 §2, without wildcards and fragments, which are never registered.
const uri = "[!$%&'()+-;=?@A-Z_a-z~\\[\\]]+";
const origin = { pattern: '^https?://[^/?#@ ]+$' };
const page = { format: 'uri', pattern: `^https?://${uri}$` };
const redirects = {
  items: { type: 'string', format: 'uri', maxLength: 2000, pattern: `^[A-Za-z][A-Za-z0-9+.-]*:${uri}$` },
};
const scopes = [...openScopes, ...accountScopes, ...adminScopes].join('|');

/** The rules of src/clients about one member, as far as JSON Schema can express them. */
const rules = new Map<string, Keywords>(
  Object.entries({
    client_name: { minLength: 1, maxLength: 200, pattern: oneLine },
    application_type: oneOf('web', 'native'),
    redirect_uris: redirects,
    post_logout_redirect_uris: redirects,
    grant_types: someOf(...openGrantTypes, ...adminGrantTypes),
    response_types: someOf('code', ...legacyResponseTypes),
    request_uris: { maxItems: 8, items: { type: 'string', format: 'uri', maxLength: 2000 } },
    request_object_signing_alg: oneOf(...requestObjectAlgorithms),
    frontchannel_logout_uri: page,
    response_modes: { minItems: 1, ...someOf(...plainResponseModes, ...signedResponseModes) },
    scope: { minLength: 1, maxLength: 1000, pattern: `^(?:${scopes})(?: (?:${scopes}))*$` },
    token_endpoint_auth_method: oneOf(...authMethods),
    token_endpoint_auth_signing_alg: { pattern: '^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$' },
    jwks: {
      required: ['keys'],
      properties: {
        keys: {
          type: 'array',
          maxItems: 20,
          items: { type: 'object', required: ['kty'] },
          description: 'The public keys, as JSON Web Keys.',
        },
      },
    },
    jwks_uri: page,
    id_token_signed_response_alg: oneOf(...tokenSigningAlgorithms),
    userinfo_signed_response_alg: oneOf(...tokenSigningAlgorithms),
    subject_type: oneOf('public'),
    default_max_age: { maximum: Number.MAX_SAFE_INTEGER },
    default_acr_values: someOf(...Object.values(ACR)),
    backchannel_logout_uri: page,
    initiate_login_uri: page,
    client_uri: page,
    logo_uri: page,
    policy_uri: page,
    tos_uri: page,
    contacts: { items: { type: 'string', format: 'email', maxLength: 254 } },
    software_id: text,
    software_version: text,
  } satisfies Partial<Record<MemberName, Keywords>>),
);

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

type Wrap = (schema: TSchema, about: { description: string }) => TSchema;

/** @param isGiven in a request: responses may hold what earlier versions accepted */
function members(wrap: Wrap, isGiven: boolean): TProperties {
  const entries = Object.entries(metadataMembers).map(([name, { type, description }]) => {
    const rule = isGiven ? rules.get(name) : undefined;
    const ruled = rule === undefined ? {} : { [DOCUMENTED]: rule };
    return [
      name,
      Optional(wrap(memberSchemas[type]({ description, ...examplesOf(name), ...ruled }), { description })),
    ];
  });
  return Object.fromEntries(entries);
}

const given = (wrap: Wrap): TProperties => members(wrap, true);
const unwrapped: Wrap = (schema) => schema;

const lifetimes: Readonly<Record<string, string>> = {
  access_token_seconds: 'How long its access tokens are valid',
  id_token_seconds: 'How long its ID tokens are valid',
  refresh_token_seconds: 'How long its refresh tokens are valid without being used',
};

const oneOrNull = (setting: { readonly values: readonly string[]; readonly description: string }) =>
  Optional(nullable(Enum([...setting.values]), { description: setting.description, examples: [null] }));

/** @param isGiven as for members */
function settings(isGiven: boolean): TProperties {
  const ruled = (rule: Keywords) => (isGiven ? { [DOCUMENTED]: rule } : {});
  const properties: TProperties = {};
  for (const [name, { isNullable, description }] of Object.entries(flagSettings)) {
    const schema = BooleanSchema({ description });
    properties[name] = Optional(isNullable ? nullable(schema, { description }) : schema);
  }
  const { maxItems, maxLength, description } = allowedGroupsSetting;
  const name = StringSchema({ maxLength, ...ruled({ pattern: groupNamePattern }) });
  const names = ArraySchema(name, { maxItems });
  properties.allowed_groups = Optional(nullable(names, { description, examples: [['staff']] }));
  properties.web_origins = Optional(
    ArraySchema(StringSchema({ maxLength: webOriginsSetting.maxLength, ...ruled(origin) }), {
      maxItems: webOriginsSetting.maxItems,
      description: webOriginsSetting.description,
      examples: [['https://app.example.com']],
    }),
  );
  properties.profile = oneOrNull(profileSetting);
  properties.authorization_signed_response_alg = oneOrNull(signedResponseSetting);
  const { required_acr: acr, max_auth_age: age } = authenticationSettings;
  properties.required_acr = oneOrNull(acr);
  const { values: audiences, description: audience } = audienceSetting;
  properties.access_token_audience = Optional(Enum([...audiences], { description: audience }));
  const { description: resource, maxLength: longest } = defaultResourceSetting;
  properties.default_resource = Optional(
    nullable(StringSchema({ maxLength: longest }), { description: resource, examples: [null] }),
  );
  properties.max_auth_age = Optional(
    nullable(Integer(age), { description: age.description, examples: [null] }),
  );
  const { description: approved, ...limits } = approvedAddressesSetting;
  properties.approved_addresses = Optional(
    ArraySchema(StringSchema({ maxLength: limits.maxLength }), {
      maxItems: limits.maxItems,
      description: approved,
      examples: [[]],
    }),
  );
  for (const [name, { minimum, maximum }] of Object.entries(lifetimeSettings)) {
    const description = `${lifetimes[name]}, in seconds; null: the runtime setting applies.`;
    properties[name] = Optional(nullable(Integer({ minimum, maximum }), { description, examples: [null] }));
  }
  return properties;
}

const clientType = () =>
  Enum(['confidential', 'public'], {
    description:
      'Whether it authenticates at the token endpoint; `public`: `token_endpoint_auth_method` is `none`.',
  });

/** `client_type` is accepted instead of `token_endpoint_auth_method`. */
const created: TProperties = {
  ...given(unwrapped),
  ...settings(true),
  client_type: Optional(clientType()),
};
export const newClientSchema = ObjectSchema(created, strict);

export const replacedClientSchema = ObjectSchema({ ...given(unwrapped), ...settings(true) }, strict);

export const changedClientSchema = ObjectSchema({ ...given(nullable), ...settings(true) }, strict);

const shown: TProperties = {
  client_id: StringSchema({ description: 'Identifies the application.' }),
  ...members(unwrapped, false),
  ...settings(false),
  client_type: clientType(),
  pkce_required_at: nullable(timestamp(), {
    description:
      'When PKCE became required because the application had used it 20 times in a row; null: it did not.',
  }),
  origin: Enum(['admin', 'registration', 'seed'], {
    description:
      'How it was created: by an administrator, by dynamic registration, or with the installation (`seed`: this product itself).',
  }),
  quarantine: nullable(Enum(['registration', 'document']), {
    description:
      'How it came, if nobody vouched for it: by open registration, or by the metadata document whose address is its id. ' +
      'Such an application stays confined (docs/agents.md).',
  }),
  last_used_at: nullable(timestamp(), {
    description:
      'Of an application with `quarantine`: the day on which it last got tokens, to within a day; of others null.',
  }),
  created_at: createdAt(),
  updated_at: updatedAt(),
};

const described = { ...strict, description: 'An application: metadata (RFC 7591) and settings.' };

/** Derived from lists of members, so that the types come from what src/clients shows. */
export const clientSchema = Unsafe<ClientView>(ObjectSchema(shown, described));

export const clientWithSecretSchema = Unsafe<
  ClientView & { readonly client_secret?: string; readonly unreachable?: ReturnType<typeof showAddress>[] }
>(
  ObjectSchema(
    {
      ...shown,
      client_secret: Optional(
        StringSchema({ description: 'The new secret; only this response contains it.', examples: ['kX3n…'] }),
      ),
      unreachable: Optional(
        addressesSchema(
          'The addresses of this request that this server cannot call; absent: it can call all.',
        ),
      ),
    },
    described,
  ),
);
