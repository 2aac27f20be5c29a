// What a kind of value is (kinds.ts and its neighbours have them), said without a library: whoever compiles schemas does so above.
import type { PageText } from '../phrase.ts';

export type Parsed<T> = { readonly value: T } | Problem;

export interface Problem {
  readonly problem: string;
  /** Of an object: what is wrong with which of its members. */
  readonly inside?: Readonly<Record<string, string>>;
}

/** JSON Schema keywords (OpenAPI 3.1). */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** What a form has for it. */
export type Control =
  | 'check'
  | 'number'
  | 'select'
  | 'line'
  /** A text of several lines, or a list with an entry a line. */
  | 'lines'
  | 'url'
  | 'email'
  | 'color'
  | 'time'
  | 'json'
  | 'secret';

/** @typeParam T as it is stored @typeParam W as JSON has it, where that differs */
export interface Kind<T, W = T> {
  /** Of the value in JSON. */
  readonly schema: Schema;
  readonly control: Control;
  /** Each value of a choice, with the words that pages have for it. */
  readonly words?: Readonly<Record<string, string>>;
  /** All that `parse` can say, with its values: the catalogues have them. */
  readonly problems: readonly PageText[];
  parse(given: unknown): Parsed<T>;
  /** A form's text as JSON; what it cannot read stays text, and `parse` says what is wrong with it. Absent: the text. */
  typed?(text: string): unknown;
  /** In a form, and among facts. Absent: as a text. */
  shown?(value: T): string;
  /** Absent: as it is stored. */
  sent?(value: T): W;
}

export const valid = <T>(isValid: boolean, value: T, problem: PageText): Parsed<T> =>
  isValid ? { value } : { problem: String(problem) };
