// A user, one row per member of its JSON: the API, forms, tables, events, the export of personal data, claims and documentation
// walk them.
import type { Row, Stored } from '../row.ts';
import { time } from '../time-kinds.ts';
import { accountRows } from './account-rows.ts';
import type { addressRows } from './address-rows.ts';
import { userRow as row } from './facts.ts';
import { personRows } from './person-rows.ts';
import { moment } from './presets.ts';

export const userRows = {
  ...accountRows,
  ...personRows,
  created_at: row(time, {
    ...moment,
    stored: 'createdAt',
    absent: 0,
    isAlwaysStored: true,
    label: 'Created',
    description: 'When it was created.',
  }),
  updated_at: row(time, {
    ...moment,
    stored: 'updatedAt',
    absent: 0,
    isAlwaysStored: true,
    label: 'Changed',
    description: 'When it was last changed.',
    claim: { scope: 'profile', name: 'updated_at', meaning: 'When these facts last changed.' },
  }),
};

/** What its owner changes, beside administrators. */
export const ownNames: readonly string[] = Object.entries<Row<unknown>>(userRows)
  .filter(([, { setBy }]) => setBy === 'owner')
  .map(([name]) => name);

/** The members of the record's member of that name. */
export const namesInside = (place: string): readonly string[] =>
  Object.values<Row<unknown>>(userRows).flatMap(({ stored }) => {
    const [outer, inner] = stored.split('.');
    return outer === place && inner !== undefined ? [inner] : [];
  });

export type Profile = NonNullable<Stored<typeof userRows>['profile']>;
export type Address = Stored<typeof addressRows>;
