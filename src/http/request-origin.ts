// Adds the origin of a request to all its events, and makes the response wait for those that are noted (src/events).
import type Koa from 'koa';
import type { Origins } from '../events/index.ts';
import { requestIdOf } from './request-log.ts';

const MAX_LANGUAGE = 200;

/** The members that the protocol core adds to a request of its routes. */
type ProtocolContext = Koa.Context & {
  readonly oidc?: { readonly client?: { readonly clientId: string } | undefined };
};

/** A sign-in's application (interactions/current.ts), or the client that the protocol core found. */
function clientIdOf(ctx: ProtocolContext): string | undefined {
  const { signInClientId }: { signInClientId?: unknown } = ctx.state;
  return typeof signInClientId === 'string' ? signInClientId : ctx.oidc?.client?.clientId;
}

export function requestOrigin(origins: Pick<Origins, 'run'>): Koa.Middleware {
  return (ctx, next) => {
    const origin = {
      ipAddress: ctx.ip,
      userAgent: ctx.get('user-agent'),
      requestId: requestIdOf(ctx),
      language: ctx.get('accept-language').slice(0, MAX_LANGUAGE),
      // A getter, because the client is known later than the rest.
      get clientId() {
        return clientIdOf(ctx);
      },
    };
    return origins.run(origin, next);
  };
}
