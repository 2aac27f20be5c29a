/** What is said of each refusal that this product makes itself. */
export interface ErrorRow {
  readonly status: number;
  /** For whoever is refused. Pages translate it. */
  readonly message: string;
  /** What the caller or the state of the installation did to cause it. */
  readonly cause: string;
  /** What the caller, the user or the operator does about it. */
  readonly remedy: string;
  /** No request to the admin API is refused so, and its document does not name it. */
  readonly outsideAdminApi?: true;
  /** What OAuth endpoints call it (RFC 6749 §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2), where its status does not say. */
  readonly oauth?: string;
  /** The answer's WWW-Authenticate says what is wrong with the token (RFC 6750 §3). */
  readonly isChallenge?: true;
}

export const readAgain =
  'Read it again, apply the change to the new version, and send its `ETag` in `If-Match`.';
export const wrongId = 'Take the id from the list of the same resource; it may have been deleted since.';
