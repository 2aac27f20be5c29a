// Initial access tokens (RFC 7591 §3): with one, another party may register an application.
import type { InitialAccessToken } from '../../../clients/index.ts';
import {
  initialAccessTokens as collection,
  type InitialAccessTokenRecord,
} from '../../../store/collections.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import {
  createdAt,
  expiresAt,
  integer,
  object,
  oneOf,
  optional,
  orNull,
  string,
} from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

const list: ListDefinition<InitialAccessTokenRecord> = {
  name: 'initial-access-tokens',
  collection,
  sorts: ['created_at', 'id'],
  defaultOrder: 'desc',
  times: ['created_at'],
};

const DEFAULT_EXPIRY_SECONDS = 86_400;
const MAX_EXPIRY_SECONDS = 31_536_000;

const labelMeaning = 'For example, whom the token is for.';

const profile = () =>
  orNull(oneOf(['legacy']), {
    description: 'The profile of the applications that are registered with it (docs/legacy.md); null: none.',
    examples: [null],
  });

const shown = {
  id: string('Identifies the token; it is not the token itself.'),
  label: string(labelMeaning),
  uses_left: integer('How many applications can still be registered with it.'),
  profile: profile(),
  created_at: createdAt(),
  expires_at: expiresAt(),
};

const tokenSchema = object(shown, 'An initial access token without its value.');
const newTokenSchema = object({
  label: string({ minLength: 1, maxLength: 200, description: labelMeaning }),
  uses: optional(
    integer({
      minimum: 1,
      maximum: 10_000,
      default: 1,
      description: 'How many applications can be registered with it.',
    }),
  ),
  expires_in_seconds: optional(
    integer({
      minimum: 60,
      maximum: MAX_EXPIRY_SECONDS,
      default: DEFAULT_EXPIRY_SECONDS,
      description: 'How long the token is valid, in seconds.',
    }),
  ),
  profile: optional(profile()),
});
const createdTokenSchema = object(
  { ...shown, token: string('The bearer token; only this response contains it.') },
  'The new initial access token.',
);

const show = (token: InitialAccessToken) => ({
  id: token.id,
  label: token.label,
  uses_left: token.usesLeft,
  profile: token.profile ?? null,
  created_at: new Date(token.createdAt).toISOString(),
  expires_at: new Date(token.expiresAt).toISOString(),
});

export const initialAccessTokens = defineResource(
  {
    path: '/initial-access-tokens',
    tag: 'Initial access tokens',
    target: 'token',
    view: tokenSchema,
    present: (tokens: readonly InitialAccessToken[]) => tokens.map(show),
  },
  (on) => ({
    create: on.create({
      summary: 'Create an initial access token for registering applications at /oauth2/register',
      event: 'registration_token.created',
      body: newTokenSchema,
      answer: createdTokenSchema,
      async run({ body }, ports) {
        const { token, initialAccessToken } = await ports.clients.initialAccessTokens.create({
          label: body.label,
          uses: body.uses ?? 1,
          expiresInSeconds: body.expires_in_seconds ?? DEFAULT_EXPIRY_SECONDS,
          profile: body.profile ?? undefined,
        });
        return { data: { ...show(initialAccessToken), token } };
      },
    }),
    list: on.list({
      summary: 'List initial access tokens',
      list,
      query: (wanted, ports) => ports.clients.initialAccessTokens.query(wanted),
      recordOf: (token) => token,
    }),
    remove: on.remove({
      summary: 'Delete an initial access token; applications registered with it remain',
      event: 'registration_token.removed',
      isUnversioned: true,
      params: idParams,
      run: ({ params }, ports) => ports.clients.initialAccessTokens.remove(params.id),
    }),
  }),
);
