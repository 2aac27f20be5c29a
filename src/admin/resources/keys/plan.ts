// Predicts the next scheduled step of the signing keys from the API's data, and whether that step is overdue.
import { textOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

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

const iso = (at: number): string => new Date(at).toISOString();

/**
 * @param keys as GET /keys returns them
 * @param rotationSeconds setting key_rotation_seconds
 * @param now epoch milliseconds
 */
export function keyPlanOf(keys: readonly Values[], rotationSeconds: number, now: number): KeyPlan {
  const inState = (state: string): Values => keys.find((key) => key.state === state) ?? {};
  const next = inState('next');
  const switchAt = textOf(next, 'activates_at');
  if (switchAt !== '') {
    const isOverdue = Date.parse(switchAt) + PATIENCE_MS < now;
    return { kind: 'switch', at: switchAt, shownFrom: textOf(next, 'created_at'), isOverdue };
  }
  if (rotationSeconds === 0) return { kind: 'never', at: '', shownFrom: '', isOverdue: false };
  const current = inState('current');
  const since = Date.parse(textOf(current, 'activated_at') || textOf(current, 'created_at'));
  const dueAt = (Number.isNaN(since) ? now : since) + rotationSeconds * 1000;
  const isOverdue = dueAt + PATIENCE_MS < now;
  return { kind: 'renew', at: iso(dueAt), shownFrom: iso(dueAt - SHOWN_AHEAD_MS), isOverdue };
}
