// Owns the application that the administrator's pages, and people's own, sign in as: a client of this provider like any other, made at first
// start under a fixed id.
import { randomBytes } from 'node:crypto';
import type { Clients } from '../clients/contract.ts';
import { AlreadyExists } from '../store/port.ts';

const CLIENT_ID = 'latchkey-admin';

interface Deps {
  readonly clients: Pick<Clients, 'find' | 'create' | 'update'>;
  readonly baseUrl: string;
}

/** Makes the client when it is missing, and follows a changed BASE_URL. Safe in several processes at once. */
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
  const known = await clients.find(CLIENT_ID);
  if (known === undefined) {
    try {
      await clients.create({
        clientId: CLIENT_ID,
        metadata,
        settings: { skipConsent: true },
        origin: 'seed',
      });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  } else if (String(known.value.metadata.redirect_uris) !== String(metadata.redirect_uris)) {
    await clients.update(CLIENT_ID, { metadata, mode: 'merge', authority: 'administrator' });
  }
}

interface SignIn {
  readonly baseUrl: string;
  readonly basePath: string;
  /** Whose pages it comes back to; default: the administrator's. */
  readonly pages?: 'admin' | 'account';
  /** The person must prove who they are now. */
  readonly isFresh?: boolean;
  /** How strongly. */
  readonly acr?: string | undefined;
}

/** @returns where a browser goes to sign in for our own pages */
export function consoleSignInUrl({ baseUrl, basePath, pages = 'admin', isFresh, acr }: SignIn): string {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${baseUrl}/${pages}/callback`,
    // The code is not redeemed: coming back signed in is all that is wanted. So nobody knows the verifier.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    ...(isFresh && { prompt: 'login' }),
    ...(acr && { acr_values: acr }),
  });
  return `${basePath}/oauth2/authorize?${query}`;
}
