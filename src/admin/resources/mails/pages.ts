// The pages of outbound mail: sent, queued and failed mails, and the text of mails stored because no mail server is configured.
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, get, idOf, type Page } from '../../pages/page.ts';
import { hasMailServer, readSettings } from '../settings/read.ts';
import { mails } from './resource.ts';

const here = 'outbox';

const list = drawnList({
  path: '/outbox',
  title: 'Outbox',
  here,
  template: 'outbox',
  needs: 'admin',
  list: mails.list,
  chips: [
    { label: 'Stored', set: { state: 'kept' } },
    { label: 'Queued', set: { state: 'queued' } },
    { label: 'Sent', set: { state: 'sent' } },
    { label: 'Failed', set: { state: 'failed' } },
  ],
});

function linkIn(text: string, baseUrl: string): string | undefined {
  const words = text.split(/\s+/);
  return words.find((word) => word.startsWith(`${baseUrl}/`) && /\?token=[\w-]+$/.test(word));
}

async function showMail(context: AdminContext): Promise<void> {
  const { data: mail } = await context.call(mails.read, { params: idOf(context) });
  // What is to be passed on where nobody gets the mail: of ours alone, and without looking for it in the text.
  const link = linkIn(mail.text ?? '', context.server.baseUrl);
  const hasMail = hasMailServer(await readSettings(context));
  const crumbs = [{ label: 'Outbox', href: '/outbox' }];
  context.show('mail', {
    title: mail.subject || 'Mail',
    isTitleName: mail.subject !== '',
    here,
    crumbs,
    mail,
    link,
    hasMail,
    isDue: Date.parse(mail.due_at) <= context.now,
  });
}

export const outboxPages: readonly Page[] = [list, get('/outbox/:id', showMail, { needs: 'admin' })];
