// The way from a form's texts to the JSON of the API and back. What is wrong is for the API to say; here only types
// are turned.
import { AppError } from '../../errors.ts';
import type { Form } from '../../http/form.ts';
import type { Values } from './page.ts';

/** One thing per line, blanks and empty lines away. */
export const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** What is not filled in clears the field. */
export const textOrNull = (text: string | undefined): string | null => {
  const trimmed = (text ?? '').trim();
  return trimmed === '' ? null : trimmed;
};

/** A number where it is one; else the text itself, for the API to refuse by name. */
export const numberOrText = (text: string): number | string =>
  /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text;

export const isOn = (form: Form, name: string): boolean => form.get(name) === 'on';

/** Everything that was typed, so that a refused form comes back as it was sent. */
export const typedIn = (form: Form): Readonly<Record<string, string>> =>
  Object.fromEntries(form.keys().map((name) => [name, form.get(name) ?? '']));

export const textOf = (values: Values, name: string): string => {
  const value = values[name];
  return typeof value === 'string' ? value : '';
};

export const itemsOf = (values: Values): readonly Values[] =>
  Array.isArray(values.items) ? values.items.filter((item) => typeof item === 'object' && item !== null) : [];

/** The version that a form was made from (optimistic concurrency). */
export const versionOf = (form: Form): number | undefined => {
  const text = form.get('version') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

export interface Refusal {
  readonly status: number;
  readonly alert: string;
  readonly errors: Readonly<Record<string, string>>;
  /** Somebody else saved in the meantime. */
  readonly isStale: boolean;
}

/** @returns what a form is told. @throws the error itself where no form could mend it */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof AppError) || error.status >= 500 || error.status === 404) throw error;
  if (error.code === 'auth.insufficient_scope' || error.code === 'auth.stale') throw error;
  const { status, message, fields = {} } = error;
  return { status, alert: message, errors: fields, isStale: status === 412 };
}

export const isMembers = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
