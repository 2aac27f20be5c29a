// Who we are to authenticators: the RP id and the origins at which our ceremonies may happen (WebAuthn §5.1.2,
// §5.11 Related Origin Requests). Both follow from BASE_URL, never from a request.

export interface RelyingParty {
  readonly rpId: string;
  /** Compared whole: `https://badexample.com` is not `https://example.com`. */
  origins(): string[];
  /** WebAuthn §6.1: what an authenticator keeps to know the account by; it says nothing about the person. */
  userHandleOf(accountId: string): string;
}

/** @param extraOrigins the setting: origins separated by blanks */
export function createRelyingParty(baseUrl: string, extraOrigins: () => string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return {
    rpId: hostname,
    origins: () => [origin, ...extraOrigins().split(' ').filter(Boolean)],
    // The account's id is random itself and known to applications as `sub`: another random value would hide nothing.
    userHandleOf: (accountId) => Buffer.from(accountId, 'utf8').toString('base64url'),
  };
}
