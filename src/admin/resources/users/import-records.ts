// Imports of users in the store: begun, found, stopped, continued, and the rows that were refused. Any process can show or
// continue one. Rows are sealed, because they may have password hashes, and are removed as soon as they are done.
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { newId, newSecret } from '../../../ids.ts';
import { isMembers, parseJson } from '../../../json.ts';
import type { Sealer } from '../../../keys/index.ts';
import { type Store, type Stored, VersionConflict } from '../../../store/port.ts';
import { type Reseal, resealAll, resealText } from '../../../store/reseal.ts';
import { update } from '../../../store/update.ts';
import {
  type UserImportPartRecord,
  type UserImportRecord,
  userImportParts,
  userImports,
} from '../../../store/user-imports.ts';
import { textsOf } from '../../pages/field-values.ts';
import type {
  ImportDesk,
  ImportPart as Part,
  ImportRow as Row,
  UserImport,
} from '../../pages/user-imports.ts';

/** Rows that are written, and counted as done, together. */
const PART = 50;
/** Parts that are stored at once when an import begins. */
const AT_ONCE = 20;
const KEPT_MS = 86_400_000;

const partId = (id: string, at: number): string => `${id}.${String(at).padStart(5, '0')}`;
const purposeOf = (id: string): string => `user_import ${id}`;

function readRow(value: unknown): Row {
  const row = isMembers(value) ? value : {};
  const { number, cells, user, id, reason, isChange } = row;
  return {
    number: Number(number),
    cells: textsOf(cells),
    user: isMembers(user) ? user : {},
    id: String(id),
    ...(typeof reason === 'string' && { reason }),
    ...(isChange === true && { isChange }),
  };
}

function readPart(text: string): Part {
  const part: unknown = parseJson(text);
  if (!isMembers(part)) throw new TypeError('a part of an import is an object');
  return { header: textsOf(part.header), rows: (Array.isArray(part.rows) ? part.rows : []).map(readRow) };
}

export const resealUserImports: Reseal = ({ store, sealer }, run) =>
  resealAll(
    {
      collection: store.collection(userImportParts),
      reseal(record, id) {
        if (!sealer.needsReseal(record.sealed)) return undefined;
        return { ...record, sealed: resealText(sealer, purposeOf(id), record.sealed) };
      },
    },
    run,
  );

export interface Outcome {
  readonly created: number;
  readonly updated: number;
  /** IDs of the rows that found nothing to change: what another process noted of one of them, that one has changed it. */
  readonly unchanged: readonly string[];
  readonly refused: readonly Row[];
}

export interface Next {
  readonly at: number;
  readonly part: Part;
}

export interface UserImports extends Pick<ImportDesk, 'get' | 'listOf' | 'resume' | 'refused'> {
  /** @returns its id */
  begin(input: {
    readonly accountId: string;
    readonly mayUpdate: boolean;
    readonly header: readonly string[];
    readonly rows: readonly Omit<Row, 'id'>[];
  }): Promise<string>;
  /** @param problem why it stops by itself */
  stop(id: string, problem?: string): Promise<void>;
  running(): Promise<UserImport[]>;
  /** The rows of its next part; undefined when it is done or does not run. */
  next(id: string): Promise<Next | undefined>;
  /**
   * Rows are about to change users, beside what other processes have noted of the same part.
   * @returns false: another process is done with it
   */
  note(id: string, at: number, changing: ReadonlySet<string>): Promise<boolean>;
  /** The part is done: in one write with the counts. */
  settle(id: string, at: number, outcome: Outcome): Promise<UserImport | undefined>;
  removeOfAccount(accountId: string): Promise<void>;
}

interface Deps {
  readonly store: Store;
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  readonly clock: Clock;
}

const withId = ({ id, value }: Stored<UserImportRecord>): UserImport => ({ ...value, id });

