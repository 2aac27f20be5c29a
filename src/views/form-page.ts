// Owns what every page with a form is given: its token, what is wrong with which field, and the text that says so.

/** A key of the string files, a key with its placeholders, or text that is shown as it is. */
export type Text =
  | string
  | { readonly key: string; readonly values?: Readonly<Record<string, string | number>> };

/** Wire name of a field -> what is wrong with it. */
export type FieldErrors = Readonly<Record<string, Text>>;

export interface FormPage {
  readonly csrf: string;
  readonly alert?: Text | undefined;
  /** With an alert: how long to wait before trying again; shown as a countdown. */
  readonly retryAfterSeconds?: number | undefined;
}
