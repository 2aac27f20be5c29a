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
    failed_sign_ins: Integer(),
    lockouts: Integer(),
    passkeys_used: Integer({ description: 'Passkeys used to sign in or as a second factor.' }),
    second_factors_used: Integer(),
    users_created: Integer(),
    sessions_ended: Integer(),
    tokens_revoked: Integer(),
    sessions_active: Union([Integer(), Null()], {
      description: 'At the end of the hour; for a day, the maximum of its hours. null: not counted in time.',
    }),
  },
  strict,
);
const countsSchema = ObjectSchema(
  {
    users: Integer(),
    users_inactive: Integer(),
    users_locked: Integer(),
    users_with_second_factor: Integer(),
    users_with_passkey: Integer(),
    administrators: Integer(),
    auditors: Integer(),
    groups: Integer(),
    clients: Integer(),
    sessions_active: Integer(),
    mails_queued: Integer(),
    mails_failed: Integer(),
  },
  strict,
);
const statsSchema = ObjectSchema(
  {
    generated_at: timestamp(),
    counts: countsSchema,
    hours: ArraySchema(pointSchema, { description: 'The last 24 hours, the current one last.' }),
    days: ArraySchema(pointSchema, { description: 'The last 30 days (UTC), today last.' }),
  },
  strict,
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
    sensitivity: 'plain',
    summary: 'Counts, and statistics of the last 24 hours and 30 days; up to a few seconds old',
    success: { status: 200, schema: statsSchema },
    run: async (_, ports) => ({ data: await ports.stats.read() }),
  }),
}));
