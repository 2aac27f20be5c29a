// SSO sessions: lists them, notes their activity, and ends one or all of an account. The session in the browser is
// oidc-provider's model (src/oidc/models/session.ts).
import type { Clock } from '../clock.ts';
import type { Events, Signals } from '../events/index.ts';
import * as model from '../store/collections.ts';
import type { Page, Query, Store, Stored } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import { update } from '../store/update.ts';
import type { Grants, Login } from './grants.ts';

export type SessionActivity = Omit<model.SessionRecord, 'lastActivityAt' | 'endedAt'> & {
  readonly uid: string;
  readonly isNew: boolean;
};

interface EndedBy {
  readonly cookieDigest?: string;
  readonly returnsTo?: string | undefined;
}

export interface Sessions {
  find(uid: string): Promise<Stored<model.SessionRecord> | undefined>;
  query(query: Query): Promise<Page<model.SessionRecord>>;
  /** Whether the browser can still use it. */
  isActive(record: model.SessionRecord): boolean;
  /** @param activity `isNew`: the session has no record yet, so nothing is read */
  note(activity: SessionActivity): Promise<void>;
  /** Something other than the browser used it. @param expiresAt epoch milliseconds */
  noteUse(uid: string, expiresAt: number): Promise<void>;
  /**
   * The live session in which the application signed the account in under that `sid`. `startedAt`: epoch seconds.
   */
  findBySid(login: Login): Promise<{ readonly uid: string; readonly startedAt: number } | undefined>;
  /**
   * Ends a session with every grant and token issued from it.
   * @param by the browser that requested it, so that it is recognised if it asks again, and the application to which it returns
   * @returns whether there was a live session
   */
  end(uid: string, by?: EndedBy): Promise<boolean>;
  /**
   * Ends what is left of a session that is not live, by the sign-in of one of its applications: grants outlive a session that idled
   * out.
   * @returns the public uids of those sessions of which that application's grants alone have ended, and whether any lives on
   */
  endPast(
    login: Login,
    may: { endWhole(uid: string): boolean; readonly endOwn: boolean },
  ): Promise<{ readonly ended: readonly string[]; readonly isLeft: boolean }>;
  /** @returns the number of ended sessions */
  endAllOf(accountId: string, options?: { except?: string | undefined }): Promise<number>;
  /** Removes the account's remaining traces: its ended sessions, and sign-ins in progress. */
  removeOfAccount(accountId: string): Promise<void>;
  /** Completes endings that a crash or an unavailable store interrupted. @returns how many */
  finishEndings(): Promise<number>;
  /**
   * The same for one session: for a repeated sign-out, when only this identifies the session.
   * @param ended its public `uid`, the digest of the cookie that the browser had, or its account
   */
  finishEndingOf(
    ended: { readonly uid: string } | { readonly cookieDigest: string } | { readonly accountId: string },
  ): Promise<void>;
  /** Removes records of sessions that ended or expired before that time. @returns how many */
  forget(before: number, limit: number): Promise<number>;
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly grants: Grants;
  readonly events: Pick<Events, 'emit' | 'emitAndWait' | 'note' | 'origins'>;
}

