import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

export type Row = Record<string, SQLOutputValue>;

/** A fragment of SQL with its bound values. */
export interface Condition {
  readonly sql: string;
  readonly cells: readonly SQLInputValue[];
}
