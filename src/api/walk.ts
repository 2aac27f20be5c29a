// One reader and one writer of records by their rows (src/model/row.ts): for the API, forms, imports and whatever else sets facts.
// Its two assertions are the only ones: which name goes with which type is known only while it runs, and the tests over all rows
// hold it.
import { isDeepStrictEqual } from 'node:util';
import { isMembers, memberOf } from '../json.ts';
import type { Parsed } from '../model/kind.ts';
import type { Held, Row, Rows, Setter, Special, Specials, Stored, View, Viewer } from '../model/row.ts';

interface How {
  readonly by: Setter;
  /** `replace`: what its setter could give and did not becomes what absence means. */
  readonly mode?: 'merge' | 'replace';
  /** What no row speaks of; from registrants it is dropped (RFC 7591 §2). */
  readonly unknown?: 'refused' | 'dropped';
}

/** @returns what is at a place of a record */
const read = (record: object, { stored }: Pick<Row<unknown>, 'stored'>): unknown =>
  stored.split('.').reduce<unknown>(memberOf, record);

const without = (holder: object, name: string): object =>
  Object.fromEntries(Object.entries(holder).filter(([member]) => member !== name));

function written(holder: object, [name = '', ...inner]: readonly string[], value: unknown): object {
  const before = memberOf(holder, name);
  const after =
    inner.length === 0
      ? value
      : before === undefined && value === undefined
        ? undefined
        : written(isMembers(before) ? before : {}, inner, value);
  return after === undefined ? without(holder, name) : { ...holder, [name]: after };
}

const maySet = ({ setBy }: Row<unknown>, by: Setter): boolean =>
  by === 'administrator' ? setBy !== 'server' : setBy === by;

const isSeenBy = ({ shownTo }: Row<unknown>, to: Viewer): boolean => shownTo === 'everyone' || shownTo === to;

function settled({ kind, absent }: Row<unknown>, given: unknown): Parsed<unknown> {
  const goesBack = absent === null || absent === undefined;
  if (given === null && goesBack) return { value: null };
  const parsed = kind.parse(given);
  return 'value' in parsed && parsed.value === '' && goesBack ? { value: null } : parsed;
}

/**
 * @param specials the functions of exactly those rows that are special
 * @param mayHave what a record has no part in is no field of it; default: it has all
 * @typeParam R the stored record, by default what the rows say of it
 */
export function walk<F extends Rows, R extends Held<F> = Held<F> & Stored<F>>(
  rows: F,
  specials: Specials<F, R>,
  mayHave: (record: R, row: Row<unknown>) => boolean = () => true,
) {
  const all = Object.entries<Row<unknown>>(rows);
  const special = new Map<string, Pick<Special<R, unknown>, 'show'> & Partial<Special<R, unknown>>>(
    Object.entries(specials),
  );
  const recordOf = (members: object) => members as R;

  function sent(record: R, name: string, one: Row<unknown>): unknown {
    const own = special.get(name);
    if (own !== undefined) return own.show(record);
    const value = read(record, one) ?? one.absent;
    return value === null || value === undefined || one.kind.sent === undefined
      ? value
      : one.kind.sent(value);
  }

  function changed(record: R, [name, one]: (typeof all)[number], value: unknown): R {
    const own = special.get(name);
    if (own?.settle !== undefined) {
      const change = Object.entries<unknown>(own.settle(record, value));
      return recordOf(change.reduce<object>((next, [member, to]) => written(next, [member], to), record));
    }
    const isNothing = value === null || (one.isAlwaysStored !== true && isDeepStrictEqual(value, one.absent));
    return recordOf(written(record, one.stored.split('.'), isNothing ? undefined : value));
  }

  return {
    /** @returns what that viewer sees, in the order of the rows */
    show<To extends Viewer = 'administrator'>(record: R, to?: To): View<F, To> {
      const seen = all.filter(([, one]) => isSeenBy(one, to ?? 'administrator') && mayHave(record, one));
      const members = seen.map(([name, one]) => [name, sent(record, name, one)] as const);
      return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as View<F, To>;
    },

    /**
     * @param given unvalidated, by the names of the rows
     * @returns the record with all that is valid, and what is wrong with the rest
     */
    change(
      record: R,
      given: Readonly<Record<string, unknown>>,
      { by, mode = 'merge', unknown = by === 'registrant' ? 'dropped' : 'refused' }: How,
    ): { readonly next: R; readonly problems: ReadonlyMap<string, string> } {
      const problems = new Map<string, string>();
      const own = new Map(all.filter(([, one]) => mayHave(record, one)));
      for (const name of Object.keys(given))
        if (!own.has(name) && unknown === 'refused') problems.set(name, 'Unknown field.');
      let next = record;
      for (const entry of own) {
        const [name, one] = entry;
        const isGiven = Object.hasOwn(given, name) && given[name] !== undefined;
        if (!isGiven) {
          if (mode === 'replace' && maySet(one, by) && one.shownTo !== 'nobody')
            next = changed(next, entry, one.absent ?? null);
          continue;
        }
        if (!maySet(one, by)) {
          problems.set(name, 'This field cannot be changed.');
          continue;
        }
        const parsed = settled(one, given[name]);
        if ('problem' in parsed) {
          const { problem, inside } = parsed;
          if (inside === undefined) problems.set(name, problem);
          else for (const [member, one] of Object.entries(inside)) problems.set(`${name}.${member}`, one);
        } else next = changed(next, entry, parsed.value);
      }
      return { next, problems };
    },
  };
}
