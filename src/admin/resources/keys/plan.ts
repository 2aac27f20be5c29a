// What will become of the signing keys if nobody intervenes, out of what the API says of them; and whether that
// should have happened already.
import { textOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

export interface KeyPlan {
  /** `switch`: a next key is there and begins to sign `at`. `renew`: one is made for `at`. `never`: there is no schedule. */
  readonly kind: 'switch' | 'renew' | 'never';
  /** RFC 3339; '' for `never`. */
  readonly at: string;
  /** RFC 3339: from when on the key that comes is shown ahead of its use. */
  readonly shownFrom: string;
  /** The step was due a while ago, so that whatever takes it does not run. */
  readonly isOverdue: boolean;
}

/** As long as a key is shown before it signs by schedule (src/keys/signing-keys.ts). */
const SHOWN_AHEAD_MS = 900_000;
/** The job looks every minute; an hour of silence is no accident. */
const PATIENCE_MS = 3_600_000;

const iso = (at: number): string => new Date(at).toISOString();

/**
 * @param keys as GET /keys has them
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
