// Imports an account from another system under the rules for all accounts (changes.ts), but with its existing
// password hash and its creation time.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { errorRows } from '../model/errors/errors.ts';
import type { AccountRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection } from '../store/port.ts';
import { type Account, toAccount } from './account.ts';
import { type AccountChanges, applyChanges, blankAccount } from './changes.ts';
import type { Groups } from './groups.ts';
import { readPasswordHash } from './passwords/foreign-hash.ts';

export type ImportedAccount = AccountChanges & {
  /** Chosen beforehand, so that what was interrupted finds again what it created; default: a new one. */
  readonly id?: string | undefined;
  readonly username: string;
  /** Absent: the account has no password until one is set. */
  readonly passwordHash?: string | undefined;
  /** Epoch milliseconds; default: now. */
  readonly createdAt?: number | undefined;
  readonly groups?: readonly string[] | undefined;
};

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
  async function problemsOf({ passwordHash, createdAt, groups: names = [] }: ImportedAccount) {
    const fields: Record<string, string> = {};
    const read = passwordHash === undefined ? undefined : readPasswordHash(passwordHash);
    if (read !== undefined && 'problem' in read) fields.password_hash = read.problem;
    if (createdAt !== undefined && (createdAt < 0 || createdAt > clock())) {
      fields.created_at = 'Must be a time in the past.';
    }
    const missing = names.length === 0 ? [] : await groups.missing(names);
    if (missing.length > 0) fields.groups = `Group not found: ${missing.slice(0, 5).join(', ')}.`;
    return { fields, hash: read !== undefined && 'hash' in read ? read.hash : undefined };
  }

  function recordOf(input: ImportedAccount, fields: Record<string, string>): AccountRecord {
    const { passwordHash: _, createdAt: __, groups: ___, id: ____, ...changes } = input;
    try {
      const now = clock();
      return applyChanges(blankAccount(now), changes, { now, minPasswordLength: 0 });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError('request.invalid', { fields: { ...error.fields, ...fields } });
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
    const { fields, hash } = await problemsOf(input);
    const record = recordOf(input, fields);
    if (Object.keys(fields).length > 0) throw new AppError('request.invalid', { fields });
    if (hash !== undefined) {
      record.passwordHash = hash;
      record.passwordChangedAt = record.createdAt;
    }
    if (input.createdAt !== undefined) record.createdAt = input.createdAt;
    let noted: Promise<void> | undefined;
    const ready = (): Promise<void> => {
      noted ??= hash === undefined ? Promise.resolve() : noteHash(hash);
      return noted;
    };
    return {
      ready,
      async write() {
        await ready();
        return write(record, input.groups ?? [], input.id);
      },
    };
  };
}
