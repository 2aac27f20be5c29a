// Groups and their members. Each account stores the names of its groups: reading the account is enough for claims and
// access to applications, a deleted account leaves nothing behind, and no document grows with the size of a group.
// The name of a group is its id and never changes, because applications decide by it.
import { walk } from '../api/walk.ts';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import { groupNamePattern, groupRows } from '../model/groups/rows.ts';
import type { Given } from '../model/row.ts';
import type { GroupRecord } from '../store/administration.ts';
import type { AccountRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Query, type Stored } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, toAccount } from './account.ts';

/** The id is the name. */
export type Group = Stored<GroupRecord>;

export type GroupFields = Given<typeof groupRows>;

export interface Groups {
  /** A group that is being removed is not found. */
  find(name: string): Promise<Group | undefined>;
  query(query: Query): Promise<{ items: Group[]; total: number }>;
  /** @throws AppError group.name_taken, request.invalid */
  create(name: string, fields: GroupFields): Promise<Group>;
  /** @throws AppError group.not_found, group.changed */
  update(name: string, fields: GroupFields, options?: { ifVersion?: number | undefined }): Promise<Group>;
  /**
   * When it resolves, the group has no members.
   * @throws AppError group.not_found, group.changed, group.in_use while an application or the scope of an API needs it
   */
  remove(name: string, options?: { ifVersion?: number | undefined }): Promise<void>;
  /** Does nothing for a member. @throws AppError group.not_found, account.not_found, group.too_many */
  addMember(name: string, accountId: string): Promise<Account>;
  /** @throws AppError group.not_found, account.not_found, group.not_member */
  removeMember(name: string, accountId: string): Promise<void>;
  /** @returns the names without a group */
  missing(names: readonly string[]): Promise<string[]>;
  /** Completes removals that a crash interrupted. @returns how many */
  finishRemovals(): Promise<number>;
}

interface Deps {
  readonly collection: Collection<GroupRecord>;
  readonly accounts: Collection<AccountRecord>;
  readonly clock: Clock;
  /** @returns the client_id of an application that only members of the group may use */
  readonly findRestricted: (name: string) => Promise<string | undefined>;
  /** @returns the identifier of an API with a scope for members of the group */
  readonly findApi: (name: string) => Promise<string | undefined>;
}

const isName = new RegExp(groupNamePattern);
const walker = walk<typeof groupRows, GroupRecord>(groupRows, {});

/** As the API has it. */
export const toGroup = ({ value }: Group) => walker.show(value);

/** Bounded, because every token may carry all of them. */
const MAX_GROUPS = 200;
const BATCH = 1000;

/** How the store finds the members of a group (collections.ts). */
export const memberFilter = (name: string) =>
  ({ field: 'groups', op: 'contains', value: `/${name}/` }) as const;

/** @throws AppError request.invalid */
function withFields(record: GroupRecord, given: GroupFields): GroupRecord {
  const { next, problems } = walker.change(record, given, { by: 'administrator' });
  if (problems.size > 0) throw invalid(Object.fromEntries(problems));
  return next;
}

const without = (record: AccountRecord, name: string, now: number): AccountRecord => {
  const { groups = [], ...rest } = record;
  const left = groups.filter((one) => one !== name);
  return { ...rest, ...(left.length > 0 && { groups: left }), updatedAt: now };
};

