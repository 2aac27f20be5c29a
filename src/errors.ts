// A refusal by this product itself: a code of the table (src/model/errors/), with what only this request knows.
import { type ErrorCode, errorRows } from './model/errors/errors.ts';

export type { ErrorCode };

export interface AppErrorOptions extends ErrorOptions {
  /** Field name (as on the wire) -> what is wrong with it and how to fix it. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** Replaces the row's sentence; public, so it must not reveal more than the caller may know. */
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
    super(options.message ?? errorRows[code].message, options);
    this.code = code;
    this.status = errorRows[code].status;
    this.fields = options.fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.scope = options.scope;
  }
}

/** @param fields their names on the wire, each with its problem */
export const invalid = (fields: Readonly<Record<string, string>>): AppError =>
  new AppError('request.invalid', { fields });

/** What whoever runs the product can fix, and no bug: the message says what is wrong, where, and how to fix it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
