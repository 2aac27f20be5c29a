// Owns the application that people's own pages sign in as: a client of this provider like any other, made at first start
// under a fixed id.
import { randomBytes } from 'node:crypto';
import type { Clients } from '../clients/contract.ts';
import { AlreadyExists } from '../store/port.ts';

const CLIENT_ID = 'latchkey-account';

/** Makes the client when it is missing, and follows a changed BASE_URL. Safe in several processes at once. */
export async function seedAccountClient({
  clients,
  baseUrl,
}: {
  readonly clients: Pick<Clients, 'find' | 'create' | 'update'>;
  readonly baseUrl: string;
}): Promise<void> {
  const redirectUri = `${baseUrl}/account/callback`;
  const metadata = {
    client_name: 'Latchkey account',
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [`${baseUrl}/account`],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'openid profile',
  };
  const known = await clients.find(CLIENT_ID);
  if (known !== undefined) {
    const isCurrent = String(known.value.metadata.redirect_uris) === redirectUri;
    if (!isCurrent) await clients.update(CLIENT_ID, { metadata, mode: 'merge', authority: 'administrator' });
    return;
  }
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
}

/**
 * @param wanted.isFresh the person must prove who they are now
 * @param wanted.acr how strongly
 * @returns where a browser goes to sign in for these pages
 */
export function accountSignInUrl(
  { baseUrl, basePath }: { readonly baseUrl: string; readonly basePath: string },
  wanted: { readonly isFresh?: boolean; readonly acr?: string | undefined } = {},
): string {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${baseUrl}/account/callback`,
    // The code is not redeemed: coming back signed in is all that is wanted. So nobody knows the verifier.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    ...(wanted.isFresh && { prompt: 'login' }),
    ...(wanted.acr && { acr_values: wanted.acr }),
  });
  return `${basePath}/oauth2/authorize?${query}`;
}
