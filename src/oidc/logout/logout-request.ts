// Parses a logout request (OIDC RP-Initiated Logout 1.0 §2): client, user, and where to redirect afterwards.
import type { Client } from 'oidc-provider';
import { AppError } from '../../errors.ts';
import { memberOf, parseJson } from '../../json.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { withOwnQuery } from '../requests/own-query.ts';
import type { Refusal } from '../requests/refusals.ts';

export interface LogoutRequest<Found extends HintedSession = HintedSession> {
  readonly client: Client | undefined;
  /** The session that a hint names, when the hint counts: one of that session's applications asks (decision 0005). */
  readonly session: Found | undefined;
  /** The hint counts, and what it names lives on: another browser has it. */
  readonly isElsewhere?: boolean;
  /** Registered by the client, with `state` added; undefined: show our own page. */
  readonly returnTo: string | undefined;
  /** Client, hint and address contradict each other: an error is shown, without a redirect. */
  readonly problem?: AppError;
  /** What of the request is refused, with or without an error. */
  readonly refusal?: Refusal;
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

/** What has become of the session of a hint that counts: it is found; nothing of it is left; it is another browser's. */
export type Standing<Found extends HintedSession> = Found | 'over' | 'elsewhere';

type Parameters = { get(name: string): string | undefined };

/** @param standingOf finds the session of a hint, and ends what is left of one that is not live */
export async function readLogoutRequest<Found extends HintedSession>(
  provider: IdentityProvider,
  parameters: Parameters,
  standingOf: (hint: Hint, client: Client) => Promise<Standing<Found>>,
): Promise<LogoutRequest<Found>> {
  const hintToken = present(parameters.get('id_token_hint'));
  const clientId = present(parameters.get('client_id'));
  const address = present(parameters.get('post_logout_redirect_uri'));

  const audience = hintToken === undefined ? undefined : audienceOf(hintToken);
  // Only an application's id contradicts: an access token, which has another audience, is just a hint that does not count.
  if (clientId !== undefined && clientId !== audience && (await findClient(provider, audience)) !== undefined)
    return unreadable('The client_id is not the one that id_token_hint was issued to.', clientId);
  const named = await findClient(provider, clientId ?? audience);
  if (clientId !== undefined && named === undefined)
    return unreadable('No application has this client_id.', clientId);
  const hint = named && hintToken !== undefined ? await validate(provider, hintToken, named) : undefined;
  const standing = named && hint && (await standingOf(hint, named));
  const isElsewhere = standing === 'elsewhere';
  const session = typeof standing === 'object' ? standing : undefined;
  // A hint that does not count names no application to return to, not even one that client_id names, too (decision 0005).
  const isIgnored = hintToken !== undefined && (standing === undefined || isElsewhere);
  const client = isIgnored ? undefined : named;
  const ignored = { isElsewhere, ...(isIgnored && ignoredHint(audience, hint)) };

  // The address belongs to a verified application (§3); without one it is ignored.
  if (address === undefined || client === undefined)
    return { client, session, returnTo: undefined, ...ignored };
  if (!client.postLogoutRedirectUriAllowed(address)) {
    const problem = new AppError('request.invalid', {
      message: 'The post_logout_redirect_uri is not registered for this application.',
      fields: { post_logout_redirect_uri: address.slice(0, 500) },
    });
    const refusal = {
      ...refused(problem.message, client.clientId),
      address,
      registered: client.postLogoutRedirectUris ?? [],
    };
    return { client, session, returnTo: undefined, problem, refusal };
  }
  const target = new URL(address);
  const state = parameters.get('state');
  if (state !== undefined) target.searchParams.set('state', state);
  return { client, session, returnTo: withOwnQuery(target.href, address) };
}

const refused = (reason: string, clientId: string | undefined): Refusal => ({
  error: 'invalid_request',
  reason,
  clientId,
});

/** Decision 0005: a hint that does not count is no error, but nobody is returned to the application. */
const ignoredHint = (audience: string | undefined, hint: Hint | undefined): { refusal: Refusal } => ({
  refusal: refused(
    hint === undefined
      ? 'The id_token_hint is not a valid ID token of this application.'
      : 'The id_token_hint is of a session in another browser.',
    audience,
  ),
});

const unreadable = (message: string, clientId: string): LogoutRequest<never> => ({
  client: undefined,
  session: undefined,
  returnTo: undefined,
  problem: new AppError('request.invalid', { message }),
  refusal: refused(message, clientId),
});

/** Scripts write out what they do not have: keycloak-js posts the hint `undefined` once its tokens are gone. */
const present = (value: string | undefined): string | undefined =>
  value === 'undefined' || value === 'null' || value === '' ? undefined : value;

const findClient = async (provider: IdentityProvider, id: string | undefined): Promise<Client | undefined> =>
  id === undefined ? undefined : provider.Client.find(id);

/** Unverified: only selects the client for which the token is then verified. */
function audienceOf(idToken: string): string | undefined {
  try {
    const payload = parseJson(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    const audience = memberOf(payload, 'aud');
    return typeof audience === 'string' ? audience : undefined;
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
