// What can be done to many users at once: each act is the one on a single user, through the same route.
import { type Phrase, phrase } from '../../../phrase.ts';
import type { AdminContext } from '../../pages/page.ts';
import { groupMembers } from '../groups/resource.ts';
import { userActs } from './resource.ts';

export interface BulkAct {
  readonly name: string;
  readonly run: (context: AdminContext, id: string) => Promise<unknown>;
  /** Whether the confirmation page asks for a group. */
  readonly isOfGroup?: boolean;
  readonly verb: string;
  /** Headings, before and after: with how many users. */
  readonly asks: (many: number) => Phrase;
  readonly says: (many: number) => Phrase;
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
    asks: (many) => (many === 1 ? phrase`Add 1 user to a group` : phrase`Add ${many} users to a group`),
    says: (many) =>
      many === 1 ? phrase`1 user added to the group` : phrase`${many} users added to the group`,
    consequences: ['They get what the group gives access to, at their next sign-in or token.'],
  },
  {
    name: 'send-set-up-link',
    run: by(userActs.sendEnrolmentLink),
    verb: 'Send set-up link',
    asks: (many) =>
      many === 1 ? phrase`Create a set-up link for 1 user?` : phrase`Create set-up links for ${many} users?`,
    says: (many) =>
      many === 1 ? phrase`Set-up link created for 1 user` : phrase`Set-up links created for ${many} users`,
    consequences: ['Each gets an e-mail with a link that works once, to set a password or create a passkey.'],
    withoutMail: [
      'A link is created for each, which works once, to set a password or create a passkey.',
      'This server can’t send e-mail, so nobody gets them: copy the links from the outbox and pass them on.',
    ],
  },
  {
    name: 'deactivate',
    run: by(userActs.deactivate),
    verb: 'Deactivate',
    asks: (many) => (many === 1 ? phrase`Deactivate 1 user?` : phrase`Deactivate ${many} users?`),
    says: (many) => (many === 1 ? phrase`1 user deactivated` : phrase`${many} users deactivated`),
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
    asks: (many) => (many === 1 ? phrase`Reactivate 1 user?` : phrase`Reactivate ${many} users?`),
    says: (many) => (many === 1 ? phrase`1 user reactivated` : phrase`${many} users reactivated`),
    consequences: ['They can sign in again.'],
  },
  {
    name: 'sign-out',
    run: by(userActs.revokeSessions),
    verb: 'Sign out everywhere',
    asks: (many) =>
      many === 1 ? phrase`Sign 1 user out everywhere?` : phrase`Sign ${many} users out everywhere?`,
    says: (many) =>
      many === 1 ? phrase`1 user signed out everywhere` : phrase`${many} users signed out everywhere`,
    consequences: ['All their sessions and tokens end immediately.', 'They can sign in again immediately.'],
  },
];
