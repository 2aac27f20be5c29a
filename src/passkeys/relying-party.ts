// The relying party: its RP id and the origins at which ceremonies may happen (WebAuthn §5.1.2, §5.11 Related Origin
// Requests). Both derive from BASE_URL, never from a request.

export interface RelyingParty {
  readonly rpId: string;
  /** Compared as a whole: `https://badexample.com` is not `https://example.com`. */
  origins(): string[];
  /** WebAuthn §6.1: identifies the account to the authenticator, and contains no personal data. */
  userHandleOf(accountId: string): string;
  /** @returns undefined for a text that is no handle of ours */
  accountOf(userHandle: string): string | undefined;
}

/** @param extraOrigins the setting: origins separated by spaces */
export function createRelyingParty(baseUrl: string, extraOrigins: () => string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  // The account id is random and known to applications as `sub`: another random value would hide nothing.
  const userHandleOf = (accountId: string): string => Buffer.from(accountId, 'utf8').toString('base64url');
  return {
    rpId: hostname,
    origins: () => [origin, ...extraOrigins().split(' ').filter(Boolean)],
    userHandleOf,
    accountOf(userHandle) {
      const accountId = Buffer.from(userHandle, 'base64url').toString('utf8');
      return userHandleOf(accountId) === userHandle ? accountId : undefined;
    },
  };
}
