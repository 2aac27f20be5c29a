// SSO sessions from the outside: listing them, noting activity, ending one or all of an account. The session as the
// browser has it is oidc-provider's model (src/oidc/models/session.ts).
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import * as model from '../store/collections.ts';
import type { Page, Query, Store, Stored } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { update } from '../store/update.ts';
import type { Grants } from './grants.ts';

export type SessionActivity = Omit<model.SessionRecord, 'lastActivityAt' | 'endedAt'> & {
  readonly uid: string;
  readonly isNew: boolean;
};

export interface Sessions {
  find(uid: string): Promise<Stored<model.SessionRecord> | undefined>;
  query(query: Query): Promise<Page<model.SessionRecord>>;
  /** Whether the browser could still use it. */
  isActive(record: model.SessionRecord): boolean;
  /** @param activity `isNew`: the session has no record yet, so that nothing need be read */
  note(activity: SessionActivity): Promise<void>;
  /**
   * Ends a session with every grant and token born from it.
   * @param by the browser that asked for it, so that it is known when it asks again
   * @returns whether there was a live one
   */
  end(uid: string, by?: { readonly cookieDigest: string }): Promise<boolean>;
  /** @returns how many were ended */
  endAllOf(accountId: string, options?: { except?: string | undefined }): Promise<number>;
  /** Removes what tells that the account was ever here: its ended sessions, and sign-ins that are still under way. */
  removeOfAccount(accountId: string): Promise<void>;
  /** Finishes endings that a crash, or a store that went away, cut short. @returns how many */
  finishEndings(): Promise<number>;
  /**
   * The same for one session: for whoever asks again to sign out, when nothing but this tells which one it was.
   * @param ended its public `uid`, or the digest of the cookie that the browser had
   */
  finishEndingOf(ended: { readonly uid: string } | { readonly cookieDigest: string }): Promise<void>;
  /** Removes records of sessions that ended or expired before that time. @returns how many */
  forget(before: number, limit: number): Promise<number>;
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly grants: Grants;
  readonly events: Pick<Events, 'emit' | 'note' | 'origins'>;
}

export function createSessions({ store, clock, grants, events }: Deps): Sessions {
  const records = store.collection(model.sessions);
  const live = store.ephemeral(protocol.oidcSessions);
  const interactions = store.ephemeral(protocol.interactions);

  /** Whoever ends a session, where no administrator does, is the browser that has it. */
  function reportEnd(uid: string, accountId: string, sids: ReadonlyMap<string, string>): void {
    const { origins } = events;
    const actor = origins.actor() ?? { kind: 'user', id: accountId };
    events.note({
      event: 'session.ended',
      ...(origins.current() !== undefined && { actor }),
      target: { kind: 'session', id: uid },
      details: { user_id: accountId },
    });
    // Its applications are notified (OIDC Back-Channel Logout §2.5).
    events.emit('sessionEnded', { uid, accountId, sids });
  }

  /** No browser can use it, what it gave is gone, and nothing is left to do. @returns how many browsers' it was */
  async function takeBack(uid: string, ofRecord?: string): Promise<number> {
    const [browserSession] = await live.findBy('uid', uid);
    const removed = await live.removeBy('uid', uid);
    // Now or never: with the session goes what says whom to tell, and whoever asks again does not find it.
    const accountId = ofRecord ?? browserSession?.value.accountId;
    if (removed > 0 && typeof accountId === 'string') {
      reportEnd(uid, accountId, sidsOf(browserSession?.value.authorizations));
    }
    await grants.revokeOfSession(uid);
    await update(records, uid, ({ isEnding, endingOf: _, ...value }) =>
      isEnding === true ? { value } : undefined,
    );
    return removed;
  }

  async function end(uid: string, by?: { readonly cookieDigest: string }): Promise<boolean> {
    // Written down first: whatever happens from here on, and however long nobody is there, the job finishes it.
    let hadRecord = false;
    const record = await update(records, uid, (value) => {
      hadRecord = value.endedAt === undefined;
      const ended = { ...value, endedAt: clock(), isEnding: true, ...(by && { endingOf: by.cookieDigest }) };
      return hadRecord ? { value: ended } : undefined;
    });
    const removed = await takeBack(uid, record?.value.accountId);
    return removed > 0 || hadRecord;
  }

  return {
    end,
    find: (uid) => records.find(uid),
    query: (query) => records.query(query),
    isActive: (record) => record.endedAt === undefined && record.expiresAt > clock(),

    async note({ uid, isNew, ...activity }) {
      const lastActivityAt = clock();
      if (isNew) {
        await records.put(uid, { ...activity, lastActivityAt });
        return;
      }
      await update(records, uid, (value) =>
        value.endedAt === undefined ? { value: { ...value, ...activity, lastActivityAt } } : undefined,
      );
    },

    async endAllOf(accountId, { except } = {}) {
      const [known, browserSessions] = await Promise.all([
        records.findBy('account', accountId),
        live.findBy('account', accountId),
      ]);
      const uids = new Set([
        ...known.filter(({ value }) => value.endedAt === undefined).map(({ id }) => id),
        ...browserSessions.map(({ value }) => String(value.uid)),
      ]);
      if (except !== undefined) uids.delete(except);
      const ended = await Promise.all([...uids].map((uid) => end(uid)));
      // Grants outlive a session that expired by itself (a refresh token lasts longer than a browser session).
      await grants.revokeOfAccount(accountId, { exceptSession: except });
      return ended.filter(Boolean).length;
    },

    async removeOfAccount(accountId) {
      await Promise.all([
        records.removeBy('account', accountId),
        interactions.removeBy('account', accountId),
      ]);
    },

    async finishEndings() {
      const ending = await records.findBy('ending', 'yes');
      for (const { id, value } of ending) await takeBack(id, value.accountId);
      return ending.length;
    },

    async finishEndingOf(ended) {
      if ('uid' in ended) {
        const record = await records.find(ended.uid);
        if (record?.value.isEnding === true) await takeBack(record.id, record.value.accountId);
        return;
      }
      // There are none but after a crash.
      const ending = await records.findBy('ending', 'yes');
      for (const { id, value } of ending)
        if (value.endingOf === ended.cookieDigest) await takeBack(id, value.accountId);
    },

    async forget(before, limit) {
      const { items } = await records.query({
        filters: [{ field: 'expires_at', op: 'lte', value: before }],
        sort: 'expires_at',
        order: 'asc',
        limit,
        isCounted: false,
      });
      const removed = await Promise.all(items.map(({ id }) => records.remove(id)));
      return removed.filter(Boolean).length;
    },
  };
}

/** The library's `authorizations` of a session: client id -> { sid, grantId }; not of applications only tried. */
function sidsOf(authorizations: unknown): Map<string, string> {
  const sids = new Map<string, string>();
  if (typeof authorizations !== 'object' || authorizations === null) return sids;
  for (const [clientId, entry] of Object.entries(authorizations)) {
    if (typeof entry?.sid === 'string' && entry.isTrial !== true) sids.set(clientId, entry.sid);
  }
  return sids;
}
