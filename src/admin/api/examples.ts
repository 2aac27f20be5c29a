// Owns examples of what goes in and out, made from the schemas, so that documents show no field that there is not.
import {
  IsArray,
  IsBoolean,
  IsEnum,
  IsInteger,
  IsLiteral,
  IsNull,
  IsNumber,
  IsObject,
  IsUnion,
  type TObject,
  type TSchema,
} from 'typebox';
import { Check } from 'typebox/value';

const ID = '7f1c9f0e-3c1b-4d52-9a51-0f6c2f3a8e10';
const TIME = '2026-01-31T12:00:00.000Z';

/** By name, where the type alone would tell nothing. */
const told: Readonly<Record<string, unknown>> = {
  id: ID,
  user_id: ID,
  client_id: 'b2f0a7c4-5a0e-4c2e-8a3f-2f7f6f0d9c11',
  grant_id: 'pZ3mC0aYq8Xw',
  session_id: 'x8Jq1VfT2mLk',
  username: 'grace.hopper',
  email: 'grace@example.com',
  password: 'seven tall lanterns',
  password_hash: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
  name: 'Grace Hopper',
  given_name: 'Grace',
  family_name: 'Hopper',
  middle_name: 'Brewster',
  nickname: 'Grace',
  profile: 'https://example.com/grace',
  picture: 'https://example.com/grace.png',
  website: 'https://example.com/',
  gender: 'female',
  birthdate: '1906-12-09',
  zoneinfo: 'America/New_York',
  locale: 'en-US',
  formatted: '1 Main Street, Arlington, VA 22201, USA',
  street_address: '1 Main Street',
  locality: 'Arlington',
  region: 'VA',
  postal_code: '22201',
  country: 'USA',
  phone_number: '+1 202 555 0117',
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
  access_token_seconds: null,
  id_token_seconds: null,
  refresh_token_seconds: null,
  client_secret: 'kX3n…',
  token: 'iat_…',
  api_key: 'lk_…',
  authenticator: 'YubiKey 5 Series',
  transports: ['usb'],
  counter_went_back_at: null,
  used_at: null,
  ended_at: null,
  last_error: null,
  problem: null,
  template: 'password-reset',
  subject: 'Set a new password',
  text: 'Somebody asked for a new password …',
  html: null,
  kid: 'mE2b6Qyq',
  target_kind: 'user',
  target_id: ID,
  actor_id: ID,
  reason: null,
  request_id: '5f0c6a3e-8f0e-4a53-9f0a-8a7f0c1f5b1e',
  type: 'integer',
  min: 1,
  max: 100,
  group: 'Protection',
  description: 'People on the third floor.',
  updated_by: 'user:7f1c9f0e-3c1b-4d52-9a51-0f6c2f3a8e10',
  key: 'lockout_threshold',
  from: 5,
  value: 5,
  default: 5,
  event: 'user.created',
  amr: ['pwd', 'otp'],
  aaguid: '00000000-0000-0000-0000-000000000000',
  url: 'https://id.example.com/oauth2/signup?token=…',
  created_by: 'user:7f1c9f0e-3c1b-4d52-9a51-0f6c2f3a8e10',
  redirect_uris: ['https://app.example.com/callback'],
  post_logout_redirect_uris: ['https://app.example.com/'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid profile email',
  scopes: ['admin:read'],
  groups: ['staff'],
  allowed_groups: ['staff'],
  display_name: 'Staff',
  label: 'Nightly export',
  to: 'grace@example.com',
  ip_address: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
  device: 'Firefox on Linux',
  limit: 50,
  next: null,
  total: 1,
  line: 1,
  locked_until: null,
  values: { product_name: 'Acme' },
};

/** What does not go together with the rest. */
const untold: ReadonlySet<string> = new Set(['error', 'jwks', 'jwks_uri']);

const TELLING = 3;

const member = (schema: TSchema, name: string): unknown => Reflect.get(schema, name);

/** @param isShort leaves out what need not be given, but for the first few */
function objectOf(schema: TObject, isShort: boolean): object {
  const required = new Set<string>(schema.required ?? []);
  const names = Object.keys(schema.properties);
  const optional = names.filter((name) => !required.has(name) && !untold.has(name));
  const shown = new Set([...required, ...optional.slice(0, isShort ? TELLING : undefined)]);
  const entries = Object.entries(schema.properties)
    .filter(([name]) => shown.has(name))
    .map(([name, of]) => [name, exampleFor(of, name, isShort)])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function exampleFor(schema: TSchema, name: string, isShort: boolean): unknown {
  const examples = member(schema, 'examples');
  if (Array.isArray(examples)) return examples[0];
  if (Object.hasOwn(told, name) && Check(schema, told[name])) return told[name];
  if (IsUnion(schema)) return exampleFor(schema.anyOf[0] ?? schema, name, isShort);
  if (IsObject(schema) && Object.keys(schema.properties).length > 0) return objectOf(schema, isShort);
  if (IsEnum(schema)) return schema.enum[0];
  if (IsLiteral(schema)) return schema.const;
  if (IsArray(schema)) return [exampleFor(schema.items, name, isShort)].filter((item) => item !== undefined);
  if (IsBoolean(schema)) return true;
  if (IsInteger(schema) || IsNumber(schema))
    return member(schema, 'default') ?? member(schema, 'minimum') ?? 0;
  if (IsNull(schema)) return null;
  if (member(schema, 'format') === 'date-time') return TIME;
  return member(schema, 'type') === 'object' ? {} : '…';
}

/** @returns a value that fits the schema, with every field; `short`: with the fields that one would give first */
export const exampleOf = (schema: TSchema, length: 'whole' | 'short' = 'whole'): unknown =>
  exampleFor(schema, '', length === 'short');
