// When a request began: a client that has no connection free opens one for it, which takes longer than many an answer.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that was opened in advance, long before its first request, says nothing of that. */
const MAX_OPENING_MS = 1_000;

/** By `performance.now()`, of connections that had no request yet. */
const openedAt = new WeakMap<Socket, number>();

export const noteConnection = (socket: Socket): void => void openedAt.set(socket, performance.now());

/** Once per request. @returns when its connection was opened, if that was for it; else when it arrived */
export function beginningOfRequest({ socket }: IncomingMessage, arrivedAt: number): number {
  const opened = openedAt.get(socket);
  openedAt.delete(socket);
  return opened === undefined ? arrivedAt : Math.max(opened, arrivedAt - MAX_OPENING_MS);
}
