// The part of a model that every page with a form has: CSRF token, field errors, alert.

/** A key of the string files, a key with placeholders, or literal text. */
export type Text =
  | string
  | { readonly key: string; readonly values?: Readonly<Record<string, string | number>> };

/** Wire name of a field -> what is wrong with it. */
export type FieldErrors = Readonly<Record<string, Text>>;

export interface FormPage {
  readonly csrf: string;
  readonly alert?: Text | undefined;
  /** With an alert: seconds until the next attempt; shown as a countdown. */
  readonly retryAfterSeconds?: number | undefined;
}
