// What an administrator chose for how the Admin UI looks: kept in this browser, for this user, with no authority. Another
// user of the browser starts anew.
import type Koa from 'koa';
import { isMembers, isTexts } from '../../json.ts';
import type { ViewChoices } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import type { SealedCookie } from './sealed-cookie.ts';

/** As long as browsers keep any (RFC 6265bis §5.5). */
const SECONDS = 400 * 86_400;
/** Of lists with hidden columns: the oldest make room, as a cookie holds 4 kB. */
const MAX_LISTS = 12;

export interface OwnChoices extends ViewChoices {
  readonly accountId: string;
}

export const isOwnChoices = (value: unknown): value is OwnChoices =>
  isMembers(value) &&
  typeof value.accountId === 'string' &&
  typeof value.areStepsDismissed === 'boolean' &&
  isMembers(value.hiddenColumns) &&
  Object.values(value.hiddenColumns).every(isTexts);

const NONE: ViewChoices = { areStepsDismissed: false, hiddenColumns: {} };

export function createViewChoices(cookie: SealedCookie<OwnChoices>) {
  function read(ctx: Koa.Context, { account }: SignedInAdmin): ViewChoices {
    const kept = cookie.read(ctx);
    return kept?.accountId === account.id ? kept : NONE;
  }
  return {
    read,
    change(ctx: Koa.Context, who: SignedInAdmin, changes: Partial<ViewChoices>): void {
      const { areStepsDismissed, hiddenColumns } = { ...read(ctx, who), ...changes };
      const latest = Object.entries(hiddenColumns).slice(-MAX_LISTS);
      const own = { areStepsDismissed, hiddenColumns: Object.fromEntries(latest) };
      cookie.write(ctx, { accountId: who.account.id, ...own }, SECONDS);
    },
  };
}
