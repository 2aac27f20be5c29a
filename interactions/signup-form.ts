// Only fields that the page shows are taken: whatever else an account has (a role, a flag, an id) cannot come in by this form, and
// trying it is refused.
import { AppError, invalid } from '../src/errors.ts';
import type { Form } from '../src/http/index.ts';
import type { SignupAnswers, SignupQuestions } from '../src/registration/index.ts';
import { signupFields } from '../src/registration/index.ts';
import type { FieldErrors } from '../src/views/index.ts';

/** Fields of the form that are not part of the account. */
const formFields = [
  'csrf',
  'interaction',
  'client_id',
  'token',
  'action',
  'accept_terms',
  'can_passkey',
] as const;
const passwordFields = ['password', 'confirm_password'] as const;
// Longer than any stored value; a longer one is invalid anyway and is shown truncated.
const MAX_SHOWN = 300;

/** @throws AppError request.invalid naming every field that the page does not have */
function refuseUnknown(form: Form, { fields, isPasswordAsked }: SignupQuestions): void {
  const known = new Set<string>([
    ...formFields,
    ...(isPasswordAsked ? passwordFields : []),
    ...signupFields.filter((name) => fields[name] !== 'hidden'),
  ]);
  const unknown = form.keys().filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const problems = unknown.slice(0, 20).map((name) => [name.slice(0, 100), 'Unknown field.']);
  throw invalid(Object.fromEntries(problems));
}

/**
 * @param options.isEmailKnown the address comes from an invitation
 * @returns the values and which are missing; src/accounts validates the values
 */
export function readSignup(
  form: Form,
  questions: SignupQuestions,
  options: { isEmailKnown?: boolean } = {},
): { answers: SignupAnswers; errors: FieldErrors } {
  refuseUnknown(form, questions);
  const { fields, isPasswordAsked, terms } = questions;
  const errors: Record<string, string> = {};
  const values: Record<string, string> = {};
  for (const name of signupFields) {
    if (fields[name] === 'hidden') continue;
    const value = form.get(name)?.trim() ?? '';
    if (value !== '') values[name] = value.slice(0, MAX_SHOWN);
    else if (fields[name] === 'required') errors[name] = 'field.missing';
  }
  // Without a username the address is used, so one of them is required.
  const hasEmail = options.isEmailKnown === true || values.email !== undefined;
  if (fields.username === 'optional' && values.username === undefined && !hasEmail) {
    errors.username = 'field.missing';
  }
  const password = isPasswordAsked ? (form.get('password') ?? '') : undefined;
  if (isPasswordAsked && password !== form.get('confirm_password')) {
    errors.confirm_password = 'invalid.password_mismatch';
  }
  if (terms !== undefined && form.get('accept_terms') !== 'on') errors.accept_terms = 'invalid.terms';
  return { answers: { values, password }, errors };
}

/** Errors for which this page has a translated text, by code. */
const translatedErrors: Readonly<Record<string, FieldErrors>> = {
  'account.username_taken': { username: 'invalid.username_taken' },
  'account.email_taken': { email: 'invalid.email_taken' },
};

/** @returns the errors to show in the form. @throws any error that is not about a field */
export function errorsOf(error: unknown): FieldErrors {
  if (!(error instanceof AppError) || error.fields === undefined) throw error;
  return translatedErrors[error.code] ?? error.fields;
}
