// Turns filters into SQL; callers' text is only ever bound. Conditions on one field can be evaluated on that field's index
// alone, also inverted: by counting what does not match.
import type { FieldFilter, FieldValue } from '../../src/store/port.ts';
import { fold } from '../document.ts';
import { encodeText } from '../text.ts';
import type { Condition } from './sql.ts';
import { fieldColumn, toCell } from './table.ts';

/** A condition on one field. */
export interface FieldCondition extends Condition {
  readonly field: string;
  /** Ranges of the field's index that together match everything else; undefined where that is not simple. */
  readonly others: readonly Condition[] | undefined;
}

export const all = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'TRUE',
  cells: conditions.flatMap(({ cells }) => cells),
});

export const anyOf = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' OR ') || 'FALSE',
  cells: conditions.flatMap(({ cells }) => cells),
});

/** The form in which text is stored and searched. */
export const searchable = (text: FieldValue | undefined): string => encodeText(fold(String(text)));

/** SQLite's lower() is fast but folds ASCII only; our `fold` handles all other text. */
export function contains(field: string, text: FieldValue | undefined): Condition {
  const column = fieldColumn(field);
  const wanted = searchable(text);
  return {
    sql: `CASE WHEN length(${column}) = octet_length(${column}) THEN instr(lower(${column}), ?)
          ELSE instr(fold(${column}), ?) END > 0`,
    cells: [wanted, wanted],
  };
}

type Parts = Condition & { readonly others: readonly Condition[] };

function partsOf({ field, op, value }: FieldFilter): Parts {
  const column = fieldColumn(field);
  const cells = [toCell(value)];
  const [absent, present] = [`${column} IS NULL`, `${column} IS NOT NULL`].map((sql) => ({ sql, cells: [] }));
  const [below, above] = [`${column} < ?`, `${column} > ?`].map((sql) => ({ sql, cells }));
  const none: Condition = { sql: 'FALSE', cells: [] };
  const [isNull, isNotNull, less, more] = [absent ?? none, present ?? none, below ?? none, above ?? none];
  switch (op) {
    case 'eq':
      return { sql: `${column} = ?`, cells, others: [less, more, isNull] };
    case 'gte':
      return { sql: `${column} >= ?`, cells, others: [less, isNull] };
    case 'lte':
      return { sql: `${column} <= ?`, cells, others: [more, isNull] };
    case 'absent':
      return { ...isNull, others: [isNotNull] };
    case 'present':
      return { ...isNotNull, others: [isNull] };
    case 'contains':
      return { ...contains(field, value), others: [] };
  }
}

/** @param filters without `contains`. @returns one condition per field */
export function byField(filters: readonly FieldFilter[]): FieldCondition[] {
  const grouped = Map.groupBy(filters, ({ field }) => field);
  return [...grouped].map(([field, group]) => {
    const parts = group.map(partsOf);
    const [only, ...more] = parts;
    // A range with two bounds: its complement is everything below, above, or absent.
    const isRange = group.length === 2 && group[0]?.op === 'gte' && group[1]?.op === 'lte';
    const others = more.length === 0 ? only?.others : undefined;
    const around = parts.flatMap((part) => part.others.slice(0, 1));
    const absent: Condition = { sql: `${fieldColumn(field)} IS NULL`, cells: [] };
    return { field, ...all(parts), others: isRange ? [...around, absent] : others };
  });
}
