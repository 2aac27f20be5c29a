// What GET /stats answers.
import { Null, type Static, Union } from 'typebox';
import { array, integer, object, string, timestamp } from './schema-parts.ts';

const pointSchema = object({
  at: string({ format: 'date-time', description: 'The start of the hour or day (UTC).' }),
  sign_ins: integer('Completed sign-ins, with all factors.'),
  failed_sign_ins: integer('Sign-ins refused for a wrong password or factor.'),
  lockouts: integer('Users locked after too many wrong passwords.'),
  passkeys_used: integer('Passkeys used to sign in or as a second factor.'),
  second_factors_used: integer('Second factors used to sign in.'),
  users_created: integer('Users created.'),
  sessions_ended: integer('Sessions ended by users or administrators.'),
  tokens_revoked: integer('Tokens revoked.'),
  sessions_active: Union([integer(), Null()], {
    description:
      'Active sessions at the end of the hour; for a day, the maximum of its hours; null: they were not counted.',
  }),
});
const countsSchema = object(
  {
    users: integer('All users.'),
    users_inactive: integer('Deactivated users.'),
    users_locked: integer('Users locked now.'),
    users_with_second_factor: integer('Users with a verified second factor.'),
    users_with_passkey: integer('Users with a passkey.'),
    administrators: integer('Users with the role `admin`.'),
    auditors: integer('Users with the role `auditor`.'),
    groups: integer('Groups.'),
    clients: integer('Applications.'),
    sessions_active: integer('Active sessions.'),
    mails_queued: integer('Mails waiting for delivery.'),
    mails_failed: integer('Mails that could not be delivered.'),
    mails_kept: integer('Mails that nobody gets: no mail server was configured.'),
  },
  'How many there are now.',
);
export const statsSchema = object(
  {
    generated_at: timestamp('When this was counted.'),
    counts: countsSchema,
    hours: array(pointSchema, 'The last 24 hours, the current one last.'),
    days: array(pointSchema, 'The last 30 days (UTC), today last.'),
  },
  'Counts and statistics.',
);
export type Stats = Static<typeof statsSchema>;
/** Of one hour or day. */
export type StatsPoint = Stats['hours'][number];
