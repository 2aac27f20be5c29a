// What is said of each credential (credentials.ts).

import type { SignInAct } from './sign-in-acts.ts';

export interface Credential {
  readonly name: string;
  /** Which flows give it. */
  readonly from: string;
  readonly may: readonly SignInAct[];
  /**
   * `asked`: within five minutes, of the account's highest class; of a token, in the authorization that it comes from. `at_issue`: asked of whoever
   * had it made. `never`: of a program, or of a secret that is its own authentication.
   */
  readonly freshness: 'asked' | 'at_issue' | 'never';
  readonly stored: string;
  /** Settings by their names. */
  readonly lives: string;
  readonly ends: string;
  /** The page that takes it, where it is a link. */
  readonly page?: string;
  /** Where it is read, compared or looked up. */
  readonly at: readonly string[];
}
