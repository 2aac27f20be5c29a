// A definition that the tests of older databases let gain an index and a field.
import type { CollectionDefinition } from '../../src/store/port.ts';

export interface Thing {
  name: string;
  rank: number;
}

export const small: CollectionDefinition<Thing> = {
  name: 'things',
  durability: 'durable',
  indexes: { rank: { key: (thing) => `r${thing.rank}` } },
  fields: { rank: { type: 'number', of: (thing) => thing.rank } },
};
