// How many applications that nobody vouched for there are, and for how long: noted when they are used, removed when they are not.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Collection, FieldFilter } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Clients } from './contract.ts';

const DAY_MS = 86_400_000;
const UNUSED_MS = 30 * DAY_MS;
const BATCH = 100;

/** More than any installation has agents: a bound for whoever registers by the thousand from many addresses. */
const MAX_QUARANTINED = 10_000;

export interface Quarantined {
  /** Writes at most once a day per application. */
  noteUse(clientId: string): Promise<void>;
  /** Before another one is stored: at the bound, those go that nobody ever signed in to, the oldest first. */
  makeRoom(): Promise<void>;
  /** @returns how many were removed because nobody used them for 30 days */
  removeUnused(signal: AbortSignal): Promise<number>;
}

/** @returns whether its use is to be written down again */
export const isUseStale = ({ quarantine }: Pick<ClientRecord, 'quarantine'>, now: number): boolean =>
  quarantine !== undefined && (quarantine.usedAt === undefined || now - quarantine.usedAt >= DAY_MS);

interface Deps {
  readonly collection: Collection<ClientRecord>;
  readonly clients: Pick<Clients, 'remove'>;
  readonly clock: Clock;
  readonly limit?: number;
}

/** Another process was first. */
const KEPT: ReadonlySet<string> = new Set(['account.changed', 'client.not_found']);

const isNew: FieldFilter = { field: 'agent_state', op: 'eq', value: 'new' };

export function createQuarantined({
  collection,
  clients,
  clock,
  limit = MAX_QUARANTINED,
}: Deps): Quarantined {
  const oldest = (filters: readonly FieldFilter[], count: number) =>
    collection.query({ filters, sort: 'agent_used_at', order: 'asc', limit: count });

  /** Used or changed just now: it stays. */
  async function removed({
    id,
    version,
  }: {
    readonly id: string;
    readonly version: number;
  }): Promise<number> {
    try {
      await clients.remove(id, { ifVersion: version });
      return 1;
    } catch (error) {
      if (error instanceof AppError && KEPT.has(error.code)) return 0;
      throw error;
    }
  }

  return {
    async noteUse(clientId) {
      const now = clock();
      await update(collection, clientId, (record) =>
        record.quarantine !== undefined && isUseStale(record, now)
          ? { value: { ...record, quarantine: { ...record.quarantine, usedAt: now } } }
          : undefined,
      );
    },

    async makeRoom() {
      const present: FieldFilter = { field: 'agent_state', op: 'present' };
      const { total } = await oldest([present], 1);
      if (total < limit) return;
      const { items } = await oldest([isNew], Math.min(BATCH, total - limit + 1));
      for (const item of items) await removed(item);
    },

    async removeUnused(signal) {
      const before: FieldFilter = { field: 'agent_used_at', op: 'lte', value: clock() - UNUSED_MS };
      let count = 0;
      while (!signal.aborted) {
        const { items } = await oldest([before], BATCH);
        for (const item of items) count += await removed(item);
        if (items.length < BATCH) break;
      }
      return count;
    },
  };
}
