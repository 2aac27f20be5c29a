// What pages know of imports of tables of users: the words between them and resources/users/import-*.ts.
import type { UserImportRecord } from '../../store/user-imports.ts';

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The number of each row, as spreadsheets count: empty rows and the header have one, too. */
  readonly numbers: readonly number[];
}

/** A row of the table. */
export interface ImportRow {
  readonly number: number;
  /** For the list of refused rows, without what is secret. */
  readonly cells: readonly string[];
  /** A line of `POST /users/import`. */
  readonly user: Readonly<Record<string, unknown>>;
  /** What a user that it creates will have. */
  readonly id: string;
  /** Why it is refused. */
  readonly reason?: string | undefined;
  /** Noted before it changes a user: done again after a crash, it finds nothing left to change, and has changed one. */
  readonly isChange?: boolean | undefined;
}

export interface ImportPart {
  readonly header: readonly string[];
  readonly rows: readonly ImportRow[];
}

export type UserImport = UserImportRecord & { readonly id: string };

export interface ImportRules {
  /** Whether users that exist are changed; otherwise their rows are refused. */
  readonly mayUpdate: boolean;
  /** Whose import it is: nobody changes themselves by the way. */
  readonly adminId: string;
}

export interface JudgedRow {
  readonly number: number;
  readonly username: string;
  readonly kind: 'create' | 'update' | 'unchanged' | 'refused';
  /** What changes of a user that exists. */
  readonly changes: readonly string[];
  readonly reason: string;
  /** What is wrong with which field, where that is the reason. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface MappedTable {
  readonly table: Table;
  /** For each column what it is; '': it is not imported. */
  readonly mapping: readonly string[];
}

export interface ImportDesk {
  /** Writes nothing. */
  judge(mapped: MappedTable, rules: ImportRules): Promise<JudgedRow[]>;
  /** @returns its id */
  begin(mapped: MappedTable, rules: ImportRules): Promise<string>;
  /** @throws AppError request.not_found for one that is gone, and for that of another administrator */
  get(id: string, accountId: string): Promise<UserImport>;
  /** Of an administrator, newest first. */
  listOf(accountId: string): Promise<UserImport[]>;
  /** What is done by then stays done. */
  stop(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  refused(found: UserImport): AsyncGenerator<ImportPart>;
}
