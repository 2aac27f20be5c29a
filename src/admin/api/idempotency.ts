// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) for requests that create something: a client that does not
// know whether its request arrived can retry it without creating a second item. A key is valid per caller and address for
// one day. Stored responses are sealed, because they can hold a secret that is shown only once.
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { AppError, invalid } from '../../errors.ts';
import { isMembers } from '../../json.ts';
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
   * @param request.key the header value as received
   * @returns the response of `act`, or the stored response of the same earlier request
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

/** Purpose label under which responses are sealed. */
export const PURPOSE = 'idempotency';
const KEPT_MS = 24 * 60 * 60 * 1000;
const isKey = /^[\x21-\x7e]{1,255}$/;

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');

/** Sorts members, because a body with the same members in another order is the same body. */
const inOrder = (_name: string, value: unknown): unknown =>
  isMembers(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** Whether it is certain that nothing was created. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.status < 500;

export function createIdempotency({ collection, sealer, clock }: Deps): Idempotency {
  async function answerOf(id: string, fingerprint: string): Promise<Reply> {
    const stored = await collection.find(id);
    if (stored !== undefined && stored.value.fingerprint !== fingerprint) {
      throw new AppError('request.key_reused', {
        fields: { 'Idempotency-Key': 'This key was already used for a different request.' },
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
        throw invalid({ 'Idempotency-Key': problem });
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
        // After any other failure it is unknown whether something was created: the key stays reserved and reports that.
        if (isRefusal(error)) await collection.remove(id);
        throw error;
      }
      const sealedReply = sealer.seal(PURPOSE, JSON.stringify(reply));
      await update(collection, id, () => ({ value: { fingerprint, sealedReply } }));
      return { ...reply, isRepeated: false };
    },
  };
}
