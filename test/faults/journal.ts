// What the MongoDB server for tests lacks compared with one that keeps a journal: acknowledged writes are present after a kill,
// and a repeated write (retryWrites) is not done twice. Both are imitated from outside, on the messages of the MongoDB wire
// protocol (OP_MSG): a write is recorded before its answer is passed on, and after a restart the records are replayed to the
// empty server before any other connection. What was not acknowledged is gone, as a kill may leave it. Nor does that server
// serialize findAndModify: here a write waits until the one before it to the same collection has its answer.
import { type Document, MongoClient } from 'mongodb';
import { addressed, answeredIdOf, bodyOf, framed, requestIdOf } from './messages.ts';
import type { Tap } from './wire.ts';

export interface Journal {
  /** For one connection: what stands between its two ends. */
  tap(): Tap;
  /** Plays everything to an empty server. @returns how many writes */
  replay(uri: string): Promise<number>;
}

interface Write {
  readonly database: string;
  readonly command: Document;
  /** How many documents it touched. */
  readonly effect: number;
}

interface Asked {
  readonly database: string;
  readonly command: Document;
  readonly key: string | undefined;
  /** The collection. */
  readonly place: string;
}

interface Turn {
  readonly go: () => void;
  readonly isGone: () => boolean;
}

const NAMES = ['insert', 'update', 'delete', 'findAndModify', 'createIndexes', 'dropIndexes'];
/** What belongs to the connection or the session it came by. */
const PASSING = ['lsid', 'txnNumber', '$clusterTime', '$db', '$readPreference', 'maxTimeMS'];

/** @returns how many documents a write touched by its answer, undefined when it was refused */
function effectOf(answer: Document): number | undefined {
  if (Number(answer.ok) !== 1 || (answer.writeErrors?.length ?? 0) > 0) return undefined;
  if ('lastErrorObject' in answer) return Number(answer.lastErrorObject.n);
  return Number(answer.n ?? 1);
}

export function createJournal(): Journal {
  const writes: Write[] = [];
  /** What was answered to a retryable write, by session and number: a real server keeps that beside the write. */
  const answered = new Map<string, Buffer>();

  function asked(message: Buffer): Asked | undefined {
    const body = bodyOf(message);
    const name = body && Object.keys(body)[0];
    if (body === undefined || name === undefined || !NAMES.includes(name)) return undefined;
    const { $db: database, lsid, txnNumber } = body;
    const command = Object.fromEntries(Object.entries(body).filter(([key]) => !PASSING.includes(key)));
    const key = txnNumber === undefined ? undefined : `${lsid.id.toString('hex')}/${txnNumber}`;
    return { database: String(database), command, key, place: `${database}.${body[name]}` };
  }

  /** Writes to each collection that wait for their turn, first the one whose turn it is. */
  const lines = new Map<string, Turn[]>();
  function lineUp(place: string, turn: Turn): void {
    const line = lines.get(place) ?? [];
    lines.set(place, line);
    line.push(turn);
    if (line.length === 1) turn.go();
  }
  function next(place: string): void {
    const line = lines.get(place) ?? [];
    line.shift();
    while (line[0]?.isGone()) line.shift();
    if (line[0]) line[0].go();
    else lines.delete(place);
  }

  function tap() {
    const pending = new Map<number, Asked>();
    const down = framed((message, push) => {
      const write = pending.get(answeredIdOf(message));
      pending.delete(answeredIdOf(message));
      if (write) next(write.place);
      const answer = write && bodyOf(message);
      const effect = answer && effectOf(answer);
      if (write && effect !== undefined) {
        const { database, command, key } = write;
        if (effect > 0) writes.push({ database, command, effect });
        if (key !== undefined) answered.set(key, message);
      }
      push(message);
    });
    const up = framed((message, push) => {
      const write = asked(message);
      const known = write?.key === undefined ? undefined : answered.get(write.key);
      if (known) {
        down.push(addressed(known, requestIdOf(message)));
        return;
      }
      if (write === undefined) {
        push(message);
        return;
      }
      lineUp(write.place, {
        go() {
          pending.set(requestIdOf(message), write);
          push(message);
        },
        isGone: () => up.destroyed,
      });
    });
    // The turn of a connection that has ended is over.
    up.once('close', () => {
      const open = [...pending.values()];
      pending.clear();
      for (const { place } of open) next(place);
    });
    return { up, down, isSettled: () => lines.size === 0 };
  }

  async function replay(uri: string): Promise<number> {
    const client = new MongoClient(uri);
    // Answers of one moment may have been noted in another order than the writes were done in: what does not fit yet
    // comes after the rest. A document's versions leave only one order.
    let open: readonly Write[] = writes;
    /** Of two that delete the same, the first may find here what the second did there. */
    let credit = 0;
    /** @returns what is still to be done of it */
    const rest = (write: Write, done: number): Write | undefined => {
      if (!('delete' in write.command)) return done === write.effect ? undefined : write;
      const balance = credit + done - write.effect;
      credit = Math.max(0, balance);
      return balance < 0 ? { ...write, effect: -balance } : undefined;
    };
    try {
      while (open.length > 0) {
        const misfits: Write[] = [];
        for (const write of open) {
          const answer = await client
            .db(write.database)
            .command(write.command)
            .catch(() => ({ ok: 0 }));
          const misfit = rest(write, effectOf(answer) ?? 0);
          if (misfit) misfits.push(misfit);
        }
        if (misfits.length === open.length) {
          throw new Error(
            `${misfits.length} writes of the journal do not fit: ${JSON.stringify(misfits[0])}`,
          );
        }
        open = misfits;
      }
    } finally {
      await client.close();
    }
    return writes.length;
  }

  return { tap, replay };
}
