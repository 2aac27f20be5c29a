// Every error that this product raises itself has one stable code, one status and one public sentence. Protocol errors
// (RFC 6749 §5.2 and related) belong to oidc-provider and keep its classes.

interface Entry {
  readonly status: number;
  readonly message: string;
}

export const catalogue = {
  'request.not_found': { status: 404, message: 'No resource exists at this address.' },
  'request.method_not_allowed': { status: 405, message: 'This address does not support this method.' },
  'request.too_large': { status: 413, message: 'The request body is too large.' },
  'request.unsupported_media_type': {
    status: 415,
    message: 'The request body has an unsupported content type.',
  },
  'request.malformed': { status: 400, message: 'The request could not be parsed.' },
  'request.invalid': { status: 400, message: 'Some fields are not valid.' },
  'request.key_reused': {
    status: 422,
    message: 'This Idempotency-Key was already used for a different request.',
  },
  'request.in_progress': {
    status: 409,
    message:
      'A request with this Idempotency-Key is in progress or was interrupted. Check whether it took effect, then use a new key.',
  },
  'request.changed': { status: 412, message: 'The resource was changed since you read it.' },
  'request.csrf': {
    status: 403,
    message: 'This form is no longer valid. Go back, reload the page and try again.',
  },
  'request.cross_site': {
    status: 403,
    message: 'Another website sent this request. Open this page directly and try again.',
  },
  'request.cookies_off': {
    status: 400,
    message: 'Your browser did not send a cookie. Allow cookies for this site and try again.',
  },
  'request.rate_limited': { status: 429, message: 'Too many attempts. Wait a moment and try again.' },
  'auth.required': { status: 401, message: 'A bearer token is required.' },
  'auth.invalid_token': { status: 401, message: 'The bearer token is not valid.' },
  'auth.use_dpop_nonce': {
    status: 401,
    message: 'Send the DPoP proof with the nonce of the header DPoP-Nonce (RFC 9449 §8).',
  },
  'auth.insufficient_scope': { status: 403, message: 'This token does not belong to an administrator.' },
  'signin.failed': { status: 401, message: 'Incorrect username or password.' },
  'signin.no_factor': {
    status: 403,
    message: 'This account needs a second factor that cannot be used here. Contact an administrator.',
  },
  'signin.expired': { status: 400, message: 'This page has expired.' },
  'passkey.refused': { status: 401, message: 'This passkey was not accepted.' },
  'passkey.unknown': { status: 401, message: 'This passkey is no longer registered.' },
  'passkey.unverified': {
    status: 401,
    message: 'This passkey did not verify the user, and the account has no other second factor.',
  },
  'passkey.registered': { status: 409, message: 'This passkey is already registered.' },
  'passkey.not_found': { status: 404, message: 'Passkey not found.' },
  'passkey.last': { status: 409, message: 'This passkey is the only way to sign in to the account.' },
  'passkey.last_admin': {
    status: 409,
    message: 'In passkey-only mode, at least one active administrator must have a passkey.',
  },
  'passkey.off': { status: 403, message: 'Signing in with passkeys is turned off.' },
  'mail.off': {
    status: 503,
    message: 'This server cannot send e-mail now: no mail server is configured.',
  },
  'password.off': {
    status: 403,
    message: 'Signing in with passwords is turned off. Sign in with a passkey.',
  },
  'mfa.off': { status: 403, message: 'Second factors are turned off.' },
  'mfa.email_off': { status: 409, message: 'Codes by e-mail cannot be a second factor of this account.' },
  'mfa.required': {
    status: 409,
    message: 'A second factor is required, and the account would have none left.',
  },
  'mfa.none': {
    status: 409,
    message:
      'Recovery codes replace a second factor, and this account has none. Set up an authenticator app or a passkey first.',
  },
  'auth.stale': { status: 403, message: 'Sign in again: the last sign-in is too old or not strong enough.' },
  'account.not_found': { status: 404, message: 'User not found.' },
  'account.username_taken': { status: 409, message: 'This username is already taken.' },
  'account.username_fixed': { status: 403, message: 'Usernames cannot be changed here.' },
  'avatar.unreadable': {
    status: 400,
    message: 'This is not a PNG, JPEG, WebP or GIF picture, or it is damaged.',
  },
  'avatar.too_many_pixels': {
    status: 400,
    message: 'The picture has too many pixels: at most 24 million, and 10,000 on a side.',
  },
  'avatar.busy': { status: 503, message: 'Too many pictures at once. Try again in a moment.' },
  'account.deletion_off': { status: 403, message: 'Accounts cannot be deleted by their owners here.' },
  'account.email_keep_waits': {
    status: 409,
    message: 'The new address can be kept 24 hours after the change was stopped.',
  },
  'account.no_stopped_change': { status: 409, message: 'No change of an address of this user was stopped.' },
  'account.email_frozen': {
    status: 409,
    message: 'A change of this address was stopped. Decide on it before the next one.',
  },
  'account.email_domain': {
    status: 400,
    message: 'E-mail addresses of this domain are not accepted here.',
  },
  'account.too_many_emails': {
    status: 409,
    message: 'The account has as many addresses as one can have. Remove one first.',
  },
  'account.email_taken': { status: 409, message: 'This e-mail address is already in use.' },
  'account.last_admin': { status: 409, message: 'At least one active administrator must remain.' },
  'account.changed': { status: 412, message: 'The user was changed since you read it.' },
  'group.not_found': { status: 404, message: 'Group not found.' },
  'group.name_taken': { status: 409, message: 'A group with this name already exists.' },
  'group.in_use': {
    status: 409,
    message: 'An application or a scope of an API is restricted to this group.',
  },
  'group.too_many': { status: 409, message: 'The user has reached the maximum number of groups.' },
  'group.not_member': { status: 404, message: 'The user is not a member of this group.' },
  'group.changed': { status: 412, message: 'The group was changed since you read it.' },
  'client.not_found': { status: 404, message: 'Application not found.' },
  'client.built_in': {
    status: 409,
    message: 'This application is built in. It cannot be changed or deleted.',
  },
  'client.invalid_metadata': { status: 400, message: 'The application metadata is not valid.' },
  'client.document_refused': {
    status: 400,
    message: 'The metadata document of this application cannot be used.',
  },
  'api.not_found': { status: 404, message: 'API not found.' },
  'api.identifier_taken': { status: 409, message: 'An API with this identifier already exists.' },
  'api.changed': { status: 412, message: 'The API was changed since you read it.' },
  'session.not_found': { status: 404, message: 'Session not found.' },
  'token.not_found': { status: 404, message: 'Token not found.' },
  'grant.not_found': { status: 404, message: 'Grant not found.' },
  'api_key.not_found': { status: 404, message: 'API key not found.' },
  'setting.unknown': { status: 400, message: 'Unknown setting.' },
  'branding.changed': { status: 412, message: 'The look was changed since you read it.' },
  'branding.version_not_found': { status: 404, message: 'There is no such version.' },
  'branding.too_many': { status: 409, message: 'Too many applications have a look of their own.' },
  'branding.of_stranger': {
    status: 409,
    message: 'Only an application that an administrator created or vouched for can have a look of its own.',
  },
  'setting.changed': { status: 412, message: 'The settings were changed since you read them.' },
  'onboarding.closed': { status: 404, message: 'No resource exists at this address.' },
  'signup.closed': { status: 403, message: 'Sign-up is closed.' },
  'invitation.not_found': { status: 404, message: 'Invitation not found.' },
  'server.busy': { status: 503, message: 'Too many sign-ins at once. Try again in a moment.' },
  'server.unavailable': {
    status: 503,
    message: 'The service is temporarily unavailable. Try again in a moment.',
  },
  'server.error': { status: 500, message: 'Something went wrong on our side.' },
} as const satisfies Readonly<Record<string, Entry>>;

export type ErrorCode = keyof typeof catalogue;

export interface AppErrorOptions extends ErrorOptions {
  /** Field name (as on the wire) -> what is wrong with it and how to fix it. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** Replaces the catalogue's sentence; public, so it must not reveal more than the caller may know. */
  readonly message?: string | undefined;
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds?: number | undefined;
  /** The scope that a token needs, for the WWW-Authenticate header (RFC 6750 §3). */
  readonly scope?: string | undefined;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly scope: string | undefined;
  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? catalogue[code].message, options);
    this.code = code;
    this.status = catalogue[code].status;
    this.fields = options.fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.scope = options.scope;
  }
}

/** What whoever runs the product can fix, and no bug: the message says what is wrong, where, and how to fix it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
