// Which columns of a list are shown. The form is a GET on the list itself, so that auditors can choose too, and works without a
// script; the answer is kept for this browser (console/view-choices.ts) and leads back to the list as it was.
import type { AdminContext } from './page.ts';

/** Of the form: all names that could be chosen, joined by commas. */
const ALL = 'columns';
/** Once for each chosen name. */
const CHOSEN = 'show';
const RESET = 'reset_columns';

const namePattern = /^[\p{L}\p{N}-]{1,24}$/u;
const MAX_NAMES = 16;

/** @returns whether the request was the form's, and is answered */
export function keepColumns(context: AdminContext, path: string): boolean {
  const query = new URLSearchParams(context.query);
  const all = query.get(ALL);
  if (all === null) return false;
  const shown = new Set(query.getAll(CHOSEN));
  const { [path]: _, ...others } = context.choices.hiddenColumns;
  const names = all.split(',').filter((name) => namePattern.test(name));
  const hidden = names.slice(0, MAX_NAMES).filter((name) => !shown.has(name));
  context.keepChoices({ hiddenColumns: query.has(RESET) ? others : { ...others, [path]: hidden } });
  for (const name of [ALL, CHOSEN, RESET]) query.delete(name);
  context.go([path, query].filter(String).join('?'));
  return true;
}

interface Named {
  readonly label: string;
  /** Its heading is for screen readers alone: a box to tick, or buttons. */
  readonly isUnseen?: boolean;
}

const nameOf = ({ label }: Named): string => label.toLowerCase().replaceAll(' ', '-');

/** What templates/admin/list.njk needs. */
export function columnChoice({ choices, query }: Pick<AdminContext, 'choices' | 'query'>, path: string) {
  const hidden = choices.hiddenColumns[path];
  return {
    isMade: hidden !== undefined,
    /** Those that can be chosen: not the first, which names the line, and none without a heading. */
    of: (columns: readonly Named[]) =>
      columns
        .map((column, index) => ({ ...column, name: nameOf(column), position: index + 1 }))
        .filter(({ isUnseen }) => isUnseen !== true)
        .slice(1)
        .map((column) => ({ ...column, isHidden: hidden?.includes(column.name) === true })),
    /** The list as it is, from its first page. */
    kept: [...query].filter(([name]) => !['cursor', 'offset'].includes(name)),
  };
}
