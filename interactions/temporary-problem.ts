import { AppError, type ErrorCode } from '../src/errors.ts';

/** Errors after which the form is shown again, with the time left. */
const ALERTS: { readonly [Code in ErrorCode]?: string } = {
  'server.busy': 'alert.busy',
  'request.rate_limited': 'alert.rate_limited',
};

/** @returns undefined for any other error */
export function temporaryProblem(error: unknown) {
  if (!(error instanceof AppError)) return undefined;
  const { code, status, retryAfterSeconds = 1 } = error;
  const alert = ALERTS[code];
  return alert === undefined ? undefined : { alert, status, retryAfterSeconds };
}
