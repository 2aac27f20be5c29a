// The last refused requests of each application, for whoever sets it up. Anyone can cause refusals for any client id, so an
// application has a ring of few short entries, and nothing waits for it: refusals are collected in memory and merged into the
// stored ring every few seconds. A killed process loses what it has not written, an unavailable store what was due then.
import type { Clock } from '../clock.ts';
import type { Signals } from '../events/index.ts';
import { createDelayedWrites } from '../jobs/index.ts';
import { type Logger, maskBearers } from '../log.ts';
import type { ClientRecord, ClientRefusalsRecord, RefusalEntry } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { printableText } from '../untrusted-text.ts';

export const MAX_REFUSALS = 20;
/** Of one endpoint and error: a flood of made-up addresses leaves room for what else goes wrong. */
const MAX_OF_A_KIND = 8;
const FLUSH_MS = 5000;
const KEPT_MS = 7 * 86_400_000;
const BATCH = 20;
const MAX_TEXT = 200;
/** Longer than any client id. */
const MAX_ID = 200;
/**
 * Applications that this process holds refusals of until the next write; further ones are left out. Ids that nobody has looked
 * up yet are counted apart, so that made-up ones displace no application.
 */
const MAX_KNOWN = 500;
const MAX_NAMED = 100;

type RefusedCall = Signals['requestRefused'];

export interface RecentRefusals {
  /** Returns at once; never throws. */
  noted(refused: RefusedCall): void;
  /** @returns at most MAX_REFUSALS, the newest first, with those that this process has not written yet */
  of(clientId: string): Promise<readonly RefusalEntry[]>;
  /** Of an application that is removed. Never throws: what is left expires. */
  forget(clientId: string): Promise<void>;
  /** Writes what is collected. Never throws: what cannot be written is dropped, and the program's log says so. */
  flush(): Promise<void>;
  /** Writes what is collected and stops the timer. */
  close(): Promise<void>;
}

interface Deps {
  readonly collection: EphemeralCollection<ClientRefusalsRecord>;
  readonly clients: Pick<EphemeralCollection<ClientRecord>, 'find'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** Default: FLUSH_MS. */
  readonly flushMs?: number;
}

const shortened = (text: string): string => printableText(maskBearers(text), MAX_TEXT);

function merge(older: readonly RefusalEntry[], newer: readonly RefusalEntry[]): RefusalEntry[] {
  const merged = new Map<string, RefusalEntry>();
  for (const entry of [...older, ...newer]) {
    const key = JSON.stringify([entry.endpoint, entry.error, entry.reason, entry.address]);
    const known = merged.get(key) ?? { ...entry, count: 0 };
    merged.set(key, {
      ...entry,
      count: known.count + entry.count,
      firstAt: Math.min(known.firstAt, entry.firstAt),
      lastAt: Math.max(known.lastAt, entry.lastAt),
    });
  }
  const kinds = new Map<string, number>();
  const hasRoom = ({ endpoint, error }: RefusalEntry): boolean => {
    const kind = `${endpoint} ${error}`;
    const count = (kinds.get(kind) ?? 0) + 1;
    kinds.set(kind, count);
    return count <= MAX_OF_A_KIND;
  };
  return [...merged.values()]
    .sort((a, b) => b.lastAt - a.lastAt)
    .filter(hasRoom)
    .slice(0, MAX_REFUSALS);
}

export function createRecentRefusals(deps: Deps): RecentRefusals {
  const { collection, clients, clock, log, flushMs = FLUSH_MS } = deps;
  let known = new Map<string, RefusalEntry[]>();
  let named = new Map<string, RefusalEntry[]>();
  const { arm, flush, close, isClosed } = createDelayedWrites({ delayMs: flushMs, write: writeCollected });

  const current = (entries: readonly RefusalEntry[]): RefusalEntry[] =>
    entries.filter(({ lastAt }) => lastAt > clock() - KEPT_MS);

  /** Only of an application that exists (any more): who may register can also remove, and would leave a ring each time. */
  async function write(clientId: string, entries: readonly RefusalEntry[]): Promise<void> {
    if ((await clients.find(clientId)) === undefined) return;
    const expiresAt = clock() + KEPT_MS;
    const raise = () =>
      update(collection, clientId, ({ entries: older }) => ({
        value: { entries: merge(current(older), entries) },
        expiresAt,
      }));
    if ((await raise()) !== undefined) return;
    try {
      await collection.insert(clientId, { entries: merge([], entries) }, { expiresAt });
    } catch (error) {
      // Another process created it between our read and our write.
      if (!(error instanceof AlreadyExists)) throw error;
      await raise();
    }
  }

  async function writeAll(acts: readonly (() => Promise<void>)[]): Promise<void> {
    const failures: unknown[] = [];
    // In batches, so that requests are served in between.
    for (let at = 0; at < acts.length; at += BATCH) {
      const results = await Promise.allSettled(acts.slice(at, at + BATCH).map((act) => act()));
      failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
    }
    const [err] = failures;
    if (err !== undefined) log.warn({ err, dropped: failures.length }, 'recent refusals not written');
  }

  function writeCollected(): Promise<void> | undefined {
    const acts = [...known, ...named].map(
      ([id, entries]) =>
        () =>
          write(id, entries),
    );
    if (acts.length === 0) return undefined;
    known = new Map();
    named = new Map();
    return writeAll(acts);
  }

  return {
    noted({ clientId, isKnown, endpoint, error, reason, address }) {
      if (clientId === undefined || clientId === '' || clientId.length > MAX_ID || isClosed()) return;
      const isHeld = isKnown || known.has(clientId);
      const held = isHeld ? known : named;
      if (!held.has(clientId) && held.size >= (isHeld ? MAX_KNOWN : MAX_NAMED)) return;
      const at = clock();
      const entry: RefusalEntry = {
        endpoint: shortened(endpoint),
        error: shortened(error),
        ...(reason !== undefined && { reason: shortened(reason) }),
        ...(address !== undefined && { address: shortened(address) }),
        count: 1,
        firstAt: at,
        lastAt: at,
      };
      held.set(clientId, merge(held.get(clientId) ?? [], [entry]));
      arm();
    },

    async of(clientId) {
      const stored = await collection.find(clientId);
      const waiting = [...(named.get(clientId) ?? []), ...(known.get(clientId) ?? [])];
      return merge(current(stored?.value.entries ?? []), waiting);
    },

    async forget(clientId) {
      known.delete(clientId);
      named.delete(clientId);
      try {
        await collection.remove(clientId);
      } catch (err) {
        log.warn({ err, client_id: clientId }, 'recent refusals not removed');
      }
    },

    flush,
    close,
  };
}