export function createGroups({ collection, accounts, clock, findRestricted, findApi }: Deps): Groups {
  async function find(name: string): Promise<Group | undefined> {
    const stored = isName.test(name) ? await collection.find(name) : undefined;
    return stored?.value.removingAt === undefined ? stored : undefined;
  }

  async function get(name: string, ifVersion?: number): Promise<Group> {
    const group = await find(name);
    if (group === undefined) throw new AppError('group.not_found');
    if (ifVersion !== undefined && ifVersion !== group.version) throw new AppError('group.changed');
    return group;
  }

  /** Reads and replaces at the requested version, else at the current one. */
  async function change(
    name: string,
    ifVersion: number | undefined,
    next: (record: GroupRecord) => GroupRecord,
  ): Promise<Group> {
    const changed = await update(collection, name, (value, { version }) => {
      if (value.removingAt !== undefined) throw new AppError('group.not_found');
      // What is wrong with the request is told before what has become of the group.
      const written = next(value);
      if (ifVersion !== undefined && ifVersion !== version) throw new AppError('group.changed');
      return { value: written };
    });
    if (changed === undefined) throw new AppError('group.not_found');
    return changed;
  }

  const takeOut = (name: string, accountId: string): Promise<Stored<AccountRecord> | undefined> =>
    update(accounts, accountId, (value) =>
      value.groups?.includes(name) === true ? { value: without(value, name, clock()) } : undefined,
    );

  async function finish(name: string): Promise<void> {
    for (;;) {
      const { items } = await accounts.query({
        filters: [memberFilter(name)],
        sort: 'id',
        order: 'asc',
        limit: BATCH,
        isCounted: false,
      });
      // In parallel: they share commits.
      await Promise.all(items.map(({ id }) => takeOut(name, id)));
      if (items.length < BATCH) break;
    }
    await collection.remove(name);
  }

  return {
    find,
    async query(query) {
      const here = { field: 'is_removing', op: 'eq', value: false } as const;
      return collection.query({ ...query, filters: [...(query.filters ?? []), here] });
    },

    async create(name, fields) {
      if (!isName.test(name)) {
        const problem = 'Must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, not beginning with a sign.';
        throw invalid({ name: problem });
      }
      const now = clock();
      try {
        return await collection.insert(name, withFields({ name, createdAt: now, updatedAt: now }, fields));
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        throw new AppError('group.name_taken', {
          cause: error,
          fields: { name: 'A group with this name already exists.' },
        });
      }
    },

    update: (name, fields, { ifVersion } = {}) =>
      change(name, ifVersion, (record) => ({ ...withFields(record, fields), updatedAt: clock() })),

    async remove(name, { ifVersion } = {}) {
      await get(name, ifVersion);
      const clientId = await findRestricted(name);
      if (clientId !== undefined) {
        const message = `The application ${clientId} is restricted to this group: change that first.`;
        throw new AppError('group.in_use', { message });
      }
      const api = await findApi(name);
      if (api !== undefined) {
        const message = `A scope of the API ${api} is for this group: change that first.`;
        throw new AppError('group.in_use', { message });
      }
      // From here on no member can be added (addMember checks again), so the remaining members can be counted down.
      await change(name, ifVersion, (record) => ({ ...record, removingAt: clock() }));
      await finish(name);
    },

    async addMember(name, accountId) {
      await get(name);
      const stored = await update(accounts, accountId, (value) => {
        if (value.deletingAt !== undefined) throw new AppError('account.not_found');
        const groups = value.groups ?? [];
        if (groups.includes(name)) return undefined;
        if (groups.length >= MAX_GROUPS) throw new AppError('group.too_many');
        return { value: { ...value, groups: [...groups, name].sort(), updatedAt: clock() } };
      });
      if (stored === undefined) throw new AppError('account.not_found');
      // Its removal may have started during our write and already have passed this account.
      if ((await find(name)) === undefined) {
        await takeOut(name, accountId);
        throw new AppError('group.not_found');
      }
      return toAccount(stored);
    },

    async removeMember(name, accountId) {
      await get(name);
      let isMember = false;
      const stored = await update(accounts, accountId, (value) => {
        if (value.deletingAt !== undefined) throw new AppError('account.not_found');
        isMember = value.groups?.includes(name) === true;
        return isMember ? { value: without(value, name, clock()) } : undefined;
      });
      if (stored === undefined) throw new AppError('account.not_found');
      if (!isMember) throw new AppError('group.not_member');
    },

    async missing(names) {
      const found = await Promise.all(names.map(find));
      return names.filter((_name, index) => found[index] === undefined);
    },

    async finishRemovals() {
      const filters = [{ field: 'is_removing', op: 'eq', value: true } as const];
      const { items } = await collection.query({ filters, sort: 'id', order: 'asc', limit: 1000 });
      for (const { id } of items) await finish(id);
      return items.length;
    },
  };
}
