// What a client that nobody vouched for may do to a session: end what it got there itself (decision 0005). Anyone can register one,
// so that it alone neither signs a person out nor gets their browser.
import type { Client } from 'oidc-provider';
import { clientRecord } from '../models/client.ts';
import type { HintedSession, LogoutRequest } from './logout-request.ts';

export const isUnverified = (client: Client | undefined): boolean =>
  client !== undefined && clientRecord(client).quarantine !== undefined;

/** Without our page, and its button, nobody is sent there (RFC 9700 §4.11). */
export const withoutAddress = <S extends HintedSession>(request: LogoutRequest<S>): LogoutRequest<S> =>
  isUnverified(request.client) ? { ...request, client: undefined, returnTo: undefined } : request;
