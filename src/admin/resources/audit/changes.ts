// What an event did, from its `details`: the values before and after; of something new or deleted, the values that it has or had.
import { isMembers, isTexts } from '../../../json.ts';
import type { Values } from '../../pages/page.ts';

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface Changes {
  /** Whether there was something before and after; else each row has one side. */
  readonly kind: 'changed' | 'created' | 'deleted';
  readonly rows: readonly Change[];
  /** Of something new: what nobody asked for. */
  readonly defaults: readonly Change[];
}

export const shown = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (isTexts(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const membersOf = (value: unknown): Values => (isMembers(value) ? value : {});

function kindOf({ before, after }: Values): Changes['kind'] {
  if (!isMembers(before)) return 'created';
  return isMembers(after) ? 'changed' : 'deleted';
}

export function changesOf(details: Values): Changes {
  const kind = kindOf(details);
  const [before, after] = [membersOf(details.before), membersOf(details.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const rows = names
    .map((name) => ({ name, before: shown(before[name]), after: shown(after[name]) }))
    // Nothing and an empty list look the same.
    .filter((row) => row.before !== row.after);
  const asked = Array.isArray(details.fields) ? details.fields : [];
  const isAsked = ({ name }: Change): boolean => asked.includes(name);
  if (kind !== 'created' || !rows.some(isAsked)) return { kind, rows, defaults: [] };
  return { kind, rows: rows.filter(isAsked), defaults: rows.filter((row) => !isAsked(row)) };
}
