// The authentication that a request asks for (OIDC Core §3.1.2.1, §5.5.1.1; decision 0009). `acr_values` and a voluntary
// `acr` claim are listed in order of preference; the first one that the account can meet is requested. An essential `acr`
// claim must be met.

import { memberOf, parseJson } from '../../json.ts';
import { ACR } from '../../model/acr.ts';
import { isBy } from '../../model/ways-to-sign-in.ts';

export interface AcrRequest {
  /** One of these must be met; undefined: none is required. */
  readonly essential: readonly string[] | undefined;
  /** In order of preference. */
  readonly voluntary: readonly string[];
}

const RANKS: Readonly<Record<string, number>> = {
  [ACR.singleFactor]: 1,
  [ACR.emailCode]: 2,
  [ACR.multiFactor]: 3,
};

const rankOf = (acr: string | undefined): number => (acr === undefined ? 0 : (RANKS[acr] ?? 0));

function parsed(claims: unknown): unknown {
  if (typeof claims !== 'string') return claims;
  try {
    return parseJson(claims);
  } catch {
    return undefined;
  }
}

/** @param params of the authorization request; `claims` as text or parsed */
export function acrRequestOf(params: {
  readonly acr_values?: unknown;
  readonly claims?: unknown;
}): AcrRequest {
  const listed = typeof params.acr_values === 'string' ? params.acr_values.split(' ').filter(Boolean) : [];
  const claim = memberOf(memberOf(parsed(params.claims), 'id_token'), 'acr');
  const several = memberOf(claim, 'values');
  const values: readonly unknown[] = Array.isArray(several) ? several : [memberOf(claim, 'value')];
  const named = values.filter((value) => typeof value === 'string');
  if (named.length === 0) return { essential: undefined, voluntary: listed };
  return memberOf(claim, 'essential') === true
    ? { essential: named, voluntary: listed }
    : { essential: undefined, voluntary: [...named, ...listed] };
}

/** @returns the first voluntary value that the account can reach, if it ranks above the current authentication */
export function voluntaryAcrAbove(
  { voluntary }: Pick<AcrRequest, 'voluntary'>,
  reachable: readonly string[],
  current: string | undefined,
): string | undefined {
  const preferred = voluntary.find((value) => reachable.includes(value));
  return rankOf(preferred) > rankOf(current) ? preferred : undefined;
}

const ACR_OF = { 1: ACR.singleFactor, 2: ACR.emailCode, 3: ACR.multiFactor } as const;

/** The values of these classes of authentication (src/accounts/assurance.ts). */
export const acrsOf = (classes: readonly (keyof typeof ACR_OF)[]): readonly string[] =>
  classes.map((one) => ACR_OF[one]);

/** @param reachable the strongest first @returns undefined where that is a single factor */
export const strongestAcr = ([strongest]: readonly string[]): string | undefined =>
  strongest === ACR.singleFactor ? undefined : strongest;

/** @returns the class that an authentication by these methods has */
export function acrOf(amr: readonly string[]): string {
  if (isBy.twoFactors(amr)) return ACR.multiFactor;
  return isBy.code(amr) ? ACR.emailCode : ACR.singleFactor;
}
