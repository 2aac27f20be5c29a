// What a row of a user says besides (../row.ts).
import { rowWith } from '../row.ts';

/** OIDC Core §5.4, and two of our own. */
export type ClaimScope = 'openid' | 'profile' | 'email' | 'phone' | 'address' | 'roles' | 'groups';

export interface UserFacts {
  /** Whether the file of all users has a column for it. */
  readonly isExported: boolean;
  /** In the documentation. */
  readonly example: unknown;
  /** Which claim of which scope tells it (OIDC Core §5.1), and for developers what that is. Null: none. */
  readonly claim: { readonly scope: ClaimScope; readonly name: string; readonly meaning: string } | null;
  /**
   * In a table of users: the headings by which its column is recognised besides its name, in lower-case letters and digits, and
   * what is to be in the cells where the label does not say it. Null: no import of a table sets it.
   */
  readonly column: { readonly known: string; readonly label?: string } | null;
  /** Where administrators change it: in the form of all, in an act of its own, or only by programs. */
  readonly asked: 'form' | 'act' | 'nowhere';
}

export const userRow = rowWith<UserFacts>();
