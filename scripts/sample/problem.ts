// An error between the sample and the provider: the provider's message and advice for the developer.
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

export type ProblemKind = 'unreachable' | 'refused' | 'other';

/** Shown on a page as it is, so it must not contain a secret. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** The protocol's error code, as `access_denied`. */
  readonly code: string | undefined;
  /** What to do about it. */
  readonly advice: string | undefined;
  constructor(
    kind: ProblemKind,
    message: string,
    details: { code?: string | undefined; advice?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.code = details.code;
    this.advice = details.advice;
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  access_denied: 'Nothing was shared with this application. You can try again.',
  invalid_client:
    'Compare client ID and secret with what the provider showed when the application was registered.',
  invalid_grant: 'The code or token was already used, expired or revoked. Sign in again.',
  invalid_token: 'The token is expired or revoked. Refresh, or sign in again.',
  login_required: 'No user is signed in at the provider in this browser.',
  unauthorized_client: 'The application is not allowed to do this. Check its grant types at the provider.',
};

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
]);

const refused = (code: string, description: string | undefined, cause: Error): Problem =>
  new Problem('refused', `The provider says: “${description ?? code}”`, {
    code,
    advice: ADVICE[code],
    cause,
  });

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isNamed = 'code' in error && NETWORK.has(String(error.code));
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  return isNamed || error.name === 'TimeoutError' || isNetwork(error.cause) || parts.some(isNetwork);
}

/** @param issuer for the message when it cannot be reached */
export function toProblem(error: unknown, issuer: URL): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return refused(error.error, error.error_description, error);
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    const { error: code = 'invalid_token', error_description: description } =
      error.cause[0]?.parameters ?? {};
    return refused(code, description, error);
  }
  if (isNetwork(error)) {
    return new Problem('unreachable', `No provider responds at ${issuer.href}`, {
      advice:
        'Start it with "npm start" in another terminal. If it runs elsewhere, start the sample with --issuer.',
      cause: error,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof ClientError ? error.code : undefined;
  return new Problem('other', message, { code, cause: error });
}
