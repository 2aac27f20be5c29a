import { type ErrorRow, wrongId } from './error-row.ts';

export const signInErrors = {
  'signin.no_factor': {
    status: 403,
    message: 'This account needs a second factor that cannot be used here. Contact an administrator.',
    cause: 'A second factor is required and this account can neither give nor enrol one here.',
    remedy:
      'An administrator resets the second factor, or allows a method (`mfa_mode`, `allow_email_codes`).',
    outsideAdminApi: true,
  },
  'signin.expired': {
    status: 400,
    message: 'This page has expired.',
    cause:
      'The sign-in was completed, took longer than `interaction_seconds`, or belongs to another browser.',
    remedy: 'Start again from the application, or at `/account`.',
    outsideAdminApi: true,
  },
  'passkey.refused': {
    status: 401,
    message: 'This passkey was not accepted.',
    cause: 'The WebAuthn response failed verification: challenge, origin, signature or counter.',
    remedy: 'Try again. If it stays, compare the host in `BASE_URL` with the one in the address bar.',
    outsideAdminApi: true,
  },
  'passkey.unknown': {
    status: 401,
    message: 'This passkey is no longer registered.',
    cause: 'The passkey was removed here and still exists in the password manager.',
    remedy: 'Sign in another way, delete the passkey in the password manager, register a new one.',
    outsideAdminApi: true,
  },
  'passkey.unverified': {
    status: 401,
    message: 'This passkey did not verify the user, and the account has no other second factor.',
    cause: 'The passkey proved presence only, two factors are required, and the account has no other factor.',
    remedy: 'Use a passkey with PIN or biometrics.',
    outsideAdminApi: true,
  },
  'passkey.registered': {
    status: 409,
    message: 'This passkey is already registered.',
    cause: 'This authenticator already holds a passkey of this account.',
    remedy: 'Use it, or register another authenticator.',
    outsideAdminApi: true,
  },
  'passkey.not_found': {
    status: 404,
    message: 'Passkey not found.',
    cause: 'The account has no passkey with this id.',
    remedy: wrongId,
  },
  'passkey.last': {
    status: 409,
    message: 'This passkey is the only way to sign in to the account.',
    cause: 'Without this passkey the account could not sign in, or would miss a required second factor.',
    remedy: 'Add another passkey or another factor first.',
    outsideAdminApi: true,
  },
  'passkey.last_admin': {
    status: 409,
    message: 'In passkey-only mode, at least one active administrator must have a passkey.',
    cause: 'With `auth_mode` `passkey_only`, no other active administrator has a passkey.',
    remedy: 'Give another administrator a passkey first, or change `auth_mode`.',
  },
  'passkey.off': {
    status: 403,
    message: 'Signing in with passkeys is turned off.',
    cause: '`auth_mode` is `password`.',
    remedy: 'Sign in with the password, or change `auth_mode`.',
    outsideAdminApi: true,
  },
  'mail.off': {
    status: 503,
    message: 'This server cannot send e-mail now: no mail server is configured.',
    cause: 'There is no mail server, so the link or code would reach nobody.',
    remedy: 'An administrator connects one (`smtp_url`), or does what the mail would have done.',
    outsideAdminApi: true,
  },
  'password.off': {
    status: 403,
    message: 'Signing in with passwords is turned off. Sign in with a passkey.',
    cause: '`auth_mode` is `passkey_only`.',
    remedy: 'Sign in with a passkey; a recovery code or an enrolment link registers a new one.',
  },
  'mfa.off': {
    status: 403,
    message: 'Second factors are turned off.',
    cause: '`mfa_mode` is `off`.',
    remedy: 'Set `mfa_mode` to `optional` or `required`.',
    outsideAdminApi: true,
  },
  'mfa.email_off': {
    status: 409,
    message: 'Codes by e-mail cannot be a second factor of this account.',
    cause:
      '`allow_email_codes` is off, the address is not verified, or the account has a role for administration.',
    remedy: 'Verify the address, or set up an authenticator app.',
    outsideAdminApi: true,
  },
  'mfa.required': {
    status: 409,
    message: 'A second factor is required, and the account would have none left.',
    cause: 'A second factor is required and this is the last one of the account.',
    remedy: 'Add another factor first.',
    outsideAdminApi: true,
  },
  'mfa.none': {
    status: 409,
    message:
      'Recovery codes replace a second factor, and this account has none. Set up an authenticator app or a passkey first.',
    cause: 'Recovery codes were asked for, for an account without a second factor.',
    remedy: 'Set up an authenticator app (`POST /account/api/totp`) or a passkey, then make the codes.',
    outsideAdminApi: true,
  },
  'auth.stale': {
    status: 403,
    message: 'Sign in again: the last sign-in is too old or not strong enough.',
    cause: 'A sensitive act needs an authentication of the last five minutes in the account’s highest class.',
    remedy:
      'Sign in again with `prompt=login`, and use the token of that authorization: one of a silent authorization is never fresh. Programs use an API key or client credentials.',
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
