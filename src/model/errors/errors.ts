// Every error that this product raises itself: one row per stable code. Protocol errors (RFC 6749 §5.2 and related) belong to
// oidc-provider and keep its classes. docs/errors.md and the documents of the APIs are written from these rows, in this order.
import { accountErrors } from './account.ts';
import { administrationErrors } from './administration.ts';
import type { ErrorRow } from './error-row.ts';
import { requestErrors } from './request.ts';
import { serverErrors } from './server.ts';
import { signInErrors } from './sign-in.ts';
import { signUpErrors } from './sign-up.ts';

const rows = {
  ...requestErrors,
  ...signInErrors,
  ...accountErrors,
  ...administrationErrors,
  ...signUpErrors,
  ...serverErrors,
};

export type ErrorCode = keyof typeof rows;

export const errorRows: Readonly<Record<ErrorCode, ErrorRow>> = rows;

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(rows, code);

export const errorCodes: readonly ErrorCode[] = Object.keys(rows).filter(isErrorCode);
