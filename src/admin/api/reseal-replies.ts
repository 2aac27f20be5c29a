// Reseals the stored responses of the admin API (idempotency.ts) after SECRET_KEY changes.
import { idempotencyKeys } from '../../store/administration.ts';
import { type Reseal, resealAll, resealText } from '../../store/reseal.ts';
import { PURPOSE } from './idempotency.ts';

export const resealReplies: Reseal = ({ store, sealer }, signal) =>
  resealAll(
    {
      collection: store.collection(idempotencyKeys),
      reseal(record) {
        const { sealedReply } = record;
        if (sealedReply === undefined || !sealer.needsReseal(sealedReply)) return undefined;
        return { ...record, sealedReply: resealText(sealer, PURPOSE, sealedReply) };
      },
    },
    signal,
  );
