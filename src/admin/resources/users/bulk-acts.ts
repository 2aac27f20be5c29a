// What can be done to many users at once: each act is the one on a single user, through the same route.
import type { AdminContext } from '../../pages/page.ts';
import { groupMembers } from '../groups/resource.ts';
import { userActs } from './resource.ts';

export interface BulkAct {
  readonly name: string;
  readonly run: (context: AdminContext, id: string) => Promise<unknown>;
  /** Whether the confirmation page asks for a group. */
  readonly isOfGroup?: boolean;
  readonly verb: string;
  readonly done: string;
  readonly consequences: readonly string[];
  /** In place of them where there is no mail server. */
  readonly withoutMail?: readonly string[];
  readonly isDanger?: boolean;
}

const by = (act: typeof userActs.deactivate) => (context: AdminContext, id: string) =>
  context.call(act, { params: { id } });

export const groupOf = ({ form }: AdminContext): string => (form.get('group') ?? '').trim();

export const bulkActs: readonly BulkAct[] = [
  {
    name: 'add-to-group',
    run: (context, id) =>
      context.call(groupMembers.add, { params: { id: groupOf(context) }, body: { user_id: id } }),
    isOfGroup: true,
    verb: 'Add to group',
    done: 'added to the group',
    consequences: ['They get what the group gives access to, at their next sign-in or token.'],
  },
  {
    name: 'send-set-up-link',
    run: by(userActs.sendEnrolmentLink),
    verb: 'Send set-up link',
    done: 'with a new set-up link',
    consequences: ['Each gets an e-mail with a link that works once, to set a password or create a passkey.'],
    withoutMail: [
      'A link is created for each, which works once, to set a password or create a passkey.',
      'This server can’t send e-mail, so nobody gets it: copy the links from the outbox and pass them on.',
    ],
  },
  {
    name: 'deactivate',
    run: by(userActs.deactivate),
    verb: 'Deactivate',
    done: 'deactivated',
    consequences: [
      'All their sessions and tokens end immediately.',
      'They cannot sign in until you reactivate them.',
      'Nothing is deleted.',
    ],
    isDanger: true,
  },
  {
    name: 'reactivate',
    run: by(userActs.reactivate),
    verb: 'Reactivate',
    done: 'reactivated',
    consequences: ['They can sign in again.'],
  },
  {
    name: 'sign-out',
    run: by(userActs.revokeSessions),
    verb: 'Sign out everywhere',
    done: 'signed out everywhere',
    consequences: ['All their sessions and tokens end immediately.', 'They can sign in again immediately.'],
  },
];
