// Owns `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) on requests that make something: whoever does not
// know whether a request arrived sends it again, and it is done once. The key counts for who sent it, at that address, for
// a day. What was answered is kept sealed, since it can hold a secret that is shown once.
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { IdempotencyRecord } from '../../store/administration.ts';
import { AlreadyExists, type Collection } from '../../store/port.ts';
import { update } from '../../store/update.ts';
import type { Actor } from './ports.ts';

export interface Reply {
  readonly status: number;
  readonly etag?: string | undefined;
  readonly location?: string | undefined;
  readonly body?: unknown;
}

export interface Idempotency {
  /**
   * @param request.key as it came
   * @returns what `act` answers, or answered to the same request before
   * @throws AppError request.invalid (no key), request.key_reused, request.in_progress, and what `act` throws
   */
  once(
    request: {
      readonly key: string;
      readonly actor: Actor;
      readonly address: string;
      readonly body: unknown;
    },
    act: () => Promise<Reply>,
  ): Promise<Reply & { readonly isRepeated: boolean }>;
}

interface Deps {
  readonly collection: Collection<IdempotencyRecord>;
  readonly sealer: {
    seal(purpose: string, text: string): string;
    open(purpose: string, sealed: string): string;
  };
  readonly clock: Clock;
}

/** What answers are sealed for. */
export const PURPOSE = 'idempotency';
const KEPT_MS = 24 * 60 * 60 * 1000;
const isKey = /^[\x21-\x7e]{1,255}$/;

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');

/** The same members in another order are the same body. */
const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Whether it is certain that nothing was made. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.status < 500;

export function createIdempotency({ collection, sealer, clock }: Deps): Idempotency {
  async function answerOf(id: string, fingerprint: string): Promise<Reply> {
    const stored = await collection.find(id);
    if (stored !== undefined && stored.value.fingerprint !== fingerprint) {
      throw new AppError('request.key_reused', {
        fields: { 'Idempotency-Key': 'Was used for another request.' },
      });
    }
    const sealed = stored?.value.sealedReply;
    if (sealed === undefined) throw new AppError('request.in_progress', { retryAfterSeconds: 1 });
    return JSON.parse(sealer.open(PURPOSE, sealed));
  }

  return {
    async once({ key, actor, address, body }, act) {
      if (!isKey.test(key)) {
        const problem = 'Must be 1 to 255 visible ASCII characters.';
        throw new AppError('request.invalid', { fields: { 'Idempotency-Key': problem } });
      }
      const id = digest([actor.kind, actor.id, address, key].join('\n'));
      const fingerprint = digest(JSON.stringify(body, inOrder) ?? '');
      const expiresAt = clock() + KEPT_MS;
      try {
        await collection.insert(id, { fingerprint }, { expiresAt });
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        return { ...(await answerOf(id, fingerprint)), isRepeated: true };
      }
      let reply: Reply;
      try {
        reply = await act();
      } catch (error) {
        // After any other failure nobody knows whether it was made: the key stays taken, and says so.
        if (isRefusal(error)) await collection.remove(id);
        throw error;
      }
      const sealedReply = sealer.seal(PURPOSE, JSON.stringify(reply));
      await update(collection, id, () => ({ value: { fingerprint, sealedReply } }));
      return { ...reply, isRepeated: false };
    },
  };
}
