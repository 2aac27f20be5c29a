// Owns the error catalogue: every refusal that this product makes itself has one stable code, one status and one
// public sentence. Protocol errors (RFC 6749 §5.2 and relatives) belong to oidc-provider and keep its classes.

interface Entry {
  readonly status: number;
  readonly message: string;
}

export const catalogue = {
  'request.not_found': { status: 404, message: 'There is nothing at this address.' },
  'request.method_not_allowed': { status: 405, message: 'This address does not take that method.' },
  'request.too_large': { status: 413, message: 'The request body is larger than allowed.' },
  'request.unsupported_media_type': { status: 415, message: 'The request body has the wrong content type.' },
  'request.malformed': { status: 400, message: 'The request could not be read.' },
  'request.invalid': { status: 400, message: 'Some fields are not right.' },
  'request.key_reused': { status: 422, message: 'This Idempotency-Key was used for another request.' },
  'request.in_progress': {
    status: 409,
    message:
      'A request with this Idempotency-Key is under way or was cut short. See whether it was done, then use another key.',
  },
  'request.changed': { status: 412, message: 'It was changed since you read it.' },
  'request.csrf': {
    status: 403,
    message: 'This form is no longer valid. Go back, reload the page and try again.',
  },
  'request.cookies_off': {
    status: 400,
    message: 'Your browser sent no cookie. Allow cookies for this site and try again.',
  },
  'request.rate_limited': { status: 429, message: 'Too many attempts. Wait a little and try again.' },
  'auth.required': { status: 401, message: 'A bearer token is needed.' },
  'auth.invalid_token': { status: 401, message: 'The bearer token is not valid.' },
  'auth.insufficient_scope': { status: 403, message: 'This token does not belong to an administrator.' },
  'signin.failed': { status: 401, message: 'The username or password is not right.' },
  'signin.no_factor': {
    status: 403,
    message: 'This account needs a second factor that cannot be used here. Ask an administrator.',
  },
  'signin.expired': { status: 400, message: 'This page has expired.' },
  'passkey.refused': { status: 401, message: 'This passkey was not accepted.' },
  'passkey.unknown': { status: 401, message: 'This passkey is not known here any more.' },
  'passkey.unverified': {
    status: 401,
    message: 'This passkey did not check that it is you, and there is nothing else to ask you for.',
  },
  'passkey.registered': { status: 409, message: 'This passkey is registered already.' },
  'passkey.not_found': { status: 404, message: 'There is no such passkey.' },
  'passkey.last': { status: 409, message: 'This passkey is the last way into the account.' },
  'passkey.last_admin': {
    status: 409,
    message: 'While only passkeys sign in, an active administrator with one must stay.',
  },
  'passkey.off': { status: 403, message: 'Passkeys are not used here to sign in.' },
  'password.off': { status: 403, message: 'Passwords are not used here. Sign in with a passkey.' },
  'mfa.off': { status: 403, message: 'Second factors are not used here.' },
  'mfa.required': {
    status: 409,
    message: 'A second factor is demanded here, and no other one would be left.',
  },
  'mfa.none': {
    status: 409,
    message:
      'Recovery codes stand in for a second factor, and this account has none. Set up an authenticator app or a passkey first.',
  },
  'auth.stale': { status: 403, message: 'Sign in again: the last sign-in is too long ago, or was too weak.' },
  'account.not_found': { status: 404, message: 'There is no such user.' },
  'account.username_taken': { status: 409, message: 'This username is taken.' },
  'account.email_taken': { status: 409, message: 'This e-mail address is taken.' },
  'account.last_admin': { status: 409, message: 'The last active administrator must stay.' },
  'account.changed': { status: 412, message: 'The user was changed since you read it.' },
  'group.not_found': { status: 404, message: 'There is no such group.' },
  'group.name_taken': { status: 409, message: 'There is a group of this name.' },
  'group.in_use': { status: 409, message: 'An application is restricted to this group.' },
  'group.too_many': { status: 409, message: 'The user belongs to as many groups as one can.' },
  'group.not_member': { status: 404, message: 'The user is not in this group.' },
  'group.changed': { status: 412, message: 'The group was changed since you read it.' },
  'client.not_found': { status: 404, message: 'There is no such application.' },
  'client.built_in': {
    status: 409,
    message: 'This application is the pages of this server themselves. It cannot be changed or deleted.',
  },
  'client.invalid_metadata': { status: 400, message: 'The application cannot be registered like this.' },
  'session.not_found': { status: 404, message: 'There is no such session.' },
  'token.not_found': { status: 404, message: 'There is no such token.' },
  'grant.not_found': { status: 404, message: 'There is no such grant.' },
  'api_key.not_found': { status: 404, message: 'There is no such API key.' },
  'setting.unknown': { status: 400, message: 'There is no such setting.' },
  'setting.changed': { status: 412, message: 'The settings were changed since you read them.' },
  'onboarding.closed': { status: 404, message: 'There is nothing at this address.' },
  'signup.closed': { status: 403, message: 'Nobody can sign up here.' },
  'invitation.not_found': { status: 404, message: 'There is no such invitation.' },
  'server.busy': { status: 503, message: 'Too many sign-ins at once. Try again in a moment.' },
  'server.unavailable': {
    status: 503,
    message: 'The service cannot answer right now. Try again in a moment.',
  },
  'server.error': { status: 500, message: 'Something went wrong on our side.' },
} as const satisfies Readonly<Record<string, Entry>>;

export type ErrorCode = keyof typeof catalogue;

export interface AppErrorOptions extends ErrorOptions {
  /** Field name (as on the wire) -> what is wrong with it and how to mend it. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** Replaces the catalogue's sentence; public, so it must not tell more than the caller may know. */
  readonly message?: string | undefined;
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds?: number | undefined;
}

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? catalogue[code].message, options);
    this.code = code;
    this.status = catalogue[code].status;
    this.fields = options.fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
