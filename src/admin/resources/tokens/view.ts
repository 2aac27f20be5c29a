// The JSON of issued tokens and grants, without the token values.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Object as ObjectSchema,
  String as StringSchema,
} from 'typebox';
import type { IssuedGrant, IssuedToken } from '../../../sessions/index.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';

export const tokenKinds = ['refresh_token', 'access_token', 'client_credentials'] as const;

export const tokenSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'Names the token; it is not the token.' }),
    kind: Enum([...tokenKinds]),
    user_id: nullable(StringSchema()),
    client_id: nullable(StringSchema()),
    grant_id: nullable(StringSchema()),
    session_id: nullable(StringSchema()),
    scopes: ArraySchema(StringSchema()),
    created_at: timestamp(),
    expires_at: nullable(timestamp()),
  },
  strict,
);

export const grantSchema = ObjectSchema(
  {
    id: StringSchema(),
    user_id: nullable(StringSchema()),
    client_id: nullable(StringSchema()),
    client_name: nullable(StringSchema()),
    session_id: nullable(StringSchema()),
    scopes: ArraySchema(StringSchema()),
    is_first_party: BooleanSchema({ description: 'Given without asking the person.' }),
    created_at: timestamp(),
    expires_at: nullable(timestamp()),
  },
  strict,
);

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const scopesOf = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : [];
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const times = ({ value, expiresAt }: IssuedGrant) => ({
  created_at: new Date(typeof value.iat === 'number' ? value.iat * 1000 : 0).toISOString(),
  expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
});

export const toToken = (token: IssuedToken) => ({
  id: token.id,
  kind: token.kind,
  user_id: textOf(token.value.accountId),
  client_id: textOf(token.value.clientId),
  grant_id: textOf(token.value.grantId),
  session_id: textOf(token.value.sessionUid),
  scopes: scopesOf(token.value.scope),
  ...times(token),
});

/** @param client the application's data; absent when it was deleted */
export const toGrant = (
  grant: IssuedGrant,
  client: { readonly name: string; readonly isFirstParty: boolean } | undefined,
) => ({
  id: grant.id,
  user_id: textOf(grant.value.accountId),
  client_id: textOf(grant.value.clientId),
  client_name: client?.name ?? null,
  session_id: textOf(grant.value.sessionUid),
  scopes: scopesOf(member(grant.value.openid, 'scope')),
  is_first_party: client?.isFirstParty ?? false,
  ...times(grant),
});
