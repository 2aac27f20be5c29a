// What a request holds that strangers of its network don't, as the name of its own counter (src/http/spent-limit.ts).
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { secretDigest } from '../src/ids.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import { networkOf } from '../src/rate-limits/index.ts';

/** Its first step was accepted in this browser. */
export const ofSignIn = (account: Pick<Account, 'id'>, interaction: BoundInteraction): string =>
  `sign-in of ${account.id} in ${interaction.browser ?? interaction.uid}`;

/** Who knows the id of a passkey has it, or had it at hand; ids that are made up only use up themselves. */
export function ofPasskey(ctx: Koa.Context, response: unknown): string | undefined {
  const id = typeof response === 'object' && response !== null && 'id' in response ? response.id : undefined;
  return typeof id === 'string' ? `passkey ${secretDigest(id)} at ${networkOf(ctx.ip)}` : undefined;
}

/** @param known by what the account knows the browser */
export const ofKnownBrowser = (known: string | undefined): string | undefined =>
  known === undefined ? undefined : `browser ${known}`;

/** A valid one. */
export const ofLink = (token: string): string => `link ${secretDigest(token)}`;
