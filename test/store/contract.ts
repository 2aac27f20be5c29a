// The storage contract as tests. Every backend runs this suite from its own test file and passes all of it, without exemptions;
// test names start with their rule (docs/architecture.md, rules C1–C16).
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { CollectionDefinition, EphemeralCollection, Store } from '../../src/store/port.ts';
import { concurrencyRules } from './contract-concurrency.ts';
import { documentRules } from './contract-documents.ts';
import type { Backend, Fixture, Person, TestOf } from './contract-fixture.ts';
import { indexRules } from './contract-indexes.ts';
import { lifecycleRules } from './contract-lifecycle.ts';
import { pageRules } from './contract-pages.ts';
import { queryRules } from './contract-query.ts';
import { togetherRules } from './contract-together.ts';
import { valueRules } from './contract-values.ts';

export interface ContractOptions {
  /** false: only the `ephemeral` half of the port is there, and the rules of `query` don't apply. */
  readonly hasQuery?: boolean;
  /**
   * How many documents are "many" where size could change the way a query is answered: more than any bound the backend
   * goes by. Smaller only where a test server is too slow for so many and the bound can be lowered with it.
   */
  readonly crowd?: number;
  /** Runs what the npm package's MongoDB cannot do: it checks no unique key in a list. Default: `test`. */
  readonly testOfLists?: TestOf;
}

const everything: CollectionDefinition<Person> = {
  name: 'contract_people',
  durability: 'durable',
  indexes: {
    name: { unique: true, key: (person) => person.name },
    email: { unique: true, key: (person) => person.email, furtherKeys: (person) => person.emails ?? [] },
    team: { key: (person) => person.team },
  },
  fields: {
    name: { type: 'string', of: (person) => person.name },
    team: { type: 'string', of: (person) => person.team },
    age: { type: 'number', of: (person) => person.age },
    is_active: { type: 'boolean', of: (person) => person.isActive },
  },
};

/** @param factory makes a fresh backend for each test */
export function storeContract(
  name: string,
  factory: () => Promise<Backend>,
  { hasQuery = true, crowd = 6000, testOfLists = test }: ContractOptions = {},
): void {
  const durability = hasQuery ? 'durable' : 'ephemeral';
  const definition: CollectionDefinition<Person> = {
    ...everything,
    durability,
    fields: hasQuery ? everything.fields : {},
  };
  const open = <T>(store: Store, of: CollectionDefinition<T>): EphemeralCollection<T> =>
    of.durability === 'durable' ? store.collection(of) : store.ephemeral(of);

  describe(`${name}: storage contract`, () => {
    let backend: Backend;
    let people: EphemeralCollection<Person>;
    beforeEach(async () => {
      backend = await factory();
      people = open(backend.store, definition);
    });
    afterEach(() => backend.close());

    const fixture: Fixture = {
      get backend() {
        return backend;
      },
      get people() {
        return people;
      },
      peopleOf: (store) => open(store, definition),
      anything: () => open(backend.store, { name: 'contract_anything', durability, indexes: {}, fields: {} }),
    };
    documentRules(fixture);
    valueRules(fixture);
    indexRules(fixture, testOfLists);
    concurrencyRules(fixture);
    lifecycleRules(fixture);
    // Where a deployment has two stores, they are in different ones.
    const pets = { ...definition, name: 'contract_pets', durability: 'ephemeral', fields: {} } as const;
    togetherRules({ fixture, people: definition, pets, open });
    if (!hasQuery) return;
    const collection = () => backend.store.collection(definition);
    queryRules({ fixture, collection });
    pageRules({ collection, crowd });
  });
}
