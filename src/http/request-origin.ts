// Adds the origin of a request to all its events, and makes the response wait for those that are noted (src/events).
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import type { Origin, Origins } from '../events/index.ts';
import { readLanguages } from '../views/index.ts';
import { requestIdOf } from './request-log.ts';

/** The members that the protocol core adds to a request of its routes. */
type ProtocolContext = Koa.Context & {
  readonly oidc?: { readonly client?: { readonly clientId: string } | undefined };
};

/** A sign-in's application (interactions/current.ts), or the client that the protocol core found. */
function clientIdOf(ctx: ProtocolContext): string | undefined {
  const { signInClientId }: { signInClientId?: unknown } = ctx.state;
  return typeof signInClientId === 'string' ? signInClientId : ctx.oidc?.client?.clientId;
}

/** @param clientId asked late, because the client is known later than the rest */
export const originOf = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  asked: { readonly ip: string; readonly id: string },
  clientId: () => string | undefined,
): Origin => ({
  ipAddress: asked.ip,
  userAgent: headers['user-agent'] ?? '',
  requestId: asked.id,
  language: readLanguages(headers),
  get clientId() {
    return clientId();
  },
});

export function requestOrigin(origins: Pick<Origins, 'run'>): Koa.Middleware {
  return (ctx, next) => {
    const asked = { ip: ctx.ip, id: requestIdOf(ctx) };
    return origins.run(
      originOf(ctx.req, asked, () => clientIdOf(ctx)),
      next,
    );
  };
}
