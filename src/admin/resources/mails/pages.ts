// The pages of outbound mail: sent, queued and failed mails, and the text of mails stored because no mail server is configured.
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { mails } from './resource.ts';

const here = 'outbox';

const chips = [
  { label: 'Stored', set: { state: 'kept' } },
  { label: 'Queued', set: { state: 'queued' } },
  { label: 'Sent', set: { state: 'sent' } },
  { label: 'Failed', set: { state: 'failed' } },
];

async function list(context: AdminContext): Promise<void> {
  const { query } = context;
  const { data } = await context.call(mails.list, { query });
  const links = listLinks(context, mails.list, data, { chips });
  context.show('outbox', { title: 'Outbox', here, list: links });
}

async function showMail(context: AdminContext): Promise<void> {
  const { data: mail } = await context.call(mails.read, { params: idOf(context) });
  const crumbs = [{ label: 'Outbox', href: '/outbox' }];
  context.show('mail', { title: mail.subject || 'Mail', here, crumbs, mail });
}

export const outboxPages: readonly Page[] = [
  { method: 'GET', path: '/outbox', needs: 'admin', handle: list },
  { method: 'GET', path: '/outbox/:id', needs: 'admin', handle: showMail },
];
