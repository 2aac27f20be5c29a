// Owns sealing the kept answers of the admin API (idempotency.ts) anew after a change of SECRET_KEY.
import type { IdempotencyRecord } from '../../store/administration.ts';
import type { Collection } from '../../store/port.ts';
import { type Resealer, type ResealFigures, resealAll, resealText } from '../../store/reseal.ts';
import { PURPOSE } from './idempotency.ts';

export function resealReplies(
  { collection, sealer }: { collection: Collection<IdempotencyRecord>; sealer: Resealer },
  signal: AbortSignal,
): Promise<ResealFigures> {
  return resealAll(
    {
      collection,
      reseal(record) {
        const { sealedReply } = record;
        if (sealedReply === undefined || !sealer.needsReseal(sealedReply)) return undefined;
        return { ...record, sealedReply: resealText(sealer, PURPOSE, sealedReply) };
      },
    },
    signal,
  );
}
