// Parses a logout request (OIDC RP-Initiated Logout 1.0 §2): client, user, and where to redirect afterwards.
import type { Client } from 'oidc-provider';
import { AppError } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { IdentityProvider } from './identity-provider.ts';

export interface LogoutRequest<Found extends HintedSession = HintedSession> {
  readonly client: Client | undefined;
  /** The session that a hint names, when the hint counts: one of that session's applications asks (decisions §4). */
  readonly session: Found | undefined;
  /** Registered by the client, with `state` added; undefined: show our own page. */
  readonly returnTo: string | undefined;
  /** Client, hint and address contradict each other: an error is shown, without a redirect. */
  readonly problem?: AppError;
}

export interface HintedSession {
  /** Its public `uid`. */
  readonly uid: string;
}

/** What a valid ID token of ours says. */
export interface Hint {
  readonly sub: string;
  readonly sid: string;
  /** Epoch seconds. */
  readonly iat: number;
}

type Parameters = { get(name: string): string | undefined };

/** @param sessionOf finds the session of a hint; undefined: it does not count */
export async function readLogoutRequest<Found extends HintedSession>(
  provider: IdentityProvider,
  parameters: Parameters,
  sessionOf: (hint: Hint, client: Client) => Promise<Found | undefined>,
): Promise<LogoutRequest<Found>> {
  const hintToken = present(parameters.get('id_token_hint'));
  const clientId = present(parameters.get('client_id'));
  const address = present(parameters.get('post_logout_redirect_uri'));

  const audience = hintToken === undefined ? undefined : audienceOf(hintToken);
  if (clientId !== undefined && audience !== undefined && clientId !== audience)
    return unreadable('The client_id is not the one that id_token_hint was issued to.');
  const named = await findClient(provider, clientId ?? audience);
  if (clientId !== undefined && named === undefined) return unreadable('No application has this client_id.');
  const hint = named && hintToken !== undefined ? await validate(provider, hintToken, named) : undefined;
  const session = named && hint && (await sessionOf(hint, named));
  // A hint that does not count names no application to return to, not even one that client_id names, too (decisions §4).
  const client = session !== undefined || hintToken === undefined ? named : undefined;

  // The address belongs to a verified application (§3); without one it is ignored.
  if (address === undefined || client === undefined) return { client, session, returnTo: undefined };
  if (!client.postLogoutRedirectUriAllowed(address)) {
    const problem = new AppError('request.invalid', {
      message: 'The post_logout_redirect_uri is not registered for this application.',
      fields: { post_logout_redirect_uri: address.slice(0, 500) },
    });
    return { client, session, returnTo: undefined, problem };
  }
  const target = new URL(address);
  const state = parameters.get('state');
  if (state !== undefined) target.searchParams.set('state', state);
  return { client, session, returnTo: target.href };
}

const unreadable = (message: string): LogoutRequest<never> => ({
  client: undefined,
  session: undefined,
  returnTo: undefined,
  problem: new AppError('request.invalid', { message }),
});

const present = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

const findClient = async (provider: IdentityProvider, id: string | undefined): Promise<Client | undefined> =>
  id === undefined ? undefined : provider.Client.find(id);

/** Unverified: only selects the client for which the token is then verified. */
function audienceOf(idToken: string): string | undefined {
  try {
    const payload = parseJson(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    if (typeof payload !== 'object' || payload === null || !('aud' in payload)) return undefined;
    return typeof payload.aud === 'string' ? payload.aud : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined for what is not an ID token that we issued to the application */
async function validate(
  provider: IdentityProvider,
  idToken: string,
  client: Client,
): Promise<Hint | undefined> {
  try {
    const { sub, sid, iat } = (await provider.IdToken.validate(idToken, client)).payload;
    return typeof sub === 'string' && typeof sid === 'string' && typeof iat === 'number'
      ? { sub, sid, iat }
      : undefined;
  } catch {
    return undefined;
  }
}
