// Identifiers of assertions and proofs that were used. The library remembers those of proofs (DPoP, RFC 9449 §11.1) for five
// minutes from their use, but accepts a proof for up to ten: one from a clock that is ahead could be used a second time.
import type { ReplayDetectionClass } from '../provider-base.ts';

/** How far ahead a clock may be (lib/helpers/validate_dpop.js). */
const AHEAD_SECONDS = 300;

export const createReplayDetectionModel = (Base: ReplayDetectionClass): ReplayDetectionClass =>
  class ReplayDetection extends Base {
    static override unique(iss: string, jti: string, exp: number): Promise<boolean> {
      return super.unique(iss, jti, exp + AHEAD_SECONDS);
    }
  };
