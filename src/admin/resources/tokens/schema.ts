// What the admin API shows of issued tokens and grants.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Object as ObjectSchema,
  type Static,
  String as StringSchema,
} from 'typebox';
import { createdAt, nullable, strict, timestamp } from '../../api/schema-parts.ts';

export const kinds = ['refresh_token', 'access_token', 'client_credentials'] as const;
export const anId = (description: string) => StringSchema({ minLength: 1, maxLength: 128, description });
/** An agent's may be the address of its metadata document (docs/agents.md). */
export const aClientId = (description: string) => StringSchema({ minLength: 1, maxLength: 200, description });
const orNull = (description: string) => nullable(StringSchema(), { description });
const timesShown = {
  created_at: createdAt(),
  expires_at: nullable(timestamp(), { description: 'When it expires; null: never.' }),
};
const sessionMeaning = 'The session that it belongs to; null: it belongs to none.';
export const kindMeaning =
  '`client_credentials`: an access token that an application got for itself, not for a user.';

export const tokenSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'Identifies the token; it is not the token itself.' }),
    kind: Enum([...kinds], { description: kindMeaning }),
    user_id: orNull('Its user; null: it belongs to an application itself.'),
    client_id: orNull('The application that it was issued to.'),
    grant_id: orNull('The grant that it belongs to; null: it belongs to an application itself.'),
    session_id: orNull(sessionMeaning),
    resource: orNull(
      'The identifier of the API that it is for; null: it is for none, or the API was deleted.',
    ),
    scopes: ArraySchema(StringSchema(), { description: 'The scopes that were granted.' }),
    ...timesShown,
  },
  { ...strict, description: 'An issued token without its value.' },
);
export type Token = Static<typeof tokenSchema>;

export const grantSchema = ObjectSchema(
  {
    id: StringSchema({ description: 'The ID of the grant.' }),
    user_id: orNull('The user who granted it.'),
    client_id: orNull('The application that it was granted to.'),
    client_name: orNull('The name of the application; null: it was deleted.'),
    session_id: orNull(sessionMeaning),
    scopes: ArraySchema(StringSchema(), { description: 'The scopes that were granted.' }),
    apis: ArraySchema(
      ObjectSchema(
        {
          resource: StringSchema({ description: 'The identifier of the API.' }),
          scopes: ArraySchema(StringSchema(), { description: 'Which of its scopes were granted.' }),
        },
        strict,
      ),
      { description: 'What was granted at APIs.' },
    ),
    is_first_party: BooleanSchema({
      description: 'Whether it was granted without asking the user for consent.',
    }),
    ...timesShown,
  },
  { ...strict, description: 'What a user granted to an application.' },
);
export type Grant = Static<typeof grantSchema>;
