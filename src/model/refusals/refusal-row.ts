/** A cause of refused requests of the protocol. */
export interface RefusalRow {
  readonly cause: string;
  /** OAuth error codes; default: any. */
  readonly errors?: readonly string[];
  /**
   * What oidc-provider tells the operator alone (`error_detail`), and we by its errors: whole sentences, in which nothing stands that
   * a client sent. What no row has is neither logged nor kept (test/oidc/refusal-details.test.ts reads the library's source).
   */
  readonly details?: readonly string[];
  /** What the answer says (`error_description`). `$1` in `words` is what its first group matched. */
  readonly reason?: RegExp;
  readonly words: string;
  readonly remedy: string;
}
