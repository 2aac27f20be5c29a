// A user, one row per member of its JSON: the API, forms, tables, events, the export of personal data, claims and documentation
// walk them.
import { datedRows } from '../dated-rows.ts';
import type { Row, Stored } from '../row.ts';
import { accountRows } from './account-rows.ts';
import type { addressRows } from './address-rows.ts';
import { personRows } from './person-rows.ts';
import { moment } from './presets.ts';

export const userRows = {
  ...accountRows,
  ...personRows,
  created_at: { ...datedRows.created_at, ...moment, absent: 0 },
  updated_at: {
    ...datedRows.updated_at,
    ...moment,
    absent: 0,
    claim: { scope: 'profile', name: 'updated_at', meaning: 'When these facts last changed.' } as const,
  },
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
