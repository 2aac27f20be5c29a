// The member of a user that says that a change of the primary address was stopped.
import { Object as ObjectSchema, String as StringSchema } from 'typebox';
import { nullable, strict } from '../../api/schema-parts.ts';

export const stoppedEmailChange = () =>
  nullable(
    ObjectSchema(
      {
        from: StringSchema({ description: 'The former primary address.', examples: ['grace@example.com'] }),
        to: nullable(StringSchema({ examples: ['grace@work.example'] }), {
          description: 'The primary address that it was changed to.',
        }),
        stopped_at: StringSchema({ format: 'date-time', description: 'When it was stopped.' }),
      },
      strict,
    ),
    {
      description:
        'A change of the primary address that its former mailbox stopped: neither address counts until it is settled. null: none.',
    },
  );
