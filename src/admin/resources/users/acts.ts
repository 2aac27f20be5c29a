// The acts on a user, and what each confirmation page says.
import { actPages, type ItemAct, type Kind } from '../../pages/acts.ts';
import { textOf } from '../../pages/field-values.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { showUser } from './page.ts';

const name = (user: Values): string => textOf(user, 'username');

/** @param body built from the form */
const by = (route: string, body?: (context: AdminContext) => Values) => (context: AdminContext, id: string) =>
  context.callByName(route, { params: { id }, ...(body && { body: body(context) }) });

const kind: Kind<Values> = {
  here: 'users',
  crumbs: [{ label: 'Users', href: '/users' }],
  path: '/users',
  read: async (context, id) => (await context.callByName('GET /users/{id}', { params: { id } })).data,
  nameOf: name,
  showItem: showUser,
};

const acts: readonly ItemAct<Values>[] = [
  { name: 'unlock', run: by('POST /users/{id}/unlock'), notice: 'user-unlocked' },
  { name: 'reactivate', run: by('POST /users/{id}/reactivate'), notice: 'user-reactivated' },
  { name: 'sign-out', run: by('POST /users/{id}/revoke-sessions'), notice: 'user-signed-out' },
  { name: 'send-password-reset', run: by('POST /users/{id}/send-password-reset'), notice: 'user-reset-sent' },
  {
    name: 'send-enrolment-link',
    run: by('POST /users/{id}/send-enrolment-link'),
    notice: 'user-enrolment-sent',
  },
  {
    name: 'send-email-verification',
    run: by('POST /users/{id}/send-email-verification'),
    notice: 'user-verification-sent',
  },
  {
    name: 'reset-mfa',
    run: by('POST /users/{id}/reset-mfa'),
    notice: 'user-mfa-reset',
    ask: (user) => ({
      heading: `Reset the second factor of ${name(user)}?`,
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
    run: by('POST /users/{id}/deactivate'),
    notice: 'user-deactivated',
    ask: (user) => ({
      heading: `Deactivate ${name(user)}?`,
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
    run: by('PATCH /users/{id}', ({ form }) => ({ role: form.get('role') ?? '' })),
    notice: 'user-role',
    ask: (user) => ({
      heading: `Change the role of ${name(user)}`,
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
    run: by('PATCH /users/{id}', ({ form }) => ({ password: form.get('password') ?? '' })),
    notice: 'user-password',
    ask: (user) => ({
      heading: `Set a password for ${name(user)}`,
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
    run: by('DELETE /users/{id}'),
    notice: 'user-deleted',
    isEnd: true,
    ask: (user) => ({
      heading: `Delete ${name(user)}?`,
      consequences: [
        'The account, its second factors, trusted browsers and consents are permanently deleted.',
        'All sessions and tokens end immediately.',
        'The audit log keeps its events under the user ID.',
      ],
      button: 'Delete user',
      isDanger: true,
      typed: name(user),
    }),
  },
];

export const userActPages: readonly Page[] = actPages(kind, acts);
