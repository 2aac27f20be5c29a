// What an authorization request asks the user to consent to (OIDC Core §3.1.2.4, §5.5).
import { registeredId } from '../../client-ids.ts';
import { isLoopbackHost } from '../../model/uris.ts';
import type { Client } from '../library-types.ts';
import { clientRecord } from '../models/client.ts';
import type { BoundInteraction } from '../models/interaction.ts';
import { type LifetimeSettings, longestRefreshSeconds } from '../policies.ts';
import { apiToConsent } from './api-consent.ts';
import { claimsUnder, namesInClaims, scopesOfClaims } from './entitlement.ts';
import { isGrantable, scopes } from './scopes.ts';

type Asking = Pick<BoundInteraction, 'prompt' | 'params'>;

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

export const missingScopes = ({ prompt }: Asking): string[] => strings(prompt.details.missingOIDCScope);

/**
 * @returns the scopes that the page asks for: those not granted yet, or all when the application requests consent again;
 *   claims requested by name (OIDC Core §5.5) count as their scopes
 */
export function scopesToConsent(
  interaction: Asking,
  client: Client,
  account: { readonly role: string },
): string[] {
  const { scope, claims } = interaction.params;
  const missing = [...missingScopes(interaction), ...strings(interaction.prompt.details.missingClaimScopes)];
  const all = () => [
    ...(typeof scope === 'string' && scope !== '' ? scope.split(' ') : []),
    ...scopesOfClaims(namesInClaims(claims), clientRecord(client)),
  ];
  // When only scopes of an API are new, those of this server were granted before.
  const isOfApi = apiToConsent(interaction.prompt.details)?.isNew === true;
  const asked = new Set(
    missing.length > 0 || isOfApi ? missing : all().filter((name) => scopes.includes(name)),
  );
  return [...asked].filter((name) => isGrantable(name, account.role));
}

/** @returns the claims requested by name that the agreed scopes cover */
export const claimsToConsent = ({ params }: Asking, agreed: readonly string[]): string[] =>
  claimsUnder(namesInClaims(params.claims), new Set(agreed));

/** What is known of an application that nobody vouched for (decision 0026). */
export interface Stranger {
  /** Host and path of its metadata document, as a browser would connect to it: what is verified of it. */
  readonly address?: string | undefined;
  /** The answer goes to a program on the user's machine, and any program there can take it. */
  readonly isLocal: boolean;
  /** How long it keeps its access without asking again. */
  readonly maxSeconds: number;
}

type Lifetimes = Pick<LifetimeSettings, 'access_token_seconds'> & Parameters<typeof longestRefreshSeconds>[2];

export function strangerOf(
  client: Client,
  request: { readonly redirectUri: string; readonly scopes: readonly string[] },
  lifetimes: Lifetimes,
): Stranger | undefined {
  const { quarantine } = clientRecord(client);
  if (quarantine === undefined) return undefined;
  const document = quarantine.by === 'document' ? new URL(registeredId(client.clientId)) : undefined;
  const redirect = URL.parse(request.redirectUri);
  const isWeb = redirect?.protocol === 'https:' && !isLoopbackHost(redirect.hostname);
  const scopes = new Set(request.scopes);
  return {
    address: document && `${document.hostname}${document.pathname}`,
    isLocal: !isWeb,
    maxSeconds: client.grantTypeAllowed('refresh_token')
      ? longestRefreshSeconds(clientRecord(client), { scopes }, lifetimes)
      : lifetimes.access_token_seconds,
  };
}
