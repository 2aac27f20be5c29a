// What an authorization request asks the user to consent to (OIDC Core §3.1.2.4, §5.5).
import { claimsUnder, namesInClaims, scopesOfClaims } from './entitlement.ts';
import type { Client } from './library-types.ts';
import { clientRecord } from './models/client.ts';
import type { BoundInteraction } from './models/interaction.ts';
import { isGrantable } from './scopes.ts';

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
  const asked = new Set(missing.length > 0 ? missing : all());
  return [...asked].filter((name) => isGrantable(name, account.role));
}

/** @returns the claims requested by name that the agreed scopes cover */
export const claimsToConsent = ({ params }: Asking, agreed: readonly string[]): string[] =>
  claimsUnder(namesInClaims(params.claims), new Set(agreed));
