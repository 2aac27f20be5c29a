// Adds the origin of a request to all its events, and makes the response wait for those that are noted (src/events).
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { registeredId } from '../client-ids.ts';
import type { Origin, Origins } from '../events/index.ts';
import { readLanguages } from '../views/index.ts';
import { countedAs } from './counted-as.ts';
import { requestIdOf } from './request-log.ts';

/** The members that the protocol core adds to a request of its routes. */
type ProtocolContext = Koa.Context & {
  readonly oidc?: { readonly client?: { readonly clientId: string } | undefined };
};

/** A sign-in's application (interactions/current.ts), or the client that the protocol core found. */
function clientIdOf(ctx: ProtocolContext): string | undefined {
  const { signInClientId }: { signInClientId?: unknown } = ctx.state;
  return registeredId(typeof signInClientId === 'string' ? signInClientId : ctx.oidc?.client?.clientId);
}

/** The browser's session, once something has read it (src/oidc/sign-in/browser-session.ts, interactions/current.ts). */
function sessionIdOf({ state }: ProtocolContext): string | undefined {
  const { sessionUid }: { sessionUid?: unknown } = state;
  return typeof sessionUid === 'string' ? sessionUid : undefined;
}

/** Asked late, because they are known later than the rest. */
interface Late {
  readonly clientId: () => string | undefined;
  readonly sessionId?: () => string | undefined;
  readonly countedAs?: () => string;
}

export const originOf = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  asked: { readonly ip: string; readonly id: string },
  late: Late,
): Origin => ({
  ipAddress: asked.ip,
  userAgent: headers['user-agent'] ?? '',
  requestId: asked.id,
  language: readLanguages(headers),
  get clientId() {
    return late.clientId();
  },
  get countedAs() {
    return late.countedAs?.() ?? asked.ip;
  },
  get sessionId() {
    return late.sessionId?.();
  },
});

export function requestOrigin(origins: Pick<Origins, 'run'>): Koa.Middleware {
  return (ctx, next) => {
    const asked = { ip: ctx.ip, id: requestIdOf(ctx) };
    return origins.run(
      originOf(ctx.req, asked, {
        clientId: () => clientIdOf(ctx),
        sessionId: () => sessionIdOf(ctx),
        countedAs: () => countedAs(ctx),
      }),
      next,
    );
  };
}
