import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

export type Row = Record<string, SQLOutputValue>;

/** A fragment of SQL with its bound values. */
export interface Condition {
  readonly sql: string;
  readonly cells: readonly SQLInputValue[];
}

/** A table that triggers keep in step with a collection's, named <table>__<suffix>. */
export interface DerivedTable {
  /** The table, then its triggers. */
  readonly create: readonly { readonly name: string; readonly sql: string }[];
  /** Fills it for rows that are there already: those with a row id above the first parameter, up to the second. */
  readonly fillSql: string;
}

export const keyColumn = (index: string): string => `k_${index}`;
