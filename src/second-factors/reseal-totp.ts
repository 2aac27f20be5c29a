// Owns sealing the secrets of authenticator apps anew after a change of SECRET_KEY.
import type { AccountRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { type Resealer, type ResealFigures, resealAll, resealText } from '../store/reseal.ts';
import { purposeOf } from './totp.ts';

export function resealTotp(
  { collection, sealer }: { collection: Collection<AccountRecord>; sealer: Resealer },
  signal: AbortSignal,
): Promise<ResealFigures> {
  return resealAll(
    {
      collection,
      filters: [{ field: 'totp_verified', op: 'eq', value: true }],
      reseal(account, id) {
        const { totp } = account;
        if (totp === undefined || !sealer.needsReseal(totp.sealedSecret)) return undefined;
        const sealedSecret = resealText(sealer, purposeOf(id), totp.sealedSecret);
        return { ...account, totp: { ...totp, sealedSecret } };
      },
    },
    signal,
  );
}
