// When a session was last used, and a refresh as such a use (decision 0007): who works in an application all day never comes here
// otherwise, and would be asked to sign in again in the afternoon.
import { type Clock, epochSeconds } from '../../clock.ts';
import type { ProtocolPayload } from '../../store/collections.ts';
import { type EphemeralCollection, VersionConflict } from '../../store/port.ts';

/** For so long after the person was last seen here. */
export const SEEN_SECONDS = 12 * 3600;
const WRITTEN_EVERY_SECONDS = 60;

export interface SessionLimits {
  readonly session_idle_seconds: number;
  readonly session_absolute_seconds: number;
  readonly refresh_extends_session: boolean;
}

export interface SessionUseDeps {
  readonly collection: EphemeralCollection<ProtocolPayload>;
  readonly clock: Clock;
  readonly settings: () => SessionLimits;
  /** @param expiresAt epoch milliseconds */
  readonly recordUse: (uid: string, expiresAt: number) => Promise<void>;
}

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** `usedAt`: a page or redirect of ours; `refreshedAt`: a refresh. Epoch seconds; 0: unknown, as in sessions of earlier versions. */
const lastUse = ({ usedAt, refreshedAt }: ProtocolPayload): number =>
  Math.max(number(usedAt), number(refreshedAt));

/** How long one that is used now lives on, in seconds. @param began, @param now epoch seconds */
export const secondsLive = (began: number, limits: SessionLimits, now: number): number =>
  Math.max(1, Math.min(limits.session_idle_seconds, began + limits.session_absolute_seconds - now));

/** The stored expiry follows the settings of the last use; shorter lifetimes apply immediately. */
export const isOver = (stored: ProtocolPayload, limits: SessionLimits, now: number): boolean =>
  (typeof stored.usedAt === 'number' && now >= lastUse(stored) + limits.session_idle_seconds) ||
  (typeof stored.iat === 'number' && now >= stored.iat + limits.session_absolute_seconds);

export function createUseSession({ collection, clock, settings, recordUse }: SessionUseDeps) {
  return async (uid: string): Promise<void> => {
    const now = epochSeconds(clock);
    const limits = settings();
    const [session] = limits.refresh_extends_session ? await collection.findBy('uid', uid) : [];
    if (session === undefined) return;
    const { id, version, value } = session;
    const last = lastUse(value);
    const isUnseen = now >= number(value.usedAt) + SEEN_SECONDS;
    if (isUnseen || isOver(value, limits, now) || now < last + WRITTEN_EVERY_SECONDS) return;
    const expiresAt = (now + secondsLive(number(value.iat), limits, now)) * 1000;
    try {
      await collection.replace(id, version, { ...value, refreshedAt: now }, { expiresAt });
      await recordUse(uid, expiresAt);
    } catch (error) {
      // The person came here themselves, or signed out.
      if (!(error instanceof VersionConflict)) throw error;
    }
  };
}
