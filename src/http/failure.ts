// Maps a thrown value to a response: one status, one code of the table, one public message. Anything not known to be
// public becomes `server.error`; the log has the rest.
import { STATUS_CODES } from 'node:http';
import { AppError, type ErrorCode } from '../errors.ts';
import { errorRows } from '../model/errors/errors.ts';
import { StoreUnavailable } from '../store/port.ts';

export interface Failure {
  readonly status: number;
  readonly code: ErrorCode;
  /** Public. */
  readonly message: string;
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The scope that a token needs. */
  readonly scope?: string | undefined;
}

const STORE_RETRY_SECONDS = 2;

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'auth.required',
  404: 'request.not_found',
  405: 'request.method_not_allowed',
  413: 'request.too_large',
  415: 'request.unsupported_media_type',
};

export function failureOf(code: ErrorCode): Failure {
  const { status, message } = errorRows[code];
  return { code, status, message };
}

/** Koa's contract: an error with `expose` carries a status and a message for the client. */
function exposedFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !('status' in error) || !('expose' in error)) return undefined;
  const { status, expose, message } = error;
  if (expose !== true || typeof status !== 'number' || status < 400 || status > 499) return undefined;
  const code = codeByStatus[status] ?? 'request.malformed';
  return { status, code, message: message === STATUS_CODES[status] ? errorRows[code].message : message };
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { status, code, message, fields, retryAfterSeconds, scope } = error;
    return { status, code, message, fields, retryAfterSeconds, scope };
  }
  if (error instanceof StoreUnavailable) {
    return { ...failureOf('server.unavailable'), retryAfterSeconds: STORE_RETRY_SECONDS };
  }
  return exposedFailure(error) ?? failureOf('server.error');
}