export function createSessions({ store, clock, grants, events }: Deps): Sessions {
  const records = store.collection(model.sessions);
  const live = store.ephemeral(protocol.oidcSessions);
  const interactions = store.ephemeral(protocol.interactions);

  /** Unless an administrator does, the browser that has the session ends it. */
  function reportEnd({ uid, accountId, ...more }: Signals['sessionEnded']): void {
    const { origins } = events;
    const actor = origins.actor() ?? { kind: 'user', id: accountId };
    events.note({
      event: 'session.ended',
      ...(origins.current() !== undefined && { actor }),
      target: { kind: 'session', id: uid },
      details: { user_id: accountId },
    });
    // Its applications are notified (OIDC Back-Channel Logout §2.5).
    events.emit('sessionEnded', { uid, accountId, ...more });
  }

  /**
   * Removes the browser's session and everything issued from it, then marks the ending as complete. @returns the
   * number of browser sessions
   */
  async function takeBack(uid: string, ofRecord?: string, returnsTo?: string): Promise<number> {
    const [browserSession] = await live.findBy('uid', uid);
    // Whom to notify is in the session, and after its removal in its grants.
    const left = browserSession === undefined ? await grants.ofSession(uid) : [];
    const accountId = ofRecord ?? browserSession?.value.accountId ?? left[0]?.accountId;
    const sids = sidsOf(
      browserSession?.value.authorizations ??
        Object.fromEntries(left.map((grant) => [grant.clientId, grant])),
    );
    if (sids.size > 0 && typeof accountId === 'string') {
      await events.emitAndWait('sessionEnding', { uid, accountId, sids });
    }
    const removed = await live.removeBy('uid', uid);
    const isEnd = removed > 0 || left.length > 0;
    if (isEnd && typeof accountId === 'string') reportEnd({ uid, accountId, sids, returnsTo });
    await grants.revokeOfSession(uid);
    await update(records, uid, ({ isEnding, endingOf: _, ...value }) =>
      isEnding === true ? { value } : undefined,
    );
    return removed;
  }

  async function end(uid: string, { cookieDigest, returnsTo }: EndedBy = {}): Promise<boolean> {
    // Written first, so that the job completes the ending after a crash at any later point.
    let hadRecord = false;
    const record = await update(records, uid, (value) => {
      hadRecord = value.endedAt === undefined;
      const ended = { ...value, endedAt: clock(), isEnding: true };
      return hadRecord
        ? { value: { ...ended, ...(cookieDigest !== undefined && { endingOf: cookieDigest }) } }
        : undefined;
    });
    const removed = await takeBack(uid, record?.value.accountId, returnsTo);
    return removed > 0 || hadRecord;
  }

  const finishEndingOf: Sessions['finishEndingOf'] = async (ended) => {
    if ('uid' in ended) {
      const record = await records.find(ended.uid);
      if (record?.value.isEnding === true) await takeBack(record.id, record.value.accountId);
      return;
    }
    // Only a crash leaves any.
    const ending = await records.findBy('ending', 'yes');
    for (const { id, value } of ending) {
      const isNamed =
        'accountId' in ended ? value.accountId === ended.accountId : value.endingOf === ended.cookieDigest;
      if (isNamed) await takeBack(id, value.accountId);
    }
  };

  return {
    end,
    find: (uid) => records.find(uid),
    query: (query) => records.query(query),
    isActive: (record) => record.endedAt === undefined && record.expiresAt > clock(),

    async findBySid({ accountId, clientId, sid }) {
      const found = await live.findBy('account', accountId);
      const session = found.find(({ value }) => sidsOf(value.authorizations).get(clientId) === sid)?.value;
      if (typeof session?.uid !== 'string' || typeof session.iat !== 'number') return undefined;
      return { uid: session.uid, startedAt: session.iat };
    },

    async endPast(login, may) {
      // A sign-out that was interrupted is completed first.
      await finishEndingOf({ accountId: login.accountId });
      const [found, browserSessions] = await Promise.all([
        grants.ofLogin(login),
        live.findBy('account', login.accountId),
      ]);
      const uids = new Set(found.map(({ sessionUid }) => sessionUid));
      for (const { value } of browserSessions) uids.delete(String(value.uid));
      const whole = [...uids].filter((uid) => may.endWhole(uid));
      const rest = [...uids].filter((uid) => !whole.includes(uid));
      await Promise.all(whole.map((uid) => end(uid, { returnsTo: login.clientId })));
      if (!may.endOwn) return { ended: [], isLeft: rest.length > 0 };
      await Promise.all(rest.map((uid) => grants.revokeOfClientInSession(uid, login.clientId)));
      return { ended: rest, isLeft: false };
    },

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

    async noteUse(uid, expiresAt) {
      const lastActivityAt = clock();
      await update(records, uid, (value) =>
        value.endedAt === undefined ? { value: { ...value, expiresAt, lastActivityAt } } : undefined,
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
      // Grants outlive an expired session (a refresh token lasts longer than a browser session).
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

    finishEndingOf,

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

/** oidc-provider's `authorizations` of a session: client id -> { sid, grantId }. */
function sidsOf(authorizations: unknown): Map<string, string> {
  const sids = new Map<string, string>();
  if (typeof authorizations !== 'object' || authorizations === null) return sids;
  for (const [clientId, entry] of Object.entries(authorizations)) {
    if (typeof entry?.sid === 'string') sids.set(clientId, entry.sid);
  }
  return sids;
}
