// The part of a model that every page has at which something ends: where the person goes on.
export interface NextStep {
  readonly clientName?: string | undefined;
  readonly continueUrl?: string | undefined;
}

export interface SignedOut extends NextStep {
  /** Addresses of applications that are told in frames (front-channel logout of the legacy profile). */
  readonly frames?: readonly string[] | undefined;
  /** Nothing has ended: the sign-in that was to end is another browser's. */
  readonly isElsewhere?: boolean | undefined;
  /** Where the page goes by itself after them. */
  readonly returnTo?: string | undefined;
}
