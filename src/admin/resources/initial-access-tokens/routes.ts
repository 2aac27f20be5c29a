// Owns the routes of RFC 7591 §3 initial access tokens: with one, somebody else may register an application.
import { Integer, Object as ObjectSchema, Optional, String as StringSchema } from 'typebox';
import type { InitialAccessToken, InitialAccessTokens } from '../../../clients/initial-access-tokens.ts';
import type { Clock } from '../../../clock.ts';
import {
  initialAccessTokens as collection,
  type InitialAccessTokenRecord,
} from '../../../store/collections.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { strict, timestamp } from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

interface Deps {
  readonly initialAccessTokens: Pick<InitialAccessTokens, 'create' | 'query' | 'remove'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<InitialAccessTokenRecord> = {
  name: 'initial-access-tokens',
  collection,
  sorts: ['created_at', 'id'],
  defaultOrder: 'desc',
  times: ['created_at'],
};

const querySchema = listQuerySchema(list);
const DEFAULT_EXPIRY_SECONDS = 86_400;
const MAX_EXPIRY_SECONDS = 31_536_000;

const shown = {
  id: StringSchema({ description: 'Names the token; it is not the token.' }),
  label: StringSchema(),
  uses_left: Integer(),
  created_at: timestamp(),
  expires_at: timestamp(),
};

const tokenSchema = ObjectSchema(shown, strict);
const newTokenSchema = ObjectSchema(
  {
    label: StringSchema({ minLength: 1, maxLength: 200 }),
    uses: Optional(Integer({ minimum: 1, maximum: 10_000, default: 1 })),
    expires_in_seconds: Optional(
      Integer({ minimum: 60, maximum: MAX_EXPIRY_SECONDS, default: DEFAULT_EXPIRY_SECONDS }),
    ),
  },
  strict,
);
const createdTokenSchema = ObjectSchema(
  { ...shown, token: StringSchema({ description: 'The bearer token; shown in this answer only.' }) },
  strict,
);

const show = (token: InitialAccessToken) => ({
  id: token.id,
  label: token.label,
  uses_left: token.usesLeft,
  created_at: new Date(token.createdAt).toISOString(),
  expires_at: new Date(token.expiresAt).toISOString(),
});

const tag = 'Initial access tokens';

export function initialAccessTokenRoutes({ initialAccessTokens, cursors, clock }: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/initial-access-tokens',
      sensitivity: 'sensitive',
      tag,
      summary: 'Make a token with which applications can be registered at /oauth2/register',
      body: newTokenSchema,
      success: { status: 201, schema: createdTokenSchema },
      handle: async ({ body }) => {
        const { token, initialAccessToken } = await initialAccessTokens.create({
          label: body.label,
          uses: body.uses ?? 1,
          expiresInSeconds: body.expires_in_seconds ?? DEFAULT_EXPIRY_SECONDS,
        });
        return { data: { ...show(initialAccessToken), token } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/initial-access-tokens',
      sensitivity: 'plain',
      tag,
      summary: 'List initial access tokens',
      query: querySchema,
      success: { status: 200, schema: pageSchema(tokenSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => initialAccessTokens.query(wanted),
          recordOf: (token) => token,
          idOf: ({ id }) => id,
        });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/initial-access-tokens/{id}',
      sensitivity: 'sensitive',
      isUnversioned: true,
      tag,
      summary: 'Withdraw an initial access token; what was registered with it stays',
      params: idParams,
      success: { status: 204 },
      handle: async ({ params }): Promise<Answer<never> | undefined> => {
        await initialAccessTokens.remove(params.id);
        return undefined;
      },
    }),
  ];
}
