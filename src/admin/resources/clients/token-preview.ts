// What an application would get for a user, or for itself: a read of the user's data, for whoever may read users. The protocol core's own code
// makes the tokens, without signatures, and keeps none (src/oidc/preview/).
import { Object as ObjectSchema } from 'typebox';
import { AppError } from '../../../errors.ts';
import type { TokenPreview } from '../../../oidc/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import {
  array,
  boolean,
  object,
  oneOf,
  optional,
  orNull,
  string,
  stringOrNull,
} from '../../api/schema-parts.ts';
import { atVersion, clientIdParams, clientUserParams } from '../../api/shared.ts';
import { explainedClaims } from './claim-sources.ts';

const query = object({
  scope: optional(
    string({ maxLength: 2000, description: 'As the application asks for it, separated by spaces.' }),
  ),
  resource: optional(
    string({ maxLength: 500, description: 'The identifier of an API (RFC 8707); default: none.' }),
  ),
});

const members = (description: string) => ObjectSchema({}, { additionalProperties: true, description });

const claimsSchema = array(
  object(
    {
      name: string('The claim.'),
      from: oneOf(
        ['scope', 'protocol', 'sign_in', 'application', 'api'],
        'Why it is there: a scope was granted, every token of the kind has it, the sign-in, a setting of the application, or the API is declared with it.',
      ),
      scope: stringOrNull('The scope that it comes with; null: none.'),
    },
    'A claim and its origin.',
  ),
  'Each claim of it.',
);

const tokenSchema = (description: string) =>
  orNull(
    object(
      {
        header: members('The JOSE header.'),
        payload: members('The payload; what differs in each token is left out of it.'),
        claims: claimsSchema,
      },
      'A token without its signature.',
    ),
    description,
  );

const previewSchema = object(
  {
    refusal: orNull(
      object(
        {
          error: string('The OAuth error code.'),
          description: string('The `error_description`.'),
        },
        'The error that the application would get.',
      ),
      'Why there are no tokens; null: there are.',
    ),
    scope: stringOrNull('The scopes that would be granted; null: refused.'),
    scopes: array(
      object(
        {
          name: string('The scope.'),
          state: oneOf(
            ['granted', 'application', 'user', 'unknown'],
            '`granted`; or left out, since the application may not have it, the user may not, or there is no such scope.',
          ),
        },
        'A scope and what becomes of it.',
      ),
      'Those asked for, and those that came by default.',
    ),
    id_token: tokenSchema('The ID token; null: there is none without the scope openid.'),
    access_token: tokenSchema('The access token; null: refused, or opaque.'),
    is_opaque: boolean('Whether the access token is opaque, as the API wants it.'),
    userinfo: orNull(
      object(
        { payload: members('The response.'), claims: claimsSchema },
        'The response of the userinfo endpoint.',
      ),
      'What the access token gets at userinfo; null: nothing.',
    ),
    missing: array(
      object(
        {
          claim: string('The claim.'),
          scope: string('The scope that it belongs to.'),
        },
        'A claim that is not there.',
      ),
      'Claims of granted scopes for which the user has no value.',
    ),
    acr: stringOrNull(
      'The authentication that is assumed: all that the user has; null: refused, or without a user.',
    ),
    asks_consent: boolean('Whether the user is asked for consent, unless it was given before.'),
  },
  'What an application would get for a user, or for itself.',
);

function show(preview: TokenPreview) {
  const granted = preview.scope?.split(' ') ?? [];
  const token = (made: TokenPreview['idToken']) =>
    made === undefined ? null : { ...made, claims: explainedClaims(made.payload, granted) };
  const { userinfo } = preview;
  return {
    refusal: preview.refusal ?? null,
    scope: preview.scope ?? null,
    scopes: [...preview.scopes],
    id_token: token(preview.idToken),
    access_token: token(preview.accessToken),
    is_opaque: preview.isOpaque === true,
    userinfo:
      userinfo === undefined ? null : { payload: userinfo, claims: explainedClaims(userinfo, granted) },
    missing: [...preview.missing],
    acr: preview.acr ?? null,
    asks_consent: preview.asksConsent,
  };
}

export const tokenPreview = defineRoutes('Applications', (on) => ({
  ofItself: on.route('GET /clients/{client_id}/token-preview', {
    summary:
      'Preview the token that an application would get for itself (client credentials); nothing is issued',
    params: clientIdParams,
    query,
    answer: previewSchema,
    async run({ params, query: asked }, { clients, previewTokens }) {
      const { client_id: clientId } = params;
      atVersion(await clients.find(clientId), 'client.not_found');
      const preview = await previewTokens({ clientId, ...asked });
      // It answers for an application itself whatever there is of it.
      if (preview === undefined) throw new AppError('client.not_found');
      return { data: show(preview) };
    },
  }),
  read: on.route('GET /clients/{client_id}/token-preview/{user_id}', {
    summary: 'Preview the tokens and claims that an application would get for a user; nothing is issued',
    params: clientUserParams,
    query,
    answer: previewSchema,
    async run({ params, query: asked }, { clients, previewTokens }) {
      const { client_id: clientId, user_id: userId } = params;
      atVersion(await clients.find(clientId), 'client.not_found');
      const preview = await previewTokens({ clientId, userId, ...asked });
      if (preview === undefined) throw new AppError('account.not_found');
      return { data: show(preview) };
    },
  }),
}));
