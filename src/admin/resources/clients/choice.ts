// The applications that other pages offer for selection, as long as there are few enough to list.
import type { ClientView } from '../../../clients/index.ts';
import { isMembers } from '../../../json.ts';
import { textOf } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { clients } from './resource.ts';

export const choiceOf = (client: ClientView) => ({
  id: client.client_id,
  label: textOf(isMembers(client) ? client : {}, 'client_name') || client.client_id,
  /** Whether it may get tokens for itself. */
  isMachine: Array.isArray(client.grant_types) && client.grant_types.includes('client_credentials'),
  /** Whether users sign in to it with a browser. */
  isSignIn: Array.isArray(client.grant_types) && client.grant_types.includes('authorization_code'),
  isRegistered: client.origin === 'registration',
});

/** A longer list is not usable as a selection. */
const MOST = 50;

/**
 * Without the application of our own pages, and without those that no administrator vouches for. Where these are not all (`isWhole`),
 * a form has a text input for client ids.
 */
export async function applicationChoices(context: AdminContext) {
  const { data } = await context.call(clients.list, {
    query: { limit: String(MOST + 1), sort: 'client_name', order: 'asc' },
  });
  const items = data.items
    .filter(({ origin, quarantine }) => origin !== 'seed' && quarantine === null)
    .map(choiceOf);
  return { items, isWhole: data.total <= MOST + 1 };
}
