import { type ErrorRow, wrongId } from './error-row.ts';

export const signUpErrors = {
  'onboarding.closed': {
    status: 404,
    message: 'No resource exists at this address.',
    cause: 'An administrator exists, so the onboarding page is closed for good.',
    remedy:
      'Sign in at `/admin`. No administrator can any more: [operations.md](operations.md#no-administrator-can-sign-in).',
    outsideAdminApi: true,
  },
  'signup.closed': {
    status: 403,
    message: 'Sign-up is closed.',
    cause: '`allow_self_signup` is off, here or for this application.',
    remedy: 'Ask for an invitation, or turn the setting on.',
    outsideAdminApi: true,
  },
  'invitation.not_found': {
    status: 404,
    message: 'Invitation not found.',
    cause: 'The invitation was used, revoked, or never existed.',
    remedy: wrongId,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
