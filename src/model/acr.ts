/** The `acr` values, by strength of the authentication, the weakest first. */
export const ACR = {
  singleFactor: 'urn:latchkey:acr:single-factor',
  /** A password and a code by e-mail: weaker than two factors, because the same password may open the mailbox. */
  emailCode: 'urn:latchkey:acr:email-code',
  multiFactor: 'urn:latchkey:acr:multi-factor',
} as const;
