import type { SQLInputValue } from 'node:sqlite';

/** A fragment of SQL with its bound values. */
export interface Condition {
  readonly sql: string;
  readonly cells: readonly SQLInputValue[];
}
