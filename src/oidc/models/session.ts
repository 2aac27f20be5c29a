// The browser's SSO session. A session that ends while one of its requests is in progress is not written again. Also records
// sign-in, address and activity for administrators and the owner (src/sessions).
import { type AdapterPayload, errors, type Session as LibrarySession } from 'oidc-provider';
import { isPassing } from '../../client-ids.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import { secretDigest } from '../../ids.ts';
import { type MethodTimes, mergeMethodTimes, readMethodTimes } from '../../sessions/index.ts';
import type { ProtocolPayload } from '../../store/collections.ts';
import { type EphemeralCollection, VersionConflict } from '../../store/port.ts';
import { type ModelInternals, ProviderBase, type SessionClass } from '../provider-base.ts';
import { newerIn, type WithNewer } from './newer-members.ts';
import { isOver, SEEN_SECONDS, type SessionLimits, secondsLive } from './session-use.ts';

export interface SessionActivity {
  readonly uid: string;
  /** The first record of this session. */
  readonly isNew: boolean;
  readonly accountId: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly amr: string[];
  readonly clientIds: string[];
  readonly createdAt: number;
  readonly expiresAt: number;
}

interface Deps {
  readonly collection: EphemeralCollection<ProtocolPayload>;
  readonly clock: Clock;
  readonly recordActivity: (activity: SessionActivity) => Promise<void>;
  /** Whether an authentication at that time (epoch milliseconds) is still valid; otherwise the session is ended. */
  readonly confirm: (login: { accountId: string; uid: string; provenAt: number }) => Promise<boolean>;
  readonly settings: () => SessionLimits;
}

// Plain properties, not private names: the library passes the session behind a Proxy.
type LoadedSession = LibrarySession &
  ModelInternals &
  WithNewer & {
    /** The last activity recorded, so that a request knows without a read whether anything is new. */
    noted?: { at: number; as: string };
    oldId?: string;
    touched?: boolean;
    /** When each method was last used in it; absent: stored by the previous version. */
    methodTimes?: MethodTimes;
    /** See confirmed.ts. */
    confirmedAt?: number | undefined;
    /** Epoch seconds of the last request that used it (session-use.ts). */
    usedAt?: number;
    refreshedAt?: number;
    /** Absent: not stored yet. */
    storedVersion?: number | undefined;
    /** What a client that passes has of the request. */
    passing?: object;
    /** The request that uses it, when that is not one of the library (browser-session.ts). */
    request?: RequestFacts;
  };

interface RequestFacts {
  readonly ip: string;
  get(header: string): string;
}

const MAX_USER_AGENT = 512;

// Precise enough for "last active", and spares most silent sign-ins a write.
const RECORD_INTERVAL_MS = 60_000;

interface SessionWriter {
  create(id: string, payload: ProtocolPayload, expiresAt: number): Promise<number>;
  write(session: LoadedSession, payload: ProtocolPayload, expiresAt: number): Promise<number>;
}

