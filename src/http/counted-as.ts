// Whose a request is for the limits by address. What pages elsewhere send to the endpoints with CORS is counted for their origin at
// that address, so that no page uses up what its reader's network has (decision 0022): each origin of an application by itself, all
// others together.
import type Koa from 'koa';
import { ofOrigin } from '../rate-limits/index.ts';
import { hasCors } from './cors.ts';
import { isFromAnotherSite, isInForeignFrame, isOfOwnForm, isSentByNobody } from './request-source.ts';

/** Whether an application has the origin. */
type IsRegistered = (origin: string) => Promise<boolean>;

const OTHERS = 'others';

/** @param origin the header; '' for a navigation, which has none */
export async function addressOfOrigin(
  address: string,
  origin: string,
  isRegistered: IsRegistered,
): Promise<string> {
  const isSomeones = origin !== '' && origin !== 'null' && (await isRegistered(origin));
  return ofOrigin(address, isSomeones ? origin : OTHERS);
}

/** To be given to limits in place of `ctx.ip`. */
export function countedAs(ctx: Pick<Koa.Context, 'state' | 'ip'>): string {
  const { countedAs: counted }: { countedAs?: unknown } = ctx.state;
  return typeof counted === 'string' ? counted : ctx.ip;
}

/**
 * To be given to the counter of refusals. What pages elsewhere had a browser send is counted apart wherever it was refused: what
 * else the same network is refused still says why.
 */
export function refusalCountedAs(ctx: Koa.Context): string {
  const counted = countedAs(ctx);
  const isForeign = isFromAnotherSite(ctx) || isSentByNobody(ctx) || !isOfOwnForm(ctx);
  return counted === ctx.ip && isForeign ? ofOrigin(ctx.ip, OTHERS) : counted;
}

/** Frames of other sites reach the authorization endpoint, too. */
const isCounted = (ctx: Koa.Context): boolean =>
  (hasCors(ctx.path) && (ctx.get('Origin') !== '' || isFromAnotherSite(ctx))) || isInForeignFrame(ctx);

/** To be mounted behind request-guard.ts. */
export function countByOrigin(isRegistered: IsRegistered): Koa.Middleware {
  return async (ctx, next) => {
    if (isCounted(ctx)) ctx.state.countedAs = await addressOfOrigin(ctx.ip, ctx.get('Origin'), isRegistered);
    return next();
  };
}
