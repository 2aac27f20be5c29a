// Owns the pieces that SQL statements are put together from.
import type { SQLInputValue } from 'node:sqlite';

/** A piece of SQL with what is bound to it. */
export interface Condition {
  readonly sql: string;
  readonly cells: readonly SQLInputValue[];
}
