// Passes a result from the form that caused it to the page that shows it: POST, redirect, GET, so that a reload repeats
// nothing. A new secret is stored sealed, for this session, for minutes and one read; the address has only a handle,
// which is useless without the session.
import type Koa from 'koa';
import { newSecret } from '../../ids.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import type { Values } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';

/** Query parameter of the page. */
export const SHOWN = 'shown';

const SECONDS = 300;

export function createShownOnce({ oneTime }: ProtocolDoors) {
  const keyOf = ({ sessionUid }: SignedInAdmin, handle: string): string[] => ['shown', sessionUid, handle];

  return {
    /** @returns the address to redirect to; undefined when the result is too large to store */
    async keep(who: SignedInAdmin, url: string, data: object): Promise<string | undefined> {
      const handle = newSecret(16);
      const isKept = await oneTime.keep(keyOf(who, handle), data, SECONDS);
      return isKept ? `${url}?${SHOWN}=${handle}` : undefined;
    },

    async take(ctx: Koa.Context, who: SignedInAdmin): Promise<Values | undefined> {
      const handle = ctx.query[SHOWN];
      if (typeof handle !== 'string' || ctx.method !== 'GET') return undefined;
      const data = await oneTime.take(keyOf(who, handle));
      return data === undefined ? undefined : { ...data };
    },
  };
}
