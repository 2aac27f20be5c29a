// The newest events of the list for a page that is open (templates/assets/audit.js asks every few seconds): its rows, or 304.
import { createHash } from 'node:crypto';
import { ROWS } from '../../pages/list-page.ts';
import { get, type Page } from '../../pages/page.ts';
import { createNames, shownEvents } from '../names.ts';
import { asked } from './query.ts';
import { auditLog } from './resource.ts';

export const livePage: Page = get(
  '/audit/live',
  async (context) => {
    const query = asked(context.query);
    for (const name of ['cursor', 'offset', 'sort', 'order']) query.delete(name);
    // More than the page has would be older, and put above what is newer.
    if (!query.has('limit')) query.set('limit', ROWS);
    const { data } = await context.call(auditLog.list, { query });
    const ids = data.items.map(({ id }) => id).join();
    const tag = `"${createHash('sha256').update(ids).digest('base64url').slice(0, 22)}"`;
    const { ctx } = context;
    ctx.set('ETag', tag);
    if (ctx.get('If-None-Match') === tag) {
      ctx.status = 304;
      return;
    }
    const rows = await shownEvents(data.items, createNames(context));
    context.show('audit-rows', { title: '', here: 'audit', rows });
  },
  { isBackground: true },
);
