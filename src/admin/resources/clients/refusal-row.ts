/** A cause of refused requests (refusal-causes.ts). Reasons are those of the log line (src/oidc/requests/refusals.ts). */
export interface RefusalRow {
  readonly cause: string;
  /** OAuth error codes; default: any. */
  readonly errors?: readonly string[];
  readonly reason?: RegExp;
  /** `$1` is what the first group of `reason` matched. */
  readonly words: string;
  readonly remedy: string;
}
