// What a row of a table of users would do: create a user, change one, nothing, or why it is refused. Judging writes nothing.
import {
  type Account,
  type AccountDomain,
  addressKey,
  fold,
  ownAddress,
  toUser,
} from '../../../accounts/index.ts';
import { AppError } from '../../../errors.ts';
import type { Row } from '../../../model/row.ts';
import { importedRows } from '../../../model/users/imported-rows.ts';
import { userRows } from '../../../model/users/rows.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { textsOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';
import type { ImportRules as Rules } from '../../pages/user-imports.ts';
import { toImported } from './import-route.ts';

type Prepared = Awaited<ReturnType<AccountDomain['importAccount']>>;

export type Verdict =
  | { readonly kind: 'create'; readonly prepared: Prepared }
  | {
      readonly kind: 'update';
      readonly userId: string;
      readonly changes: Values;
      readonly groups: readonly string[];
    }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** What is wrong with which field, where that is all that is wrong. */
      readonly fields?: Readonly<Record<string, string>>;
    };

/** What would help a stranger who named the address of somebody else. */
const powers: ReadonlySet<string> = new Set(
  Object.entries<Row<unknown>>(userRows).flatMap(([name, { sensitivity }]) =>
    sensitivity === 'sensitive' && name !== 'email' ? [name] : [],
  ),
);

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;

/** Only a new user has these by an import. */
const ofNewUsers: ReadonlySet<string> = new Set(['username', ...Object.keys(importedRows)]);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const usernameKey = (name: string): string => (name.includes('@') ? addressKey(name) : fold(name));

/** @throws errors that are no refusals of this row */
function refusalBy(error: unknown): Verdict {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const { fields = {}, message } = error;
  const problems = Object.entries(fields).map(
    ([name, problem]) => `${name.replaceAll('_', ' ')}: ${problem}`,
  );
  return problems.length === 0 ? refused(message) : { ...refused(problems.join(' ')), fields };
}

/** @returns for each row, which row before has the same username or address */
export function doubledRows(users: readonly Values[]): ReadonlyMap<number, number> {
  const seen = new Map<string, number>();
  const doubled = new Map<number, number>();
  for (const [at, user] of users.entries()) {
    const [username, email] = [textOf(user.username), textOf(user.email)];
    const keys = [`name ${usernameKey(username)}`, ...(email === '' ? [] : [`mail ${addressKey(email)}`])];
    const first = keys.map((key) => seen.get(key)).find((row) => row !== undefined);
    if (first !== undefined && username !== '') doubled.set(at, first);
    else for (const key of keys) seen.set(key, at);
  }
  return doubled;
}

/** What of it the user does not have yet. */
function changesOf(user: Values, account: Account, now: number): Values {
  const has: Values = { ...toUser(account, now) };
  return Object.fromEntries(
    Object.entries(user).filter(([name, value]) => !ofNewUsers.has(name) && (has[name] ?? '') !== value),
  );
}

export function createJudge({ accounts, importAccount, clock }: AdminPorts) {
  function verdictOn(user: Values, account: Account, rules: Rules): Verdict {
    if (!rules.mayUpdate) return refused('There is a user with this username or e-mail address.');
    if (account.id === rules.adminId) return refused('This is you: change your own account on its page.');
    if ('password_hash' in user)
      return refused('The user exists, and a password hash is only for new users.');
    const given = textsOf(user.groups);
    const groups = given.filter((name) => !(account.groups ?? []).includes(name));
    const changes = changesOf(user, account, clock());
    // Anyone may name an address whose mailbox they have not shown: it does not say that the row means them.
    const isByAddress = user.username === undefined || String(user.username).includes('@');
    const isProven =
      !isByAddress || ownAddress(account, textOf(user.email) || textOf(user.username)) !== undefined;
    if (!isProven && (groups.length > 0 || Object.keys(changes).some((name) => powers.has(name))))
      return refused(
        `The user ${account.username} has not verified this e-mail address: such a row changes neither role, groups, status nor verification.`,
      );
    const isSame = Object.keys(changes).length === 0 && groups.length === 0;
    return isSame ? { kind: 'unchanged' } : { kind: 'update', userId: account.id, changes, groups };
  }

  /** @param id what a user that the row creates is to have */
  return async (user: Values, rules: Rules, id?: string): Promise<Verdict> => {
    try {
      const imported = toImported(user);
      const prepared = await importAccount({ ...imported, id });
      const email = textOf(user.email);
      const byName = await accounts.findByUsername(imported.username);
      const byAddress = email === '' ? undefined : await accounts.findByAddress(email);
      if (byName === undefined && byAddress === undefined) return { kind: 'create', prepared };
      if (byName !== undefined && byAddress !== undefined && byName.id !== byAddress.id)
        return refused('The e-mail address belongs to another user.');
      // By its address alone a row means a user only where it names none.
      if (byName === undefined && byAddress !== undefined && user.username !== user.email)
        return refused(`The e-mail address belongs to the user ${byAddress.username}.`);
      const account = byName ?? byAddress;
      return account === undefined ? { kind: 'create', prepared } : verdictOn(user, account, rules);
    } catch (error) {
      return refusalBy(error);
    }
  };
}
