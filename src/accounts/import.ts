// Imports an account from another system under the rules for all accounts (changes.ts), but with its existing
// password hash and its creation time.
import { walk } from '../api/walk.ts';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import { errorRows } from '../model/errors/errors.ts';
import type { Given } from '../model/row.ts';
import { importedRows } from '../model/users/imported-rows.ts';
import type { AccountRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection } from '../store/port.ts';
import { type Account, toAccount } from './account.ts';
import { applyChanges, blankAccount } from './changes.ts';
import type { NewAccount } from './contract.ts';
import type { Groups } from './groups.ts';
import { readPasswordHash } from './passwords/foreign-hash.ts';

export type ImportedAccount = NewAccount &
  Given<typeof importedRows> & {
    /** Chosen beforehand, so that what was interrupted finds again what it created; default: a new one. */
    readonly id?: string | undefined;
  };

const ofImports = walk(importedRows, {});

/**
 * Validates first and writes on request, so that many can be validated in parallel and still be written in order. Until then
 * nothing is stored.
 * @throws AppError request.invalid with every invalid field
 */
export type ImportAccount = (input: ImportedAccount) => Promise<{
  /** What takes a while before a hash is stored; `write` waits for it, too. */ ready(): Promise<void>;
  /** @throws AppError account.username_taken, account.email_taken */ write(): Promise<Account>;
}>;

interface Deps {
  readonly collection: Collection<AccountRecord>;
  readonly groups: Pick<Groups, 'missing' | 'addMember'>;
  /** Called before a hash is stored (passwords/refusal-time.ts). */
  readonly noteHash: (hash: string) => Promise<void>;
  readonly clock: Clock;
  readonly newId: () => string;
}

export function createImportAccount({ collection, groups, noteHash, clock, newId }: Deps): ImportAccount {
  function readExtra({ password_hash, groups: names, created_at }: ImportedAccount) {
    const { next, problems } = ofImports.change(
      {},
      { password_hash, groups: names, created_at },
      { by: 'administrator' },
    );
    const fields: Record<string, string> = Object.fromEntries(problems);
    const read = next.passwordHash === undefined ? undefined : readPasswordHash(next.passwordHash);
    if (read !== undefined && 'problem' in read) fields.password_hash = read.problem;
    if (next.createdAt !== undefined && (next.createdAt < 0 || next.createdAt > clock()))
      fields.created_at = 'Must be a time in the past.';
    return { ...next, fields, hash: read !== undefined && 'hash' in read ? read.hash : undefined };
  }

  function recordOf(input: ImportedAccount, fields: Record<string, string>): AccountRecord {
    const { password_hash: _, created_at: __, groups: ___, id: ____, ...changes } = input;
    try {
      const now = clock();
      return applyChanges(blankAccount(now), changes, { now, minPasswordLength: 0 });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw invalid({ ...error.fields, ...fields });
    }
  }

  async function write(record: AccountRecord, names: readonly string[], id = newId()): Promise<Account> {
    let account: Account;
    try {
      account = toAccount(await collection.insert(id, record));
    } catch (error) {
      if (!(error instanceof AlreadyExists) || error.index === 'id') throw error;
      const isEmail = error.index === 'email';
      const code = isEmail ? 'account.email_taken' : 'account.username_taken';
      const fields = { [isEmail ? 'email' : 'username']: errorRows[code].message };
      throw new AppError(code, { cause: error, fields });
    }
    // In sequence: addMember checks each time that the group still exists.
    for (const name of names) account = await groups.addMember(name, account.id);
    return account;
  }

  return async (input) => {
    const { fields, hash, createdAt, groups: names = [] } = readExtra(input);
    const missing = names.length === 0 ? [] : await groups.missing(names);
    if (missing.length > 0) fields.groups = `Group not found: ${missing.slice(0, 5).join(', ')}.`;
    const record = recordOf(input, fields);
    if (Object.keys(fields).length > 0) throw invalid(fields);
    if (hash !== undefined) {
      record.passwordHash = hash;
      record.passwordChangedAt = record.createdAt;
    }
    if (createdAt !== undefined) record.createdAt = createdAt;
    let noted: Promise<void> | undefined;
    const ready = (): Promise<void> => {
      noted ??= hash === undefined ? Promise.resolve() : noteHash(hash);
      return noted;
    };
    return {
      ready,
      async write() {
        await ready();
        return write(record, names, input.id);
      },
    };
  };
}
