// Owns what an administrator does to a user by a press: which acts there are, and what each says before it happens.
import { type Act, actPages, type Kind } from '../../pages/acts.ts';
import { textOf } from '../../pages/field-values.ts';
import type { Page, Values } from '../../pages/page.ts';
import { showUser } from './page.ts';

const name = (user: Values): string => textOf(user, 'username');

const kind: Kind = {
  here: 'users',
  label: 'Users',
  path: '/users',
  param: 'id',
  read: 'GET /users/{id}',
  nameOf: name,
  showThing: showUser,
};

const acts: readonly Act[] = [
  { name: 'unlock', route: 'POST /users/{id}/unlock', notice: 'user-unlocked' },
  { name: 'reactivate', route: 'POST /users/{id}/reactivate', notice: 'user-reactivated' },
  { name: 'sign-out', route: 'POST /users/{id}/revoke-sessions', notice: 'user-signed-out' },
  { name: 'send-password-reset', route: 'POST /users/{id}/send-password-reset', notice: 'user-reset-sent' },
  {
    name: 'send-enrolment-link',
    route: 'POST /users/{id}/send-enrolment-link',
    notice: 'user-enrolment-sent',
  },
  {
    name: 'send-email-verification',
    route: 'POST /users/{id}/send-email-verification',
    notice: 'user-verification-sent',
  },
  {
    name: 'reset-mfa',
    route: 'POST /users/{id}/reset-mfa',
    notice: 'user-mfa-reset',
    ask: (user) => ({
      heading: `Reset the second factor of ${name(user)}?`,
      consequences: [
        'The authenticator app and all recovery codes stop working.',
        'Trusted browsers are asked again.',
        'The next sign-in sets up a new one, with the password alone. Be sure that it is really them who asks.',
      ],
      button: 'Reset second factor',
      isDanger: true,
    }),
  },
  {
    name: 'deactivate',
    route: 'POST /users/{id}/deactivate',
    notice: 'user-deactivated',
    ask: (user) => ({
      heading: `Deactivate ${name(user)}?`,
      consequences: [
        'Every session and every token ends now.',
        'Signing in is refused until you reactivate the account.',
        'Nothing is deleted.',
      ],
      button: 'Deactivate',
      isDanger: true,
    }),
  },
  {
    name: 'role',
    route: 'PATCH /users/{id}',
    notice: 'user-role',
    body: ({ form }) => ({ role: form.get('role') ?? '' }),
    ask: (user) => ({
      heading: `Change the role of ${name(user)}`,
      consequences: [
        'An administrator can do everything here and in the admin API; an auditor can look at it and change nothing.',
        'The user is signed out everywhere.',
      ],
      button: 'Change role',
      field: 'role',
    }),
  },
  {
    name: 'password',
    route: 'PATCH /users/{id}',
    notice: 'user-password',
    body: ({ form }) => ({ password: form.get('password') ?? '' }),
    ask: (user) => ({
      heading: `Set a password for ${name(user)}`,
      consequences: [
        'The user is signed out everywhere.',
        'You will know this password. A reset link by mail is better where the address is verified.',
      ],
      button: 'Set password',
      field: 'password',
    }),
  },
  {
    name: 'delete',
    route: 'DELETE /users/{id}',
    notice: 'user-deleted',
    isEnd: true,
    ask: (user) => ({
      heading: `Delete ${name(user)}?`,
      consequences: [
        'The account, its second factors, trusted browsers and consents are gone for good.',
        'Every session and every token ends now.',
        'The audit log keeps what happened, under the user’s id.',
      ],
      button: 'Delete user',
      isDanger: true,
      typed: 'username',
    }),
  },
];

export const userActPages: readonly Page[] = actPages(kind, acts);
