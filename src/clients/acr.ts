/** The `acr` values, by strength of the authentication, the weakest first. */
export const ACR = {
  singleFactor: 'urn:latchkey:acr:single-factor',
  /** A password and a code by e-mail: weaker than two factors, because the same password may open the mailbox. */
  emailCode: 'urn:latchkey:acr:email-code',
  multiFactor: 'urn:latchkey:acr:multi-factor',
} as const;

const acrValues: readonly string[] = Object.values(ACR);

/** What sign-ins to an application must meet, whatever the request says (RFC 9470). */
export const authenticationSettings = {
  required_acr: {
    values: acrValues,
    description:
      'The minimum `acr` of sign-ins to it; users without a second factor are asked to enrol one where that is allowed. null: any.',
  },
  max_auth_age: {
    minimum: 30,
    maximum: 31_536_000,
    description:
      'The maximum age of a sign-in at an authorization request, in seconds; users with an older one sign in again. null: any.',
  },
} as const;

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

interface Changes {
  requiredAcr?: string | null;
  maxAuthAgeSeconds?: number | null;
}

/** @returns the changes, and problems by member name */
export function readAuthenticationSettings(input: Readonly<Record<string, unknown>>): {
  changes: Changes;
  problems: Record<string, string>;
} {
  const changes: Changes = {};
  const problems: Record<string, string> = {};
  const { required_acr: acr, max_auth_age: age } = input;
  if (acr === null || (typeof acr === 'string' && acrValues.includes(acr))) changes.requiredAcr = acr;
  else if (acr !== undefined) problems.required_acr = `Must be one of ${acrValues.join(', ')}, or null.`;
  const { minimum, maximum } = authenticationSettings.max_auth_age;
  const isAge = typeof age === 'number' && Number.isInteger(age) && age >= minimum && age <= maximum;
  if (age === null || isAge) changes.maxAuthAgeSeconds = age;
  else if (age !== undefined) {
    problems.max_auth_age = `Must be a whole number of seconds from ${minimum} to ${maximum}, or null.`;
  }
  return { changes, problems };
}
