// Predicts the next scheduled step of the signing keys from the API's data, and whether that step is overdue.
import { iso } from '../../api/schema-parts.ts';
import type { SigningKey } from './resource.ts';

export interface KeyPlan {
  /** `switch`: a next key exists and starts to sign `at`. `renew`: a new key signs from `at`. `never`: there is no schedule. */
  readonly kind: 'switch' | 'renew' | 'never';
  /** RFC 3339; '' for `never`. */
  readonly at: string;
  /** RFC 3339: when the next key is published, ahead of its use. */
  readonly shownFrom: string;
  /** The step should have run a while ago, so the rotation job is probably not running. */
  readonly isOverdue: boolean;
}

/** How long a key is published before it signs by schedule (src/keys/signing-keys.ts). */
const SHOWN_AHEAD_MS = 900_000;
/** The job runs every minute; a delay of an hour indicates a failure. */
const PATIENCE_MS = 3_600_000;

/** @param rotationSeconds setting key_rotation_seconds @param now epoch milliseconds */
export function keyPlanOf(keys: readonly SigningKey[], rotationSeconds: number, now: number): KeyPlan {
  const next = keys.find(({ state }) => state === 'next');
  if (next?.activates_at) {
    const isOverdue = Date.parse(next.activates_at) + PATIENCE_MS < now;
    return { kind: 'switch', at: next.activates_at, shownFrom: next.created_at, isOverdue };
  }
  if (rotationSeconds === 0) return { kind: 'never', at: '', shownFrom: '', isOverdue: false };
  const current = keys.find(({ state }) => state === 'current');
  const since = current === undefined ? now : Date.parse(current.activated_at ?? current.created_at);
  const dueAt = since + rotationSeconds * 1000;
  const isOverdue = dueAt + PATIENCE_MS < now;
  return { kind: 'renew', at: iso(dueAt), shownFrom: iso(dueAt - SHOWN_AHEAD_MS), isOverdue };
}
