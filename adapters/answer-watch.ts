// Owns whether a database elsewhere answers: the time that a caller waits for it, and how short that becomes once nobody has
// had an answer. A request asks several times and has two seconds for it all.
import { StoreUnavailable } from '../src/store/port.ts';

/** How long a caller waits while the database is silent. */
const SILENT_MS = 50;

export interface AnswerWatch {
  isSilent(): boolean;
  /** How long to wait for an answer that is given `ms` otherwise. */
  patienceFor(ms: number): number;
  /** An answer has come, also a late one. */
  answered(): void;
  /** There was none since then (by performance.now()). */
  unanswered(since: number): void;
  /** The connection is new: whoever asks next waits as long as ever. */
  reconnected(): void;
  /** @throws StoreUnavailable with this message when the time is up first; the work continues */
  within<R>(work: Promise<R>, ms: number, message: string): Promise<R>;
}

export function createAnswerWatch(): AnswerWatch {
  let answeredAt = performance.now();
  /** Nobody has had an answer since somebody began to wait who had none in time. */
  let isSilent = false;

  const unanswered = (since: number): void => {
    if (answeredAt < since) isSilent = true;
  };

  return {
    isSilent: () => isSilent,
    patienceFor: (ms) => (isSilent ? Math.min(ms, SILENT_MS) : ms),
    answered() {
      answeredAt = performance.now();
      isSilent = false;
    },
    unanswered,
    reconnected() {
      isSilent = false;
    },
    async within(work, ms, message) {
      const startedAt = performance.now();
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        unanswered(startedAt);
        late.reject(new StoreUnavailable(message));
      }, ms);
      try {
        return await Promise.race([work, late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
