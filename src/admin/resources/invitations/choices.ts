// What the forms of invitations offer.
import type { AdminContext } from '../../pages/page.ts';
import { applicationName } from '../clients/page.ts';
import { clients } from '../clients/resource.ts';
import { hasMailServer, readSettings } from '../settings/read.ts';

export const DAY_SECONDS = 86_400;
const MAX_CHOICES = 200;

export async function settingsOf(context: AdminContext) {
  const of = await readSettings(context);
  return {
    defaultDays: Math.max(1, Math.round(Number(of('invitation_link_seconds')?.value) / DAY_SECONDS)),
    hasMail: hasMailServer(of),
  };
}

/** The applications that users can sign in to. */
export async function applicationsToChoose(context: AdminContext) {
  const query = { limit: String(MAX_CHOICES), sort: 'client_name', order: 'asc', is_active: 'true' };
  const { data } = await context.call(clients.list, { query });
  return data.items
    .filter(({ origin, redirect_uris: uris }) => origin !== 'seed' && Array.isArray(uris) && uris.length > 0)
    .map((client) => ({ id: client.client_id, name: applicationName(client) }));
}
