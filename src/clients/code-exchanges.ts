// What is learned from codes that applications redeemed (decision 0008). A sign-in with neither PKCE nor a nonce is logged. An
// application that used PKCE in 20 exchanges in a row can do so always, so from then on it must: a downgraded request then gets
// no code. Only successful exchanges count, which need the application's secret; nothing at the authorization endpoint does.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import type { ClientRecord, PkceRunRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { hasToUsePkce } from './pkce.ts';

export const RUN_TO_REQUIRE = 20;
/** Exchanges with a verifier are written in fives; what a stopped process has not written is not counted. */
const WRITTEN_EVERY = 5;
/** Exchanges without one end the run of all processes; of many in a row one in this time is written. */
const ENDED_EVERY_MS = 1000;
const KEPT_MS = 90 * 86_400_000;
/** Applications that this process remembers; beyond that, the oldest is dropped. */
const MAX_REMEMBERED = 10_000;

export interface CodeExchange {
  readonly clientId: string;
  readonly record: ClientRecord;
  /** The code had a challenge, so its verifier was right. */
  readonly hasChallenge: boolean;
  readonly hasNonce: boolean;
}

export interface CodeExchanges {
  /** @returns a promise only where the answer should wait for it: this exchange may make PKCE required */
  redeemed(exchange: CodeExchange): Promise<void> | undefined;
}

interface Deps {
  readonly clients: Collection<ClientRecord>;
  readonly runs: EphemeralCollection<PkceRunRecord>;
  readonly clock: Clock;
  readonly settings: () => { readonly require_pkce: boolean };
  readonly events: Pick<Events, 'emit' | 'record'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Of one application in this process. */
interface Tally {
  /** Exchanges with a verifier that are not written yet. */
  pending: number;
  /** What was written, as far as this process knows. */
  run: number;
  endedAt: number | undefined;
  /** Writes of one process stay in their order. */
  last: Promise<void>;
}

/** The run of an application over all processes. */
function createRuns({ runs, clock }: Pick<Deps, 'runs' | 'clock'>) {
  const raise = (clientId: string, more: number) =>
    update(runs, clientId, ({ run }) => ({ value: { run: run + more }, expiresAt: clock() + KEPT_MS }));

  return {
    /** @returns its length with these */
    async add(clientId: string, more: number): Promise<number> {
      const raised = await raise(clientId, more);
      if (raised !== undefined) return raised.value.run;
      try {
        await runs.insert(clientId, { run: more }, { expiresAt: clock() + KEPT_MS });
        return more;
      } catch (error) {
        // Another process began it between our read and our write.
        if (!(error instanceof AlreadyExists)) throw error;
        return (await raise(clientId, more))?.value.run ?? 0;
      }
    },

    async end(clientId: string): Promise<void> {
      await update(runs, clientId, ({ run }) => (run === 0 ? undefined : { value: { run: 0 } }));
    },

    forget: (clientId: string) => runs.remove(clientId),
  };
}

export function createCodeExchanges(deps: Deps): CodeExchanges {
  const { clients, clock, settings, events, log } = deps;
  const runs = createRuns(deps);
  const tallies = new Map<string, Tally>();

  function tallyOf(clientId: string): Tally {
    const known = tallies.get(clientId);
    if (known !== undefined) return known;
    const [oldest] = tallies.keys();
    if (tallies.size >= MAX_REMEMBERED && oldest !== undefined) tallies.delete(oldest);
    const tally: Tally = { pending: 0, run: 0, endedAt: undefined, last: Promise.resolve() };
    tallies.set(clientId, tally);
    return tally;
  }

  /** Never rejects: the tokens are issued, whatever becomes of the count. */
  function write(tally: Tally, clientId: string, act: () => Promise<void>): Promise<void> {
    tally.last = tally.last.then(act).catch((error: unknown) => {
      log.warn({ err: error, client_id: clientId }, 'code exchanges not counted');
    });
    return tally.last;
  }

  async function requirePkce(clientId: string): Promise<void> {
    let isOurs = false;
    await update(clients, clientId, (value) => {
      isOurs = !hasToUsePkce(value) && value.pkceRequiredAt === undefined;
      const now = clock();
      return isOurs
        ? { value: { ...value, requirePkce: true, pkceRequiredAt: now, updatedAt: now } }
        : undefined;
    });
    tallies.delete(clientId);
    await runs.forget(clientId);
    if (!isOurs) return;
    log.info(
      { event: 'pkce_required', client_id: clientId },
      'the application always uses PKCE; now it must',
    );
    await events.record({
      event: 'client.pkce_required',
      actor: { kind: 'system' },
      target: { kind: 'client', id: clientId },
      clientId,
      details: { exchanges: RUN_TO_REQUIRE },
    });
  }

  function endRun(clientId: string): void {
    const tally = tallyOf(clientId);
    tally.pending = 0;
    tally.run = 0;
    if (tally.endedAt !== undefined && Math.abs(clock() - tally.endedAt) < ENDED_EVERY_MS) return;
    tally.endedAt = clock();
    void write(tally, clientId, () => runs.end(clientId));
  }

  function extendRun(clientId: string): Promise<void> | undefined {
    const tally = tallyOf(clientId);
    tally.pending += 1;
    const isDue = tally.run + tally.pending >= RUN_TO_REQUIRE;
    if (!isDue && tally.pending < WRITTEN_EVERY) return undefined;
    const more = tally.pending;
    tally.pending = 0;
    tally.run += more;
    tally.endedAt = undefined;
    const written = write(tally, clientId, async () => {
      tally.run = await runs.add(clientId, more);
      if (tally.run >= RUN_TO_REQUIRE) await requirePkce(clientId);
    });
    return isDue ? written : undefined;
  }

  return {
    redeemed({ clientId, record, hasChallenge, hasNonce }) {
      if (!hasChallenge && !hasNonce) {
        log.warn(
          { event: 'sign_in_unguarded', client_id: clientId },
          'the application used neither PKCE nor a nonce, so a stolen code could be injected (RFC 9700 §2.1.1)',
        );
        events.emit('unguardedCodeRedeemed', { clientId });
      }
      // `pkceRequiredAt` without the requirement: an administrator undid it, once and for all.
      const isSettled = hasToUsePkce(record) || record.pkceRequiredAt !== undefined;
      if (isSettled || settings().require_pkce) return undefined;
      if (hasChallenge) return extendRun(clientId);
      endRun(clientId);
      return undefined;
    },
  };
}