export function createUserImports({ store, sealer, clock }: Deps): UserImports {
  const imports = store.collection(userImports);
  const parts = store.collection(userImportParts);

  const sealed = (id: string, accountId: string, part: Part): UserImportPartRecord => ({
    accountId,
    sealed: sealer.seal(purposeOf(id), JSON.stringify(part)),
  });

  async function readPartOf(id: string, at: number) {
    const name = partId(id, at);
    const stored = await parts.find(name);
    if (stored === undefined) return undefined;
    return { part: readPart(sealer.open(purposeOf(name), stored.value.sealed)), stored };
  }

  /** @returns the import with the part counted as done; undefined: another process was faster */
  function settled(value: UserImportRecord, at: number, { rows }: Part, outcome: Outcome) {
    if (value.nextPart !== at) return undefined;
    const done = value.done + rows.length;
    // A process that has ended may have changed their users: noted before, and so before they were looked at.
    const noted = new Set(rows.filter(({ isChange }) => isChange === true).map(({ id }) => id));
    const changed = outcome.unchanged.filter((id) => noted.has(id)).length;
    const isDone = at + 1 >= value.parts;
    return {
      ...value,
      nextPart: at + 1,
      done,
      created: value.created + outcome.created,
      updated: value.updated + outcome.updated + changed,
      unchanged: value.unchanged + outcome.unchanged.length - changed,
      refused: value.refused + outcome.refused.length,
      changedAt: clock(),
      ...(isDone && { state: 'done' as const }),
    };
  }

  return {
    async begin({ accountId, mayUpdate, header, rows }) {
      const id = newSecret(16);
      const now = clock();
      const expiresAt = now + KEPT_MS;
      const count = Math.ceil(rows.length / PART);
      for (let from = 0; from < count; from += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => from + index);
        await Promise.all(
          some.map((at) => {
            const own = rows.slice(at * PART, (at + 1) * PART).map((row) => ({ ...row, id: newId() }));
            const name = partId(id, at);
            return parts.insert(name, sealed(name, accountId, { header, rows: own }), { expiresAt });
          }),
        );
      }
      const none = { done: 0, created: 0, updated: 0, unchanged: 0, refused: 0, nextPart: 0, doneBefore: 0 };
      const times = { createdAt: now, changedAt: now, runningSince: now };
      const counted = { total: rows.length, parts: count, ...none, ...times };
      await imports.insert(id, { accountId, mayUpdate, state: 'running', ...counted }, { expiresAt });
      return id;
    },

    async get(id, accountId) {
      const stored = await imports.find(id);
      if (stored?.value.accountId !== accountId) throw new AppError('request.not_found');
      return withId(stored);
    },

    async listOf(accountId) {
      const found = await imports.findBy('account', accountId);
      return found.map(withId).sort((a, b) => b.createdAt - a.createdAt);
    },

    async stop(id, problem) {
      await update(imports, id, (value) => {
        if (value.state !== 'running') return undefined;
        const next: UserImportRecord = { ...value, state: 'stopped', changedAt: clock() };
        return { value: problem === undefined ? next : { ...next, problem } };
      });
    },

    async resume(id) {
      await update(imports, id, ({ problem: _, ...value }) => {
        if (value.state !== 'stopped') return undefined;
        const now = clock();
        const speed = { runningSince: now, changedAt: now, doneBefore: value.done };
        const next: UserImportRecord = { ...value, state: 'running', ...speed };
        return { value: next };
      });
    },

    async running() {
      return (await imports.findBy('running', 'yes')).map(withId);
    },

    async next(id) {
      const stored = await imports.find(id);
      if (stored?.value.state !== 'running') return undefined;
      const at = stored.value.nextPart;
      const found = await readPartOf(id, at);
      // Its parts expire with it: nothing is left to do.
      return found && { at, part: found.part };
    },

    async note(id, at, changing) {
      const name = partId(id, at);
      for (;;) {
        const found = await readPartOf(id, at);
        // After it: as it was read, the part was not done.
        const next = (await imports.find(id))?.value.nextPart;
        if (found === undefined || next !== at) return false;
        const { part, stored } = found;
        if (part.rows.every((row) => row.isChange === true || !changing.has(row.id))) return true;
        const rows = part.rows.map((row) => (changing.has(row.id) ? { ...row, isChange: true } : row));
        try {
          await parts.replace(
            name,
            stored.version,
            sealed(name, stored.value.accountId, { header: part.header, rows }),
          );
          return true;
        } catch (error) {
          // Another process noted its own, or is done with it.
          if (!(error instanceof VersionConflict)) throw error;
        }
      }
    },

    async settle(id, at, outcome) {
      const name = partId(id, at);
      for (;;) {
        const [stored, found] = await Promise.all([imports.find(id), readPartOf(id, at)]);
        const next = stored && found && settled(stored.value, at, found.part, outcome);
        if (stored === undefined || next === undefined || found === undefined) return undefined;
        const left = outcome.refused.map((row) => ({ ...row, user: {} }));
        try {
          await store.writeTogether((writes) => {
            writes.to(userImports).replace(id, stored.version, next);
            const { accountId } = stored.value;
            const { header } = found.part;
            if (left.length === 0) writes.to(userImportParts).remove(name);
            else
              writes
                .to(userImportParts)
                .replace(name, found.stored.version, sealed(name, accountId, { header, rows: left }));
          });
          return { ...next, id };
        } catch (error) {
          // Somebody stopped it in between, or noted a row.
          if (!(error instanceof VersionConflict)) throw error;
        }
      }
    },

    async removeOfAccount(accountId) {
      await imports.removeBy('account', accountId);
      await parts.removeBy('account', accountId);
    },

    async *refused({ id, nextPart }) {
      for (let at = 0; at < nextPart; at += 1) {
        const found = await readPartOf(id, at);
        const rows = found?.part.rows.filter(({ reason }) => reason !== undefined) ?? [];
        if (found !== undefined && rows.length > 0) yield { header: found.part.header, rows };
      }
    },
  };
}
