// Carries out imports of users, a part at a time, in the name of the administrator who confirmed them: through the routes of
// the REST API where a user is changed, so that rules and audit are the same. What was interrupted is done again from the
// beginning of its part, by another process perhaps while the first still writes; a user that was created already is found by the
// id that the row has, and made whole.
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { type Account, accessOfRole } from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import { StoreUnavailable } from '../../../store/port.ts';
import type { AdminPorts } from '../../api/ports.ts';
import type { createCalls } from '../../pages/calls.ts';
import { textsOf } from '../../pages/field-values.ts';
import type {
  ImportPart as Part,
  ImportRow as Row,
  ImportRules as Rules,
  UserImport,
} from '../../pages/user-imports.ts';
import { groupMembers } from '../groups/resource.ts';
import { createJudge, type Verdict } from './import-judge.ts';
import type { Outcome, UserImports } from './import-records.ts';
import { recordImported, writeImported } from './import-route.ts';
import { users } from './resource.ts';

type Did =
  | { readonly kind: 'created' | 'updated' }
  | { readonly kind: 'unchanged'; readonly id: string }
  | { readonly kind: 'refused'; readonly row: Row };

/** `made`: the user whom an interrupted run has created already. */
type Plan = { readonly row: Row } & ({ readonly made: Account } | { readonly verdict: Verdict });

const UNEXPECTED = 'Something went wrong that nobody expected; the log of the server says what.';
const NOT_ADMIN = 'The administrator who started it may no longer import users.';

export function createImportRun(
  ports: AdminPorts,
  imports: UserImports,
  call: ReturnType<typeof createCalls>['call'],
) {
  const { accounts, events, audit } = ports;
  const judge = createJudge(ports);

  const actorOf = (rules: Rules) => ({ kind: 'user', id: rules.adminId, access: 'all' }) as const;

  async function addTo(groups: readonly string[], userId: string, rules: Rules): Promise<void> {
    const who = { account: { id: rules.adminId }, access: 'all', isFresh: true } as const;
    for (const id of groups) await call(who, groupMembers.add, { params: { id }, body: { user_id: userId } });
  }

  /** What wrote it may have ended before its event and groups. */
  async function makeWhole(account: Account, { user }: Row, rules: Rules): Promise<Did> {
    const { items } = await audit.query({
      filters: [
        { field: 'event', op: 'eq', value: 'user.created' },
        { field: 'target_id', op: 'eq', value: account.id },
      ],
      sort: 'id',
      order: 'asc',
      limit: 1,
      isCounted: false,
    });
    if (items.length === 0) await recordImported(account, actorOf(rules), events);
    const groups = textsOf(user.groups);
    const missing = groups.filter((name) => !(account.groups ?? []).includes(name));
    await addTo(missing, account.id, rules);
    return { kind: 'created' };
  }

  /** What a row will do, found out before any row of its part does it. */
  async function plan(row: Row, rules: Rules): Promise<Plan> {
    if (row.reason !== undefined) return { row, verdict: { kind: 'refused', reason: row.reason } };
    const made = await accounts.find(row.id);
    if (made !== undefined) return { row, made };
    const verdict = await judge(row.user, rules, row.id);
    return { row, verdict };
  }

  async function change(row: Row, verdict: Verdict, rules: Rules): Promise<Did> {
    const who = { account: { id: rules.adminId }, access: 'all', isFresh: true } as const;
    if (verdict.kind === 'refused') return { kind: 'refused', row: { ...row, reason: verdict.reason } };
    if (verdict.kind === 'unchanged') return { kind: 'unchanged', id: row.id };
    if (verdict.kind === 'create') {
      await writeImported(verdict.prepared, actorOf(rules), events);
      return { kind: 'created' };
    }
    const { userId: id, changes, groups } = verdict;
    if (Object.keys(changes).length > 0) await call(who, users.change, { params: { id }, body: changes });
    await addTo(groups, id, rules);
    return { kind: 'updated' };
  }

  /** Asked before and after: in between, a process that was believed gone may have created it. */
  async function changeOnce(planned: Plan, rules: Rules): Promise<Did> {
    const { row } = planned;
    if ('made' in planned) return makeWhole(planned.made, row, rules);
    const did = await change(row, planned.verdict, rules).catch((error: unknown) => ({ error }));
    if ('kind' in did && did.kind === 'created') return did;
    const made = await accounts.find(row.id);
    if (made !== undefined) return makeWhole(made, row, rules);
    if ('error' in did) throw did.error;
    return did;
  }

  async function take(planned: Plan, rules: Rules): Promise<Did> {
    const { row } = planned;
    if (row.reason !== undefined) return { kind: 'refused', row };
    try {
      return await changeOnce(planned, rules);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      const [problem] = Object.values(error.fields ?? {});
      return { kind: 'refused', row: { ...row, reason: problem ?? error.message } };
    }
  }

  /**
   * @param note called before the first change of a user, with the rows that are about to change one
   * @returns undefined: another process is done with it
   */
  async function takePart(
    { rows }: Part,
    rules: Rules,
    note: (changing: ReadonlySet<string>) => Promise<boolean>,
  ): Promise<Outcome | undefined> {
    // Parallel writes share commits; within a file no two rows are about one user.
    const planned = await Promise.all(rows.map((row) => plan(row, rules)));
    const changing = planned.filter((one) => 'verdict' in one && one.verdict.kind === 'update');
    if (changing.length > 0 && !(await note(new Set(changing.map(({ row }) => row.id))))) return undefined;
    const did = await Promise.all(planned.map((one) => take(one, rules)));
    const count = (kind: Did['kind']): number => did.filter((one) => one.kind === kind).length;
    return {
      created: count('created'),
      updated: count('updated'),
      unchanged: did.flatMap((one) => (one.kind === 'unchanged' ? [one.id] : [])),
      refused: did.flatMap((one) => (one.kind === 'refused' ? [one.row] : [])),
    };
  }

  const report = ({ accountId, created, updated, unchanged, refused }: UserImport): Promise<void> =>
    events.record({
      event: 'users.imported',
      actor: { kind: 'user', id: accountId },
      details: { created, updated, unchanged, failed: refused },
    });

  async function run(one: UserImport, signal: AbortSignal): Promise<number> {
    const rules = { mayUpdate: one.mayUpdate, adminId: one.accountId };
    let rows = 0;
    while (!signal.aborted) {
      const admin = await accounts.find(one.accountId);
      if (admin === undefined || !admin.isActive || accessOfRole(admin.role) !== 'all') {
        await imports.stop(one.id, NOT_ADMIN);
        break;
      }
      const next = await imports.next(one.id);
      if (next === undefined) break;
      const note = (changing: ReadonlySet<string>) => imports.note(one.id, next.at, changing);
      const outcome = await takePart(next.part, rules, note);
      const after = outcome && (await imports.settle(one.id, next.at, outcome));
      if (after === undefined) break;
      rows += next.part.rows.length;
      if (after.state === 'done') await report(after);
      await yieldToRequests();
    }
    return rows;
  }

  /** @returns how many rows are done */
  return async (one: UserImport, signal: AbortSignal): Promise<number> => {
    try {
      return await run(one, signal);
    } catch (error) {
      // While the store is away it only waits. What else there is would happen again and again.
      if (!(error instanceof StoreUnavailable)) await imports.stop(one.id, UNEXPECTED);
      throw error;
    }
  };
}
