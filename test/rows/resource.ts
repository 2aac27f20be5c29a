// What the test over all rows has to know of a resource: how one is made, looked at by each way out, and changed by who is no
// administrator.
import type { Row } from '../../src/model/row.ts';
import type { Answer } from '../flows/support.ts';
import type { Members } from './world.ts';

export type Fact = Omit<Row<unknown>, 'stored' | 'sensitivity'> &
  Partial<Pick<Row<unknown>, 'stored' | 'sensitivity'>> & {
    readonly isExported?: boolean;
    readonly example?: unknown;
  };

export interface Given {
  /** Below the admin API. */
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
}

export interface Resource {
  readonly name: string;
  readonly facts: Readonly<Record<string, Fact>>;
  /** On purpose: what nobody is shown, and what no file has. What else says so does by a slip. */
  readonly hidden: readonly string[];
  readonly unexported: readonly string[];
  readonly event: string;
  /** A new one, on which that can be tried. @returns its path below the admin API */
  make(name: string): Promise<string>;
  /** Not what it has. */
  valueOf(name: string, path: string): unknown;
  /** Of which nothing depends; default: the same. */
  harmlessOf?(name: string): unknown;
  /** What has to be given with it. */
  beside?(name: string): Members;
  besideNull?(name: string): Members;
  /** What GET answers, by the names of the rows. */
  shown(path: string): Promise<Members>;
  /** By the raw store. */
  isStored(given: Given): Promise<boolean>;
  /** By the form, or the page that has an act for it. */
  isDrawn(given: Given): Promise<boolean>;
  /** In the OpenAPI document: where it is given, and where it is shown. */
  isDescribed(name: string): boolean;
  isTold(details: Members, given: Given): boolean;
  /** What only its owner adds: PATCH empties it. */
  readonly takenAway?: readonly string[];
  /** Asked for by registrants of other servers, and left out; or an administrator's to enter. */
  readonly isLeftOut?: (name: string) => boolean;
  /** What does not go back by null, though it is nothing by default. */
  readonly lasting?: readonly string[];
  /** Export and import of one that has everything. @returns `name: what` */
  carry(names: readonly string[]): Promise<readonly string[]>;
  /** The way of who registered it, or of who it is; absent: there is none. @returns the answer, and what that caller is shown then */
  byRegistrant?(given: Given): Promise<Asked>;
  byOwner?(given: Given): Promise<Asked>;
}

export interface Asked {
  readonly answer: Answer;
  /** By that caller, afterwards. */
  readonly own: Members;
  /** Below the admin API. */
  readonly path: string;
}
