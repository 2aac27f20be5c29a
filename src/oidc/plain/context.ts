// A plain token request in whose course the models and hooks run, without the library's own surroundings: no router, no error
// handler, no session. It may be left to the library at any time, because what it consumes and issues is written at its end, all
// of it or nothing.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Writes } from '../../store/port.ts';

type Write = (writes: Writes) => void;

const requests = new AsyncLocalStorage<KoaContextWithOIDC>();
const kept = new WeakMap<KoaContextWithOIDC, Write[]>();

/** Why a request is left to the library: it needs more than a plain answer. */
export class NotPlain extends Error {}

export const runPlainly = <T>(ctx: KoaContextWithOIDC, act: () => Promise<T>): Promise<T> =>
  requests.run(ctx, act);

export const plainContext = (): KoaContextWithOIDC | undefined => requests.getStore();

/** Called before anything is ended, and before an answer is repeated. @throws NotPlain in a plain request */
export function leaveToLibrary(): void {
  if (requests.getStore() !== undefined) throw new NotPlain();
}

/** Keeps what consumes a code or token for the end of a plain request. @returns whether it is one */
export function keepFirst(write: Write): boolean {
  const ctx = requests.getStore();
  if (ctx !== undefined) kept.set(ctx, [write]);
  return ctx !== undefined;
}

/** Keeps what is issued in the place of that. @returns whether something is consumed; by itself it can be written at once */
export function keepNext(write: Write): boolean {
  const ctx = requests.getStore();
  const writes = ctx && kept.get(ctx);
  writes?.push(write);
  return writes !== undefined;
}

/** @returns what has been kept, in this order; undefined for nothing */
export const keptWrites = (ctx: KoaContextWithOIDC): readonly Write[] | undefined => kept.get(ctx);

const failures = new WeakMap<IncomingMessage, unknown>();

/** What a request failed with that cannot be repeated, for the library to answer as if it had happened there. */
export function passOn(request: IncomingMessage, error: unknown): void {
  failures.set(request, error);
}

export function throwPassedOn(request: IncomingMessage): void {
  if (failures.has(request)) throw failures.get(request);
}
