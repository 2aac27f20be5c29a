// What is said when something is recorded.
import type { EventName } from '../model/events/events.ts';

export interface Actor {
  readonly kind: 'user' | 'client' | 'bootstrap' | 'api_key' | 'system' | 'anonymous';
  readonly id?: string | undefined;
}

export interface Target {
  readonly kind:
    | 'user'
    | 'client'
    | 'api'
    | 'session'
    | 'grant'
    | 'token'
    | 'setting'
    | 'key'
    | 'mail'
    | 'device'
    | 'invitation'
    | 'api_key'
    | 'group'
    | 'passkey';
  /** Never a bearer value: an id that grants nothing. */
  readonly id?: string | undefined;
}

export interface RecordedEvent {
  readonly event: EventName;
  /** Default: `failure` for names that end so, else `success`. */
  readonly outcome?: 'success' | 'failure' | undefined;
  /** Why, as a word; for inside only, callers never learn it. */
  readonly reason?: string | undefined;
  /** Default: who the request was authorised as; `anonymous` in a request, `system` outside of one. */
  readonly actor?: Actor | undefined;
  readonly target?: Target | undefined;
  /** Default: the application that the request is about, where one is. */
  readonly clientId?: string | undefined;
  /** The SSO session in whose course it happened, or that begins with it. Default: the one of the request's browser. */
  readonly sessionId?: string | undefined;
  /** Anything else worth knowing. Secrets are taken out (src/audit/details.ts), but do not count on it: put none in. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A user's own act: `owner` stands for actor and target. */
export type ToRecord =
  | (RecordedEvent & { readonly owner?: never })
  | (Omit<RecordedEvent, 'actor' | 'target'> & { readonly owner: string });

export function withOwner({ owner, ...event }: ToRecord): RecordedEvent {
  if (owner === undefined) return event;
  const user = { kind: 'user', id: owner } as const;
  return { ...event, actor: user, target: user };
}
