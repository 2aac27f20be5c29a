// The acts on a user, and what each confirmation page says.
import type { User } from '../../../accounts/index.ts';
import { phrase } from '../../../phrase.ts';
import type { Handle } from '../../api/route.ts';
import { actPages, type ItemAct, type Kind } from '../../pages/acts.ts';
import { orShown } from '../../pages/form-pages.ts';
import { personName } from '../../pages/format.ts';
import { type AdminContext, idOf, type Page, post } from '../../pages/page.ts';
import { askAboutOwn, isConfirmed } from '../sessions/pages.ts';
import { showUser } from './page.ts';
import { userPicture } from './picture-route.ts';
import { userActs, users } from './resource.ts';

const name = (user: User): string => personName(user);

type UserAct = Handle<{ id: string }, object, unknown, unknown>;

const by = (act: UserAct) => (context: AdminContext, id: string) => context.call(act, { params: { id } });

/** What mails a link: the notice says what became of the mail, and where to read it if it goes nowhere. */
const mailing = (
  name: string,
  what: 'reset' | 'enrolment' | 'verification',
  act: UserAct,
): ItemAct<User> => ({
  name,
  async run(context, id) {
    const { mail } = await context.call(act, { params: { id } });
    const key = `user-${what}-${mail?.state ?? 'queued'}`;
    context.go(`/users/${id}`, mail === undefined ? key : `${key}.${mail.id}`);
  },
  notice: `user-${what}-queued`,
  isAnswered: true,
});

/** Changes the one field that the confirmation page asks for. */
const set = (field: 'role' | 'password') => (context: AdminContext, id: string) =>
  context.call(users.change, { params: { id }, body: { [field]: context.form.get(field) ?? '' } });

const kind: Kind<User> = {
  here: 'users',
  crumbs: [{ label: 'Users', href: '/users' }],
  path: '/users',
  read: async (context, id) => (await context.call(users.read, { params: { id } })).data,
  nameOf: name,
  showItem: showUser,
};

const acts: readonly ItemAct<User>[] = [
  { name: 'unlock', run: by(userActs.unlock), notice: 'user-unlocked' },
  { name: 'reactivate', run: by(userActs.reactivate), notice: 'user-reactivated', undo: 'deactivate' },
  { name: 'remove-picture', run: by(userPicture.removePicture), notice: 'user-picture-removed' },
  mailing('send-password-reset', 'reset', userActs.sendPasswordReset),
  mailing('send-enrolment-link', 'enrolment', userActs.sendEnrolmentLink),
  mailing('send-email-verification', 'verification', userActs.sendEmailVerification),
  {
    name: 'reset-mfa',
    run: by(userActs.resetMfa),
    notice: 'user-mfa-reset',
    ask: (user) => ({
      heading: phrase`Reset the second factor of ${name(user)}?`,
      consequences: [
        'The authenticator app and all recovery codes stop working.',
        'Trusted browsers are asked for a second factor again.',
        'The next sign-in sets up a new one with the password only. Make sure that the request really comes from this user.',
      ],
      button: 'Reset second factor',
      isDanger: true,
    }),
  },
  {
    name: 'deactivate',
    run: by(userActs.deactivate),
    notice: 'user-deactivated',
    undo: 'reactivate',
    ask: (user) => ({
      heading: phrase`Deactivate ${name(user)}?`,
      consequences: [
        'All sessions and tokens end immediately.',
        'The user cannot sign in until you reactivate the account.',
        'Nothing is deleted.',
      ],
      button: 'Deactivate',
      isDanger: true,
    }),
  },
  {
    name: 'role',
    run: set('role'),
    notice: 'user-role',
    ask: (user) => ({
      heading: phrase`Change the role of ${name(user)}`,
      consequences: [
        'An administrator can do everything here and in the admin API; an auditor can view everything but change nothing.',
        'The user is signed out everywhere.',
      ],
      button: 'Change role',
      field: 'role',
    }),
  },
  {
    name: 'password',
    run: set('password'),
    notice: 'user-password',
    ask: (user) => ({
      heading: phrase`Set a password for ${name(user)}`,
      consequences: [
        'The user is signed out everywhere.',
        'You will know this password. If the e-mail address is verified, send a reset link instead.',
      ],
      button: 'Set password',
      field: 'password',
    }),
  },
  {
    name: 'delete',
    run: by(users.remove),
    notice: 'user-deleted',
    isEnd: true,
    ask: (user) => ({
      heading: phrase`Delete ${name(user)}?`,
      consequences: [
        'The account, its second factors, trusted browsers and consents are permanently deleted.',
        'All sessions and tokens end immediately.',
        'The audit log keeps its events under the user ID.',
      ],
      button: 'Delete user',
      isDanger: true,
      typed: user.username,
    }),
  },
];

async function signOut(context: AdminContext): Promise<void> {
  const { id } = idOf(context);
  const back = `/users/${id}`;
  if (id === context.admin.account.id && !isConfirmed(context))
    return askAboutOwn(context, { path: `${back}/sign-out`, back, button: 'Sign me out everywhere' });
  await context.call(userActs.revokeSessions, { params: { id } });
  context.go(back, 'user-signed-out');
}

const settleEmailChange =
  (choice: 'keep' | 'undo', notice: string) =>
  async (context: AdminContext): Promise<void> => {
    const { id } = idOf(context);
    await context.call(userActs.settleEmailChange, { params: { id }, body: { choice } });
    context.go(`/users/${id}`, notice);
  };

export const userActPages: readonly Page[] = [
  ...actPages(kind, acts),
  post('/users/:id/keep-email-change', orShown(settleEmailChange('keep', 'user-email-kept'), showUser)),
  post('/users/:id/undo-email-change', orShown(settleEmailChange('undo', 'user-email-undone'), showUser)),
  post('/users/:id/sign-out', orShown(signOut, showUser)),
];
