// What the admin API shows of issued tokens and grants.
import type { Static } from 'typebox';
import {
  array,
  boolean,
  createdAt,
  object,
  oneOf,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';

export const kinds = ['refresh_token', 'access_token', 'client_credentials'] as const;
export const anId = (description: string) => string({ minLength: 1, maxLength: 128, description });
/** An agent's may be the address of its metadata document (docs/agents.md). */
export const aClientId = (description: string) => string({ minLength: 1, maxLength: 200, description });
const timesShown = {
  created_at: createdAt(),
  expires_at: timestampOrNull('When it expires; null: never.'),
};
const sessionMeaning = 'The session that it belongs to; null: it belongs to none.';
export const kindMeaning =
  '`client_credentials`: an access token that an application got for itself, not for a user.';

export const tokenSchema = object(
  {
    id: string('Identifies the token; it is not the token itself.'),
    kind: oneOf([...kinds], kindMeaning),
    user_id: stringOrNull('Its user; null: it belongs to an application itself.'),
    client_id: stringOrNull('The application that it was issued to.'),
    grant_id: stringOrNull('The grant that it belongs to; null: it belongs to an application itself.'),
    session_id: stringOrNull(sessionMeaning),
    resource: stringOrNull(
      'The identifier of the API that it is for; null: it is for none, or the API was deleted.',
    ),
    scopes: array(string(), 'The scopes that were granted.'),
    ...timesShown,
  },
  'An issued token without its value.',
);
export type Token = Static<typeof tokenSchema>;

export const grantSchema = object(
  {
    id: string('The ID of the grant.'),
    user_id: stringOrNull('The user who granted it.'),
    client_id: stringOrNull('The application that it was granted to.'),
    client_name: stringOrNull('The name of the application; null: it was deleted.'),
    session_id: stringOrNull(sessionMeaning),
    scopes: array(string(), 'The scopes that were granted.'),
    apis: array(
      object({
        resource: string('The identifier of the API.'),
        scopes: array(string(), 'Which of its scopes were granted.'),
      }),
      'What was granted at APIs.',
    ),
    is_first_party: boolean('Whether it was granted without asking the user for consent.'),
    ...timesShown,
  },
  'What a user granted to an application.',
);
export type Grant = Static<typeof grantSchema>;
