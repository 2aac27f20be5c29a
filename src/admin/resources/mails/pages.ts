// Owns the pages of outbound mail: what was sent, waits or failed, and the mails kept where there is no server, to read.
import { textOf } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import type { AdminContext, Page } from '../../pages/page.ts';

const here = 'outbox';

const chips = [
  { label: 'Kept here', set: { state: 'kept' } },
  { label: 'Waiting', set: { state: 'queued' } },
  { label: 'Sent', set: { state: 'sent' } },
  { label: 'Failed', set: { state: 'failed' } },
];

async function list(context: AdminContext): Promise<void> {
  const { query, ctx } = context;
  const { data } = await context.callByName('GET /mails', { query });
  const links = listLinks({ path: ctx.path, query, page: data, defaultSort: 'created_at', chips });
  context.show('outbox', { title: 'Outbox', here, list: links });
}

async function showMail(context: AdminContext): Promise<void> {
  const { data: mail } = await context.callByName('GET /mails/{id}', {
    params: { id: context.params.id ?? '' },
  });
  const crumbs = [{ label: 'Outbox', href: '/outbox' }];
  context.show('mail', { title: textOf(mail, 'subject') || 'Mail', here, crumbs, mail });
}

export const outboxPages: readonly Page[] = [
  { method: 'GET', path: '/outbox', needs: 'admin', handle: list },
  { method: 'GET', path: '/outbox/:id', needs: 'admin', handle: showMail },
];
