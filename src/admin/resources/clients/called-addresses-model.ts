// What an application's page shows of the addresses that this server calls for it.
import { type ClientView, calledMemberNames } from '../../../clients/index.ts';
import { textOf } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { clientDeliveries } from './deliveries.ts';

/** As many of the last deliveries as the page shows. */
const SHOWN = 10;

const LOGOUT = 'backchannel_logout_uri';

/** @returns the addresses and the last deliveries; nothing is read for an application that has no such address */
export async function readCalls(context: AdminContext, client: ClientView) {
  const params = { client_id: client.client_id };
  const hasLogout = textOf(client, LOGOUT) !== '';
  const hasOthers = calledMemberNames.some((name) => name !== LOGOUT && client[name] !== undefined);
  if (!hasLogout && !hasOthers) return { addresses: [], deliveries: [], hasLogout };
  const [addresses, deliveries] = await Promise.all([
    context.call(clientDeliveries.addresses, { params }),
    hasLogout ? context.call(clientDeliveries.list, { params, query: { limit: String(SHOWN) } }) : undefined,
  ]);
  return { addresses: addresses.data.items, deliveries: deliveries?.data.items ?? [], hasLogout };
}
