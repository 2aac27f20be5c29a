// GET /stats (decisions §6): counts of all resources, and events of the last day and month.
import {
  Array as ArraySchema,
  Integer,
  Null,
  Object as ObjectSchema,
  type Static,
  String as StringSchema,
  Union,
} from 'typebox';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import { strict, timestamp } from '../../api/schema-parts.ts';

const pointSchema = ObjectSchema(
  {
    at: StringSchema({ format: 'date-time', description: 'The start of the hour or day (UTC).' }),
    sign_ins: Integer({ description: 'Completed sign-ins, with all factors.' }),
    failed_sign_ins: Integer({ description: 'Sign-ins refused for a wrong password or factor.' }),
    lockouts: Integer({ description: 'Users locked after too many wrong passwords.' }),
    passkeys_used: Integer({ description: 'Passkeys used to sign in or as a second factor.' }),
    second_factors_used: Integer({ description: 'Second factors used to sign in.' }),
    users_created: Integer({ description: 'Users created.' }),
    sessions_ended: Integer({ description: 'Sessions ended by users or administrators.' }),
    tokens_revoked: Integer({ description: 'Tokens revoked.' }),
    sessions_active: Union([Integer(), Null()], {
      description:
        'Active sessions at the end of the hour; for a day, the maximum of its hours; null: they were not counted.',
    }),
  },
  strict,
);
const countsSchema = ObjectSchema(
  {
    users: Integer({ description: 'All users.' }),
    users_inactive: Integer({ description: 'Deactivated users.' }),
    users_locked: Integer({ description: 'Users locked now.' }),
    users_with_second_factor: Integer({ description: 'Users with a verified second factor.' }),
    users_with_passkey: Integer({ description: 'Users with a passkey.' }),
    administrators: Integer({ description: 'Users with the role `admin`.' }),
    auditors: Integer({ description: 'Users with the role `auditor`.' }),
    groups: Integer({ description: 'Groups.' }),
    clients: Integer({ description: 'Applications.' }),
    sessions_active: Integer({ description: 'Active sessions.' }),
    mails_queued: Integer({ description: 'Mails waiting for delivery.' }),
    mails_failed: Integer({ description: 'Mails that could not be delivered.' }),
    mails_kept: Integer({ description: 'Mails that nobody gets: no mail server was configured.' }),
  },
  { ...strict, description: 'How many there are now.' },
);
const statsSchema = ObjectSchema(
  {
    generated_at: timestamp('When this was counted.'),
    counts: countsSchema,
    hours: ArraySchema(pointSchema, { description: 'The last 24 hours, the current one last.' }),
    days: ArraySchema(pointSchema, { description: 'The last 30 days (UTC), today last.' }),
  },
  { ...strict, description: 'Counts and statistics.' },
);
export type Stats = Static<typeof statsSchema>;
/** Of one hour or day. */
export type StatsPoint = Stats['hours'][number];

export interface StatsPort {
  read(): Promise<Stats>;
}

interface Ports {
  readonly stats: StatsPort;
}

export const stats = defineRoutes('About', (on: RouteKit<Ports>) => ({
  read: on.route({
    method: 'GET',
    path: '/stats',
    summary: 'Counts, and statistics of the last 24 hours and 30 days; up to a few seconds old',
    success: { status: 200, schema: statsSchema },
    run: async (_, ports) => ({ data: await ports.stats.read() }),
  }),
}));
