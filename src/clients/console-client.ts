// The application that the Admin UI and self-service sign in as: a client of this provider like any other, created at first
// start under a fixed id and corrected at every later one.

import { AlreadyExists } from '../store/port.ts';
import type { Clients } from './contract.ts';

export const CONSOLE_CLIENT_ID = 'latchkey-admin';

interface Deps {
  readonly clients: Pick<Clients, 'find' | 'create' | 'update'>;
  readonly baseUrl: string;
}

/**
 * Creates the client when it is missing, follows a changed BASE_URL, and reverts what would lock every user out of our own
 * pages (an earlier version let the API change it). Safe in several processes at once.
 */
export async function seedConsoleClient({ clients, baseUrl }: Deps): Promise<void> {
  const metadata = {
    client_name: 'Latchkey',
    redirect_uris: [`${baseUrl}/admin/callback`, `${baseUrl}/account/callback`],
    post_logout_redirect_uris: [`${baseUrl}/admin`],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'openid profile',
  };
  const known = await clients.find(CONSOLE_CLIENT_ID);
  if (known === undefined) {
    try {
      await clients.create({
        clientId: CONSOLE_CLIENT_ID,
        metadata,
        settings: { skip_consent: true },
        origin: 'seed',
      });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
    return;
  }
  const { isActive, skipConsent, allowedGroups, metadata: stored } = known.value;
  const isOpen = isActive && skipConsent && allowedGroups === undefined;
  const isAsMade = Object.entries(metadata).every(([name, value]) => String(stored[name]) === String(value));
  if (isOpen && isAsMade) return;
  await clients.update(CONSOLE_CLIENT_ID, {
    metadata,
    mode: 'replace',
    settings: { is_active: true, skip_consent: true, allowed_groups: null },
    authority: 'administrator',
    isOfOurs: true,
  });
}
