// Owns which SSO session a grant was born from, so that the end of the session can find and end it.
import type { Grant } from 'oidc-provider';
import type { GrantClass } from '../provider-base.ts';

export type SessionGrant = Grant & {
  sessionUid?: string;
  /** Given in a trial (trial-gate.ts): short-lived, and never the start of a real sign-in. */
  isTrial?: boolean;
};

export function createGrantModel(Base: GrantClass): GrantClass {
  return class Grant extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'sessionUid', 'isTrial'];
    declare sessionUid?: string;
    declare isTrial?: boolean;
  };
}
