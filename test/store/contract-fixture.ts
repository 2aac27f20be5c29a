// What the contract tests are given: a backend, and the collections that they write.
import type { EphemeralCollection, Store } from '../../src/store/port.ts';

/** One fresh, empty backend, made for one test. */
export interface Backend {
  readonly store: Store;
  /** Moves the clock that every store of this backend was given. */
  advance(ms: number): void;
  now(): number;
  /** Another store over the same data; the first one stays as it is. Absent where data lives in one object. */
  reopen?(): Promise<Store>;
  /**
   * How often a race may be lost by the server itself before the store is blamed; default: never. The MongoDB server for
   * tests at times lets two findAndModify commands pass that one of them should have kept out, with its plain driver, too.
   */
  readonly tries?: number;
  /** Writes that are requested together become visible one after another (docs/architecture.md, C16). */
  readonly isInSteps?: boolean;
  /** Closes every store of this backend and removes the data. */
  close(): Promise<void>;
}

export type TestOf = (name: string, act: () => Promise<void>) => unknown;

export interface Person {
  name: string;
  email?: string;
  /** Further addresses, each as unique as the first. */
  emails?: string[];
  team?: string;
  age?: number;
  isActive?: boolean;
  count?: number;
}

/** What a group of rules sees; the getters give what belongs to the running test. */
export interface Fixture {
  readonly backend: Backend;
  readonly people: EphemeralCollection<Person>;
  peopleOf(store: Store): EphemeralCollection<Person>;
  /** A collection of any JSON, without indexes. */
  anything(): EphemeralCollection<unknown>;
}
