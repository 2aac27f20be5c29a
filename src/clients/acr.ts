// Which `acr` values meet which.
import { ACR } from '../model/acr.ts';

const acrValues: readonly string[] = Object.values(ACR);

/** @returns that value and the stronger ones; none for a value that is not ours */
export function acrFrom(acr: string): string[] {
  const at = acrValues.indexOf(acr);
  return at === -1 ? [] : acrValues.slice(at);
}

/** Whether an application or API demands more than a sign-in reached (`required_acr`). */
export const isBelowRequired = (
  acr: string | undefined,
  { requiredAcr }: { readonly requiredAcr?: string | undefined },
): boolean => requiredAcr !== undefined && !acrFrom(requiredAcr).includes(acr ?? '');
