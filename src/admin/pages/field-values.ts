// Converts form values to the JSON of the API and back. Only types are converted here; the API validates the values.
import { AppError } from '../../errors.ts';
import type { Form } from '../../http/index.ts';
import type { Values } from './page.ts';

/** One item per line, without surrounding whitespace and empty lines. */
export const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** An empty input clears the field. */
export const textOrNull = (text: string | undefined): string | null => {
  const trimmed = (text ?? '').trim();
  return trimmed === '' ? null : trimmed;
};

/** A number if the text is one; otherwise the text itself, so that the API names the field in its error. */
export const numberOrText = (text: string): number | string =>
  /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text;

export const isOn = (form: Form, name: string): boolean => form.get(name) === 'on';

/** All submitted values, so that a rejected form is shown again as submitted. */
export const typedIn = (form: Form): Readonly<Record<string, string>> =>
  Object.fromEntries(form.keys().map((name) => [name, form.get(name) ?? '']));

/** Of a list; none of what is none. */
export const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export const textOf = (values: Values, name: string): string => {
  const value = values[name];
  return typeof value === 'string' ? value : '';
};

/** The version of the item that the form was rendered from (optimistic concurrency). */
export const versionOf = (form: Form): number | undefined => {
  const text = form.get('version') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

export interface Refusal {
  readonly status: number;
  readonly alert: string;
  readonly errors: Readonly<Record<string, string>>;
  /** Another administrator saved in the meantime. */
  readonly isStale: boolean;
}

/** @returns the error to show in the form. @throws the error itself when changing the form cannot fix it */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof AppError) || error.status >= 500 || error.status === 404) throw error;
  if (error.code === 'auth.insufficient_scope' || error.code === 'auth.stale') throw error;
  const { status, message, fields = {} } = error;
  return { status, alert: message, errors: fields, isStale: status === 412 };
}
