// The client of a plain request, by the rules of the models: registered, active, with the right secret in a place where it may
// be. The secret's wrong, or its method another: the library says so (lib/shared/client_auth.js).
import type { Client } from 'oidc-provider';
import { hasOrigin } from '../../clients/index.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import type { ClientClass } from '../provider-base.ts';
import type { Identity } from './plain-request.ts';

const SECRET_METHODS: ReadonlySet<string | undefined> = new Set([
  'client_secret_basic',
  'client_secret_post',
]);

/** @returns undefined also for a public client, unless that says no more than its id */
export async function authenticatePlainly(
  clients: Pick<ClientClass, 'find'>,
  { id, secret, isInHeader }: Identity,
): Promise<Client | undefined> {
  const client = await clients.find(id);
  if (secret === undefined) return client?.clientAuthMethod === 'none' ? client : undefined;
  if (client === undefined || !SECRET_METHODS.has(client.clientAuthMethod)) return undefined;
  const sentBy = isInHeader ? 'client_secret_basic' : 'client_secret_post';
  const isChosen = clientRecord(client).hasChosenAuthMethod === true;
  if (isChosen && client.clientAuthMethod !== sentBy) return undefined;
  // A secret that ends some day is compared with the clock there.
  if (client.clientSecretExpiresAt) return undefined;
  return (await client.compareClientSecret(secret)) ? client : undefined;
}

/** Whether a script there may read what the client gets (decision 0022); the library refuses the others (policies.ts). */
export const isReadableBy = (client: ClientRecord, origin: string | undefined): boolean =>
  origin === undefined || hasOrigin(client, origin);
