// Nonces of proofs (RFC 9449 §8), derived from a secret and the minute: every process gives and takes the same ones, and so do the
// endpoints of the library, whose rule (lib/helpers/challenge.js) this is: a nonce is good for two minutes to either side.
import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { type Clock, epochSeconds } from '../../clock.ts';

const STEP_SECONDS = 60;
/** Of the minute to come, so that it lasts; and how far one may be from now. */
const [NEXT, AWAY] = [1, 2];

export interface DpopNonces {
  next(): string;
  isGood(nonce: string): boolean;
}

export function createDpopNonces(secret: Buffer, clock: Clock): DpopNonces {
  const ofStep = (step: number): string => {
    const salt = Buffer.alloc(8);
    salt.writeBigUInt64BE(BigInt(step));
    return Buffer.from(hkdfSync('sha256', secret, salt, 'DPoP', 32)).toString('base64url');
  };
  const nowStep = (): number => Math.floor(epochSeconds(clock) / STEP_SECONDS);
  return {
    next: () => ofStep(nowStep() + NEXT),
    isGood(nonce) {
      const given = Buffer.from(nonce);
      const now = nowStep();
      const good = Array.from({ length: 2 * AWAY + 1 }, (_, index) =>
        Buffer.from(ofStep(now - AWAY + index)),
      );
      return good.some((one) => one.length === given.length && timingSafeEqual(one, given));
    },
  };
}
