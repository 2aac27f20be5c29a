// Has all events of a request carry where it comes from, and the request wait for those that are noted (src/events).
import type Koa from 'koa';
import type { Origins } from '../events/index.ts';
import { requestIdOf } from './request-log.ts';

const MAX_LANGUAGE = 200;

/** What the protocol core adds to a request that one of its routes serves. */
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
      // Known later than the rest.
      get clientId() {
        return clientIdOf(ctx);
      },
    };
    return origins.run(origin, next);
  };
}
