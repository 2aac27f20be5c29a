// "Undo" in the notice of an act: a button that sends the form of the opposite act, with everything that this form requires. It
// comes from a cookie that only this server writes, for the notice of that act alone, so that no link makes a page offer to undo
// what somebody else did long ago.
import type Koa from 'koa';
import { isMembers } from '../../json.ts';
import type { Undo } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** The button is shown for ten seconds (admin.css), without style sheets as long as the page is loaded by then. */
const SECONDS = 60;

export interface OfferedUndo extends Undo {
  readonly sessionUid: string;
  /** The page that says so, and the key of its notice. */
  readonly at: string;
  readonly done: string;
}

export const isOfferedUndo = (value: unknown): value is OfferedUndo =>
  isMembers(value) &&
  ['sessionUid', 'at', 'done', 'path'].every((name) => typeof value[name] === 'string') &&
  isMembers(value.fields) &&
  Object.values(value.fields).every((field) => typeof field === 'string');

export function createUndo(cookie: SealedCookie<OfferedUndo>) {
  return {
    /** @param at the path of the page, from the root */
    offer(
      ctx: Koa.Context,
      who: SignedInAdmin,
      { at, done }: { at: string; done: string },
      undo: Undo,
    ): void {
      cookie.write(ctx, { sessionUid: who.sessionUid, at, done, ...undo }, SECONDS);
    },
    /** @param done of the page's address @returns undefined when nothing is to be undone */
    of(ctx: Koa.Context, who: SignedInAdmin, done: string | undefined): Undo | undefined {
      const offered = cookie.read(ctx);
      const isHere = offered !== undefined && offered.done === done && offered.at === ctx.path;
      const isOwn = isHere && offered.sessionUid === who.sessionUid;
      return isOwn && who.access === 'all' ? offered : undefined;
    },
  };
}
