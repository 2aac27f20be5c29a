// Part of the data model (collections.ts): imports of users that an administrator has confirmed, and their rows.
import type { CollectionDefinition } from './port.ts';

/** How far an import is. It expires with its parts. */
export interface UserImportRecord {
  /** The administrator, in whose name users are created and changed. */
  accountId: string;
  state: 'running' | 'stopped' | 'done';
  /** Whether users that exist are changed; otherwise their rows are refused. */
  mayUpdate: boolean;
  total: number;
  done: number;
  created: number;
  updated: number;
  unchanged: number;
  refused: number;
  parts: number;
  /** All parts before this one are done. */
  nextPart: number;
  createdAt: number;
  changedAt: number;
  /** Since when it runs, and what was done before: its speed. */
  runningSince: number;
  doneBefore: number;
  /** Why it stopped by itself. */
  problem?: string;
}

export const userImports: CollectionDefinition<UserImportRecord> = {
  name: 'user_imports',
  durability: 'durable',
  indexes: {
    account: { key: (i) => i.accountId },
    running: { key: (i) => (i.state === 'running' ? 'yes' : undefined) },
  },
  fields: {},
};

/** Rows of an import, sealed: before they are done all of them, afterwards those that were refused. */
export interface UserImportPartRecord {
  accountId: string;
  sealed: string;
}

export const userImportParts: CollectionDefinition<UserImportPartRecord> = {
  name: 'user_import_parts',
  durability: 'durable',
  indexes: { account: { key: (p) => p.accountId } },
  fields: {},
};
