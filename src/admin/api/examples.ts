// Generates example requests and responses from the schemas, so that documents never show a field that does not exist.

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
import { memberOf } from '../../json.ts';
import { amrOf } from '../../model/ways-to-sign-in.ts';

const ID = '7f1c9f0e-3c1b-4d52-9a51-0f6c2f3a8e10';
const TIME = '2026-01-31T12:00:00.000Z';

/** By field name, for fields that several resources share. A schema's own `examples` take precedence: add new ones there. */
const known: Readonly<Record<string, unknown>> = {
  id: ID,
  user_id: ID,
  client_id: 'b2f0a7c4-5a0e-4c2e-8a3f-2f7f6f0d9c11',
  grant_id: 'pZ3mC0aYq8Xw',
  session_id: 'x8Jq1VfT2mLk',
  username: 'grace.hopper',
  email: 'grace@example.com',
  password_hash: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
  name: 'Grace Hopper',
  client_name: 'Acme',
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
  amr: [...amrOf('password'), ...amrOf('email_code')],
  aaguid: '00000000-0000-0000-0000-000000000000',
  url: 'https://id.example.com/oauth2/signup?token=…',
  created_by: 'user:7f1c9f0e-3c1b-4d52-9a51-0f6c2f3a8e10',
  scope: 'openid profile email',
  scopes: ['admin:read'],
  groups: ['staff'],
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
  deletion_due_at: null,
  locked_until: null,
  values: { product_name: 'Acme' },
};

/** Members that cannot be combined with the rest. */
const withoutExample: ReadonlySet<string> = new Set(['error', 'jwks', 'jwks_uri']);

const TELLING = 3;

/** @param isShort omits optional members except the first few */
function objectOf(schema: TObject, isShort: boolean): object {
  const required = new Set<string>(schema.required ?? []);
  const names = Object.keys(schema.properties);
  const optional = names.filter((name) => !required.has(name) && !withoutExample.has(name));
  const shown = new Set([...required, ...optional.slice(0, isShort ? TELLING : undefined)]);
  const entries = Object.entries(schema.properties)
    .filter(([name]) => shown.has(name))
    .map(([name, of]) => [name, exampleFor(of, name, isShort)])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function exampleFor(schema: TSchema, name: string, isShort: boolean): unknown {
  const examples = memberOf(schema, 'examples');
  if (Array.isArray(examples)) return examples[0];
  if (Object.hasOwn(known, name) && Check(schema, known[name])) return known[name];
  if (IsUnion(schema)) return exampleFor(schema.anyOf[0] ?? schema, name, isShort);
  if (IsObject(schema) && Object.keys(schema.properties).length > 0) return objectOf(schema, isShort);
  if (IsEnum(schema)) return schema.enum[0];
  if (IsLiteral(schema)) return schema.const;
  if (IsArray(schema)) return [exampleFor(schema.items, name, isShort)].filter((item) => item !== undefined);
  if (IsBoolean(schema)) return true;
  if (IsInteger(schema) || IsNumber(schema))
    return memberOf(schema, 'default') ?? memberOf(schema, 'minimum') ?? 0;
  if (IsNull(schema)) return null;
  if (memberOf(schema, 'format') === 'date-time') return TIME;
  return memberOf(schema, 'type') === 'object' ? {} : '…';
}

/** @returns a value that fits the schema, with every field; `short`: with the most common fields only */
export const exampleOf = (schema: TSchema, length: 'whole' | 'short' = 'whole'): unknown =>
  exampleFor(schema, '', length === 'short');
