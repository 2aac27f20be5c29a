// Where an event comes from: the request in whose course it happens. It travels beside the calls, so that domains that know
// nothing of HTTP can record events with address, browser and request, and write mails in the browser's language.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from './recorded-event.ts';

export interface Origin {
  readonly ipAddress: string;
  /** What limits by address count in its place, where that is something else (src/http/counted-as.ts). */
  readonly countedAs?: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** The browser's Accept-Language. */
  readonly language: string;
  /** Of the application that the request is about, as far as that is known by now. */
  readonly clientId?: string | undefined;
  /** The SSO session of the browser, by its public id, as far as that is known by now. */
  readonly sessionId?: string | undefined;
}

export interface Origins {
  /**
   * Runs a request. It does not end before the events that it left behind (defer) are written.
   * @throws what the request throws, else what the writing of such an event throws
   */
  run<T>(origin: Origin, request: () => Promise<T>): Promise<T>;
  /** Where we are; undefined outside of requests. */
  current(): Origin | undefined;
  /** What limits by address count; '' outside of requests. */
  countedAs(): string;
  /** Whom this request was authorised as; undefined before. */
  actor(): Actor | undefined;
  setActor(actor: Actor): void;
  /** Has the request wait for this before it is answered. @returns false outside of requests */
  defer(writing: Promise<void>): boolean;
}

interface Scope {
  readonly origin: Origin;
  actor: Actor | undefined;
  readonly deferred: Promise<void>[];
}

export function createOrigins(): Origins {
  const scopes = new AsyncLocalStorage<Scope>();
  return {
    async run(origin, request) {
      const scope: Scope = { origin, actor: undefined, deferred: [] };
      const result = await scopes.run(scope, request).catch(async (error: unknown) => {
        // What happened before the failure has happened all the same; the failure is the answer.
        await Promise.allSettled(scope.deferred);
        throw error;
      });
      if (scope.deferred.length > 0) await Promise.all(scope.deferred);
      return result;
    },
    current: () => scopes.getStore()?.origin,
    countedAs() {
      const { countedAs, ipAddress = '' } = scopes.getStore()?.origin ?? {};
      return countedAs ?? ipAddress;
    },
    actor: () => scopes.getStore()?.actor,
    setActor(actor) {
      const scope = scopes.getStore();
      if (scope !== undefined) scope.actor = actor;
    },
    defer(writing) {
      const scope = scopes.getStore();
      scope?.deferred.push(writing);
      return scope !== undefined;
    },
  };
}
