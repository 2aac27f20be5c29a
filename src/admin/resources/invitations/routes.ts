// Owns the routes of invitations: who was asked to make an account, and asking somebody.
import {
  Boolean as BooleanSchema,
  Integer,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
} from 'typebox';
import type { Clock } from '../../../clock.ts';
import type { Invitation, Invitations } from '../../../registration/invitations.ts';
import { invitations as collection } from '../../../store/signups.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

export interface InvitationsPort extends Pick<Invitations, 'query' | 'remove'> {
  /** @throws AppError request.invalid, account.email_taken */
  invite(input: {
    email: string;
    expiresInSeconds?: number | undefined;
    clientId?: string | undefined;
    isMailed: boolean;
  }): Promise<{ invitation: Invitation; url: string }>;
}

interface Deps {
  readonly invitations: InvitationsPort;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const list: ListDefinition<Pick<Invitation, 'email' | 'createdAt'>> = {
  name: 'invitations',
  collection: {
    ...collection,
    // The digests are no part of what is listed.
    indexes: {},
    fields: {
      email: { type: 'string', of: (i) => i.email },
      created_at: { type: 'number', of: (i) => i.createdAt },
    },
  },
  sorts: ['created_at', 'email', 'id'],
  defaultOrder: 'desc',
  searches: ['email'],
  times: ['created_at'],
};

const querySchema = listQuerySchema(list);
const MAX_EXPIRY_SECONDS = 30 * 86_400;

const shown = {
  id: StringSchema({ description: 'Names the invitation; it is not its link.' }),
  email: StringSchema(),
  client_id: nullable(StringSchema(), { description: 'The application that the person goes on to.' }),
  created_at: timestamp(),
  expires_at: timestamp(),
  used_at: nullable(timestamp()),
  user_id: nullable(StringSchema(), { description: 'Whose account it became.' }),
};
const invitationSchema = ObjectSchema(shown, strict);
const createdSchema = ObjectSchema(
  {
    ...shown,
    url: StringSchema({
      description:
        'A link to hand over, in this answer only. It does not prove the address; the one in the mail does.',
    }),
  },
  strict,
);
const newInvitationSchema = ObjectSchema(
  {
    email: StringSchema({ minLength: 1, maxLength: 320 }),
    expires_in: Optional(
      Integer({
        minimum: 60,
        maximum: MAX_EXPIRY_SECONDS,
        description: 'Seconds; default: the setting invitation_link_seconds.',
      }),
    ),
    client_id: Optional(StringSchema({ minLength: 1, maxLength: 128 })),
    send_mail: Optional(BooleanSchema({ default: true, description: 'Whether the person gets it by mail.' })),
  },
  strict,
);

const timeOf = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const show = (invitation: Invitation) => ({
  id: invitation.id,
  email: invitation.email,
  client_id: invitation.clientId ?? null,
  created_at: new Date(invitation.createdAt).toISOString(),
  expires_at: new Date(invitation.expiresAt).toISOString(),
  used_at: timeOf(invitation.usedAt),
  user_id: invitation.accountId ?? null,
});

const tag = 'Invitations';

export function invitationRoutes({ invitations, cursors, clock }: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/invitations',
      sensitivity: 'plain',
      tag,
      summary: 'Invite somebody to make an account, whether or not signing up is allowed',
      body: newInvitationSchema,
      success: { status: 201, schema: createdSchema },
      handle: async ({ body }) => {
        const { invitation, url } = await invitations.invite({
          email: body.email,
          expiresInSeconds: body.expires_in,
          clientId: body.client_id,
          isMailed: body.send_mail ?? true,
        });
        return { data: { ...show(invitation), url }, id: invitation.id };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/invitations',
      sensitivity: 'plain',
      tag,
      summary: 'List invitations that are not over; a used one stays until its time is',
      query: querySchema,
      success: { status: 200, schema: pageSchema(invitationSchema) },
      handle: async ({ query }) => {
        const page = await readPage({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => invitations.query(wanted),
          recordOf: (invitation) => invitation,
          idOf: ({ id }) => id,
        });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/invitations/{id}',
      sensitivity: 'plain',
      isUnversioned: true,
      tag,
      summary: 'Withdraw an invitation; an account that it became stays',
      params: idParams,
      success: { status: 204 },
      handle: async ({ params }): Promise<Answer<never> | undefined> => {
        await invitations.remove(params.id);
        return undefined;
      },
    }),
  ];
}
