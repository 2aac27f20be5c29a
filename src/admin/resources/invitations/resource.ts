// Invitations to create an account.
import type { Invitation, Invited } from '../../../registration/index.ts';
import { invitations as collection } from '../../../store/signups.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import { isFreshOrProgram } from '../../api/perform.ts';
import type { Actor } from '../../api/ports.ts';
import {
  boolean,
  createdAt,
  DOCUMENTED,
  emailKeywords,
  expiresAt,
  integer,
  object,
  optional,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

const list: ListDefinition<Pick<Invitation, 'email' | 'createdAt'>> = {
  name: 'invitations',
  collection: {
    ...collection,
    // The list does not include the digests.
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

const MAX_EXPIRY_SECONDS = 30 * 86_400;

const continuesTo = 'The application that the user continues to; none: the account page.';

const shown = {
  id: string('Identifies the invitation; it is not its link.'),
  email: string('The e-mail address of the invited user.'),
  client_id: stringOrNull(continuesTo),
  created_at: createdAt(),
  expires_at: expiresAt(),
  used_at: timestampOrNull('When it was used; null: not yet.'),
  user_id: stringOrNull('The user who was created with it; null: none yet.'),
};
const invitationSchema = object(shown, 'An invitation without its link.');
const createdSchema = object(
  {
    ...shown,
    url: optional(
      string(
        'A link to pass on; only this response contains it, and that of a user only after a sign-in of the last five minutes. ' +
          'Using it does not verify the e-mail address; using the mailed link does.',
      ),
    ),
  },
  'The new invitation.',
);
const newInvitationSchema = object({
  email: string({
    minLength: 1,
    maxLength: 320,
    description: 'The e-mail address of the invited user.',
    [DOCUMENTED]: emailKeywords,
  }),
  expires_in: optional(
    integer({
      minimum: 60,
      maximum: MAX_EXPIRY_SECONDS,
      description:
        'How long the invitation is valid, in seconds; default: the setting `invitation_link_seconds`.',
    }),
  ),
  client_id: optional(string({ minLength: 1, maxLength: 128, description: continuesTo })),
  send_mail: optional(
    boolean({
      default: true,
      description: 'Whether a mail with the link is made; `mail` of the answer says what became of it.',
    }),
  ),
});

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

async function answerOf({ invitation, url, mail }: Invited, actor: Actor) {
  const link = (await isFreshOrProgram(actor)) ? { url } : {};
  const data = { ...show(invitation), ...link };
  return { data, mail, recorded: { details: { mail: mail?.state ?? 'none' } } };
}

export const invitations = defineResource(
  {
    path: '/invitations',
    tag: 'Invitations',
    target: 'invitation',
    view: invitationSchema,
    present: (items: readonly Invitation[]) => items.map(show),
  },
  (on) => ({
    create: on.create({
      summary: 'Invite a user to create an account, whether or not sign-up is allowed',
      event: 'invitation.created',
      body: newInvitationSchema,
      answer: createdSchema,
      hasMail: true,
      async run({ body, actor }, ports) {
        const made = await ports.registration.invitations.invite({
          email: body.email,
          expiresInSeconds: body.expires_in,
          clientId: body.client_id,
          isMailed: body.send_mail ?? true,
        });
        return { ...(await answerOf(made, actor)), id: made.invitation.id };
      },
    }),
    renew: on.route('POST /invitations/{id}/resend', {
      isUnversioned: true,
      summary:
        'Make new links of an invitation that was not used, and a mail with one; those before no longer work',
      recorded: { event: 'invitation.renewed', target: 'invitation' },
      params: idParams,
      answer: createdSchema,
      hasMail: true,
      run: async ({ params, actor }, ports) =>
        answerOf(await ports.registration.invitations.renew(params.id), actor),
    }),
    list: on.list({
      summary: 'List invitations that have not expired, including used ones',
      list,
      query: (wanted, ports) => ports.registration.invitations.query(wanted),
      recordOf: (invitation) => invitation,
    }),
    remove: on.remove({
      summary: 'Delete an invitation; a user created with it remains',
      event: 'invitation.revoked',
      isUnversioned: true,
      params: idParams,
      run: ({ params }, ports) => ports.registration.invitations.remove(params.id),
    }),
  }),
);
