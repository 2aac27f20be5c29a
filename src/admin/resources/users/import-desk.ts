// What the pages of an import of a table do: judge its rows, begin it, look at it, stop it, go on.
import { AppError } from '../../../errors.ts';
import type { AdminPorts } from '../../api/ports.ts';
import type { Values } from '../../pages/page.ts';
import type { ImportDesk, JudgedRow, MappedTable, ImportRules as Rules } from '../../pages/user-imports.ts';
import { isSecret, userOf } from './csv.ts';
import { createJudge, doubledRows } from './import-judge.ts';
import type { UserImports } from './import-records.ts';

/** Judged in parallel: the store answers together. */
const AT_ONCE = 64;
const MAX_ROW_BYTES = 64 * 1024;

interface Prepared {
  readonly number: number;
  readonly cells: readonly string[];
  readonly user: Values;
  readonly reason?: string;
}

/** The rows as users, and what can be said against one without looking anywhere. */
function prepare({ table, mapping }: MappedTable): Prepared[] {
  const users = table.rows.map((row) => userOf(row, mapping));
  const doubled = doubledRows(users);
  return users.map((user, at) => {
    const cells = (table.rows[at] ?? []).map((cell, column) => (isSecret(mapping[column]) ? '' : cell));
    const number = table.numbers[at] ?? 0;
    const first = doubled.get(at);
    if (first !== undefined)
      return {
        number,
        cells,
        user,
        reason: `Row ${table.numbers[first] ?? 0} has the same username or e-mail address.`,
      };
    // A separator in a name that is not quoted: what follows it is in the wrong columns.
    if (table.rows[at]?.slice(mapping.length).some(Boolean))
      return { number, cells, user, reason: 'The row has more cells than there are columns.' };
    if (JSON.stringify(user).length > MAX_ROW_BYTES)
      return { number, cells: [], user: {}, reason: 'The row is too long.' };
    return { number, cells, user };
  });
}

const nameOf = ({ username, email }: Values): string => String(username ?? email ?? '');

export function createImportDesk(ports: AdminPorts, imports: UserImports): ImportDesk {
  const judge = createJudge(ports);

  async function judgeRow({ number, user, reason }: Prepared, rules: Rules): Promise<JudgedRow> {
    const own = { number, username: nameOf(user), changes: [], reason: '' };
    if (reason !== undefined) return { ...own, kind: 'refused', reason };
    const verdict = await judge(user, rules);
    if (verdict.kind === 'refused') return { ...own, ...verdict };
    if (verdict.kind !== 'update') return { ...own, kind: verdict.kind };
    const changes = [...Object.keys(verdict.changes), ...(verdict.groups.length > 0 ? ['groups'] : [])];
    return { ...own, kind: 'update', changes };
  }

  return {
    get: imports.get,
    listOf: imports.listOf,
    stop: imports.stop,
    resume: imports.resume,
    refused: imports.refused,

    async judge(mapped, rules) {
      const rows = prepare(mapped);
      const judged: JudgedRow[] = [];
      for (let from = 0; from < rows.length; from += AT_ONCE) {
        const some = rows.slice(from, from + AT_ONCE);
        judged.push(...(await Promise.all(some.map((row) => judgeRow(row, rules)))));
        // Other requests run in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return judged;
    },

    begin(mapped, { adminId, mayUpdate }) {
      if (mapped.table.rows.length === 0) throw new AppError('request.invalid');
      const { header } = mapped.table;
      return imports.begin({ accountId: adminId, mayUpdate, header, rows: prepare(mapped) });
    },
  };
}
