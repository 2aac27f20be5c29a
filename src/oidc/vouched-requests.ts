// Requests of this server itself: with clients that only pass, and with the codes of our own pages. The mark is on an object, not a
// value in it, so that no request from outside has it.
import type { IncomingMessage } from 'node:http';
import { errors } from 'oidc-provider';
import { isPassing } from '../client-ids.ts';
import { CONSOLE_CLIENT_ID } from '../clients/index.ts';

const vouched = new WeakSet<IncomingMessage>();

export const vouchFor = (request: IncomingMessage): void => void vouched.add(request);

/** @throws InvalidClient as for one that does not exist */
export function refuseOutside(request: IncomingMessage, clientId: string): void {
  if (!isPassing(clientId) || vouched.has(request)) return;
  const unknown = new errors.InvalidClient('client is invalid', 'client not found');
  throw Object.assign(unknown, { allow_redirect: false });
}

/** @throws InvalidGrant whoever knows code and verifier of a sign-in to our own pages */
export function refuseRedemption(request: IncomingMessage, clientId: string): void {
  if (clientId === CONSOLE_CLIENT_ID && !vouched.has(request))
    throw new errors.InvalidGrant('the codes of this client are redeemed by this server alone');
}
