// A plain token request in whose course the models and hooks run, without the library's own surroundings: no router, no error
// handler, no session. Until its first write that cannot be repeated it may be left to the library at any time; from then on
// what happens is its own, and the library only says what became of it.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';

const requests = new AsyncLocalStorage<KoaContextWithOIDC>();
const begun = new WeakSet<object>();

/** Why a request is left to the library: it needs more than a plain answer. */
export class NotPlain extends Error {}

export const runPlainly = <T>(ctx: KoaContextWithOIDC, act: () => Promise<T>): Promise<T> =>
  requests.run(ctx, act);

export const plainContext = (): KoaContextWithOIDC | undefined => requests.getStore();

/** Called before a code or token is consumed. */
export function beginEffects(): void {
  const ctx = requests.getStore();
  if (ctx !== undefined) begun.add(ctx);
}

export const hasEffects = (ctx: KoaContextWithOIDC): boolean => begun.has(ctx);

/** Called before anything is ended, and before a repeated answer. @throws NotPlain in a plain request without effects */
export function leaveToLibrary(): void {
  const ctx = requests.getStore();
  if (ctx !== undefined && !begun.has(ctx)) throw new NotPlain();
}

const failures = new WeakMap<IncomingMessage, unknown>();

/** What a request with effects failed with, for the library to answer as if it had happened there. */
export function passOn(request: IncomingMessage, error: unknown): void {
  failures.set(request, error);
}

export function throwPassedOn(request: IncomingMessage): void {
  if (failures.has(request)) throw failures.get(request);
}
