// Owns the browser's SSO session where it meets its end: a session that was ended while a request of it was under way is
// not written again. Also notes sign-in, address and activity for administrators and the owner (src/sessions).
import { type AdapterPayload, errors, type Session as LibrarySession } from 'oidc-provider';
import { type MethodTimes, mergeMethodTimes, readMethodTimes } from '../../accounts/freshness.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import { secretDigest } from '../../ids.ts';
import type { ProtocolPayload } from '../../store/collections.ts';
import { type EphemeralCollection, VersionConflict } from '../../store/port.ts';
import { type ModelInternals, ProviderBase, type SessionClass } from '../provider-base.ts';
import { trialRedirectUri } from '../trial-gate.ts';

export interface SessionActivity {
  readonly uid: string;
  /** Never noted before. */
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
  /** Whether that proof (epoch milliseconds) still counts; where it does not, the session is ended. */
  readonly confirm: (login: { accountId: string; uid: string; provenAt: number }) => Promise<boolean>;
  readonly baseUrl: string;
  readonly settings: () => {
    readonly session_idle_seconds: number;
    readonly session_absolute_seconds: number;
  };
}

// Plain properties, no private names: the library hands its session around behind a Proxy.
type LoadedSession = LibrarySession &
  ModelInternals & {
    /** What was last noted, so that a request knows without reading whether there is something new. */
    noted?: { at: number; as: string };
    oldId?: string;
    touched?: boolean;
    /** When each method was last authenticated in it; absent: stored by the version before. */
    methodTimes?: MethodTimes;
    /** Epoch seconds of the last request that used it. */
    usedAt?: number;
    /** Absent: not stored yet. */
    storedVersion?: number | undefined;
    /** The request it is used in, where that is none of the library's own (browser-session.ts). */
    request?: RequestFacts;
  };

interface RequestFacts {
  readonly ip: string;
  get(header: string): string;
}

/** What the library keeps of an application that the session is used at. */
interface Entry {
  sid?: string | undefined;
  /** Only tried by an administrator (trial-gate.ts): the application learns nothing of the session, its end included. */
  isTrial?: boolean;
}

const MAX_USER_AGENT = 512;

// A note a minute is precise enough for "last active", and keeps a write off most silent sign-ins.
const NOTE_EVERY_MS = 60_000;

export function createSessionModel(
  Base: SessionClass,
  { collection, clock, recordActivity, confirm, settings, baseUrl }: Deps,
): SessionClass {
  const trialUri = trialRedirectUri(baseUrl);

  /** The stored expiry has the settings of the last use; a shorter one since then counts at once (checklist R061). */
  function isOver({ iat, usedAt }: ProtocolPayload): boolean {
    const now = epochSeconds(clock);
    const { session_idle_seconds: idle, session_absolute_seconds: absolute } = settings();
    return (
      (typeof usedAt === 'number' && now >= usedAt + idle) ||
      (typeof iat === 'number' && now >= iat + absolute)
    );
  }

  async function create(id: string, payload: ProtocolPayload, expiresAt: number): Promise<number> {
    return (await collection.insert(secretDigest(id), payload, { expiresAt })).version;
  }

  async function write(session: LoadedSession, payload: ProtocolPayload, expiresAt: number): Promise<number> {
    if (session.oldId !== undefined) {
      // Only who removes the old identifier may write the new one: a session ended meanwhile stays ended.
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
      // Another tab signed in at another client meanwhile: keep what both added.
      version = newer.version;
      value = {
        ...payload,
        authorizations: { ...object(newer.value.authorizations), ...session.authorizations },
      };
    }
  }

  /** @returns what to note, or undefined when the last note says the same */
  function takeNote(session: LoadedSession, ttl: number): SessionActivity | undefined {
    const { accountId, uid } = session;
    const request: RequestFacts | undefined = session.request ?? ProviderBase.ctx;
    if (accountId === undefined || request === undefined) return undefined;
    const clientIds = Object.entries(session.authorizations ?? {}).flatMap(([id, one]: [string, Entry]) =>
      one.isTrial === true ? [] : [id],
    );
    const now = clock();
    const as = [accountId, session.loginTs, ...clientIds].join(' ');
    if (session.noted?.as === as && now - session.noted.at < NOTE_EVERY_MS) return undefined;
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

  return class Session extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'noted', 'usedAt', 'methodTimes'];

    static override async find(value: string): Promise<LibrarySession | undefined> {
      if (typeof value !== 'string' || value === '') return undefined;
      const stored = await collection.find(secretDigest(value));
      if (stored === undefined || isOver(stored.value)) return undefined;
      const payload: AdapterPayload = { ...stored.value, jti: value };
      const session = this.instantiate(await this.verify(payload));
      return Object.assign(session, { storedVersion: stored.version });
    }

    // The only place where a session learns of an authentication: `auth_time`, `amr` and `acr` are the library's, the time
    // of each method is ours. At the end of an interaction the library hands on none but its own members.
    override loginAccount(
      this: LoadedSession,
      details: Parameters<LibrarySession['loginAccount']>[0] & { methodTimes?: MethodTimes },
    ): void {
      const result = ProviderBase.ctx?.oidc.entities.Interaction?.result?.login;
      const proven = readMethodTimes(details.methodTimes ?? result?.methodTimes);
      const isSame = this.accountId === details.accountId;
      super.loginAccount(details);
      this.methodTimes = mergeMethodTimes(isSame ? readMethodTimes(this.methodTimes) : {}, proven);
    }

    override ensureClientContainer(clientId: string): void {
      const entry: Entry = this.authorizationFor(clientId) ?? {};
      const isNew = entry.sid === undefined;
      super.ensureClientContainer(clientId);
      if (ProviderBase.ctx?.oidc.params?.redirect_uri !== trialUri) delete entry.isTrial;
      else if (isNew) entry.isTrial = true;
    }

    override async save(this: LoadedSession, ttl: number): Promise<string> {
      const note = takeNote(this, ttl);
      const expiresAt = clock() + ttl * 1000;
      this.exp = Math.floor(expiresAt / 1000);
      this.usedAt = epochSeconds(clock);
      const { value, payload } = await this.getValueAndPayload();
      const { jti: _, ...rest } = payload;
      const [storedVersion] = await Promise.all([
        this.storedVersion === undefined ? create(this.jti, rest, expiresAt) : write(this, rest, expiresAt),
        note === undefined ? undefined : recordActivity(note),
      ]);
      this.storedVersion = storedVersion;
      this.touched = false;
      const login = ProviderBase.ctx?.oidc.result?.login;
      if (login !== undefined && typeof login.provenAt === 'number') {
        const { accountId, provenAt } = login;
        // Written first, looked at afterwards: whoever ends the account's sessions in between finds this one (R063, R076).
        if (!(await confirm({ accountId, uid: this.uid, provenAt }))) throw ended();
      }
      this.emit('saved');
      return value;
    }

    // The library writes again what its error page noted; a browser that never got a cookie has no session to note it in.
    override async persist(this: LoadedSession): Promise<string> {
      return this.exp === undefined ? '' : this.save(this.exp - epochSeconds(clock));
    }
  };
}

const ended = (): Error => new errors.SessionNotFound('the session has ended');

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
