// /account/data: everything that is held about the owner, as JSON or as a page to read, after a fresh sign-in.

import type Koa from 'koa';
import type { Acts } from './acts.ts';
import type { PersonalData, Row } from './export.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** `last_login_at` is "last login at": the names of the JSON document, to be found there too. */
const wordsOf = (name: string): string => name.replaceAll('_', ' ');

/** What is absent is left out. */
const pairsOf = (row: Row) =>
  Object.entries(row)
    .filter(([, value]) => value !== null && value !== undefined && textOf(value) !== '[]')
    .map(([name, value]) => ({
      name: wordsOf(name),
      value: textOf(value),
      picture: textOf(value).startsWith(OWN_PICTURE) ? textOf(value) : undefined,
    }));

/** Of export.ts; no text that people enter becomes longer than it is by being shown as one. */
const OWN_PICTURE = 'data:image/jpeg;base64,';

export function createDataPage(kit: PageKit, { exportOwn }: Acts) {
  async function show(ctx: Koa.Context, who: SelfServiceUser, problem?: Problem): Promise<void> {
    const model = {
      csrf: kit.token(ctx, who),
      account: ownerOf(who),
      confirmUrl: kit.confirmUrlOf(who, 'data'),
      alert: problem && { key: problem.alert },
      retryAfterSeconds: problem?.retryAfterSeconds,
    };
    kit.views.send(ctx, 'account-data', model, looksOf(who, problem?.status));
  }

  function sendReadable(ctx: Koa.Context, who: SelfServiceUser, data: PersonalData): void {
    const { exported_at: exportedAt, account, ...lists } = data;
    const sections = Object.entries(lists).map(([name, rows]) => ({ name, rows: rows.map(pairsOf) }));
    const model = {
      account: ownerOf(who),
      exportedAt: Date.parse(exportedAt),
      sections: [{ name: 'account', rows: [pairsOf(account)] }, ...sections],
    };
    kit.views.send(ctx, 'account-export', model, looksOf(who));
  }

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),
    download: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'data',
        alerts: { 'request.rate_limited': 'alert.rate_limited' },
        async act(form) {
          const format = form.get('id') === 'html' ? 'html' : 'json';
          const data = await exportOwn(who, format);
          if (format === 'html') sendReadable(ctx, who, data);
          else {
            ctx.set('Content-Type', 'application/json; charset=utf-8');
            ctx.body = `${JSON.stringify(data, undefined, 2)}\n`;
          }
          ctx.set('Content-Disposition', `attachment; filename="my-data.${format}"`);
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      }),
  };
}