/** Both return the version that was stored. */
function createSessionWriter(collection: EphemeralCollection<ProtocolPayload>): SessionWriter {
  async function create(id: string, payload: ProtocolPayload, expiresAt: number): Promise<number> {
    return (await collection.insert(secretDigest(id), payload, { expiresAt })).version;
  }

  async function write(session: LoadedSession, payload: ProtocolPayload, expiresAt: number): Promise<number> {
    if (session.oldId !== undefined) {
      // Only the request that removes the old identifier may write the new one, so an ended session stays ended.
      if (!(await collection.remove(secretDigest(session.oldId)))) throw ended();
      return (await collection.put(secretDigest(session.jti), payload, { expiresAt })).version;
    }
    const id = secretDigest(session.jti);
    let version = session.storedVersion ?? 0;
    for (let value = payload; ; ) {
      try {
        return (await collection.replace(id, version, value, { expiresAt })).version;
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
      const newer = await collection.find(id);
      if (newer === undefined) throw ended();
      // Another tab signed in to another client at the same time: keep both.
      version = newer.version;
      value = {
        ...payload,
        authorizations: { ...object(newer.value.authorizations), ...session.authorizations },
      };
    }
  }

  return { create, write };
}

/** @returns the activity to record, or undefined when the last record says the same */
function activityToRecord(session: LoadedSession, ttl: number, now: number): SessionActivity | undefined {
  const { accountId, uid } = session;
  const request: RequestFacts | undefined = session.request ?? ProviderBase.ctx;
  if (accountId === undefined || request === undefined) return undefined;
  const clientIds = Object.keys(session.authorizations ?? {});
  const as = [accountId, session.loginTs, ...clientIds].join(' ');
  if (session.noted?.as === as && now - session.noted.at < RECORD_INTERVAL_MS) return undefined;
  const isNew = session.noted === undefined;
  session.noted = { at: now, as };
  return {
    uid,
    isNew,
    accountId,
    clientIds,
    ipAddress: request.ip,
    userAgent: request.get('user-agent').slice(0, MAX_USER_AGENT),
    amr: session.amr ?? [],
    createdAt: (session.iat ?? Math.floor(now / 1000)) * 1000,
    expiresAt: now + ttl * 1000,
  };
}

export function createSessionModel(
  Base: SessionClass,
  { collection, clock, recordActivity, confirm, settings }: Deps,
): SessionClass {
  const { create, write } = createSessionWriter(collection);

  /** The library lets the cookie end then: a refresh, which brings none, may have made the session longer. */
  const cookieEnd = (expiresAt: number): number =>
    Math.floor(expiresAt / 1000) + (settings().refresh_extends_session ? SEEN_SECONDS : 0);

  return class Session extends Base {
    static override IN_PAYLOAD = [
      ...Base.IN_PAYLOAD,
      'noted',
      'usedAt',
      'refreshedAt',
      'methodTimes',
      'confirmedAt',
    ];

    static override async find(value: string): Promise<LibrarySession | undefined> {
      if (typeof value !== 'string' || value === '') return undefined;
      const stored = await collection.find(secretDigest(value));
      if (stored === undefined || isOver(stored.value, settings(), epochSeconds(clock))) return undefined;
      const payload: AdapterPayload = { ...stored.value, jti: value };
      const session = this.instantiate(await this.verify(payload));
      const newer = newerIn(stored.value, this.IN_PAYLOAD);
      return Object.assign(session, { storedVersion: stored.version, ...(newer && { newer }) });
    }

    // The only place that records an authentication in a session. The library sets `auth_time`, `amr` and `acr`, and we the
    // time of each method, read from the interaction because the library passes on only its own members.
    override loginAccount(
      this: LoadedSession,
      details: Parameters<LibrarySession['loginAccount']>[0] & {
        methodTimes?: MethodTimes;
        confirmedAt?: number;
        sessionUid?: string;
      },
    ): void {
      const result = ProviderBase.ctx?.oidc.entities.Interaction?.result?.login;
      const proven = readMethodTimes(details.methodTimes ?? result?.methodTimes);
      const isSame = this.accountId === details.accountId;
      // A session that begins has the public id that the event of its sign-in names (sign-in/browser-session.ts,
      // interactions/signin-steps.ts). Of one that has an account, nothing changes.
      const sessionUid: unknown = details.sessionUid ?? result?.sessionUid;
      if (this.accountId === undefined && typeof sessionUid === 'string') this.uid = sessionUid;
      this.confirmedAt = details.confirmedAt ?? (isSame ? this.confirmedAt : undefined);
      super.loginAccount(details);
      this.methodTimes = mergeMethodTimes(isSame ? readMethodTimes(this.methodTimes) : {}, proven);
    }

    // The session's own applications are shown to its owner, and hear of its end.
    override authorizationFor(
      this: LoadedSession,
      ...given: Parameters<LibrarySession['authorizationFor']>
    ): ReturnType<LibrarySession['authorizationFor']> {
      if (!isPassing(given[0])) return super.authorizationFor(...given);
      this.passing ??= {};
      return this.passing;
    }

    override async save(this: LoadedSession, ttl: number): Promise<string> {
      const activity = activityToRecord(this, ttl, clock());
      const expiresAt = clock() + ttl * 1000;
      this.exp = cookieEnd(expiresAt);
      this.usedAt = epochSeconds(clock);
      const { value, payload } = await this.getValueAndPayload();
      const { jti: _, ...listed } = payload;
      const rest = { ...this.newer, ...listed };
      const [storedVersion] = await Promise.all([
        this.storedVersion === undefined ? create(this.jti, rest, expiresAt) : write(this, rest, expiresAt),
        activity === undefined ? undefined : recordActivity(activity),
      ]);
      this.storedVersion = storedVersion;
      this.touched = false;
      const login = ProviderBase.ctx?.oidc.result?.login;
      if (login !== undefined && typeof login.provenAt === 'number') {
        const { accountId, provenAt } = login;
        // Written first, then checked: a concurrent end of all sessions of the account finds this one (R063, R076).
        if (!(await confirm({ accountId, uid: this.uid, provenAt }))) throw ended();
      }
      this.emit('saved');
      return value;
    }

    // The library saves again on its error page; a browser without a session cookie has no session to save.
    override async persist(this: LoadedSession): Promise<string> {
      if (this.exp === undefined) return '';
      return this.save(secondsLive(this.iat ?? 0, settings(), epochSeconds(clock)));
    }
  };
}

const ended = (): Error => new errors.SessionNotFound('the session has ended');

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
