// Reseals the secrets of authenticator apps after a change of SECRET_KEY.
import { accounts } from '../store/collections.ts';
import { type Reseal, resealAll, resealText } from '../store/reseal.ts';
import { purposeOf } from './totp.ts';

export const resealTotp: Reseal = ({ store, sealer }, signal) =>
  resealAll(
    {
      collection: store.collection(accounts),
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
