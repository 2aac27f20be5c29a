// The postal address of a user (OIDC Core §5.1.1).
import { rowWith } from '../row.ts';
import { paragraphs } from '../text-kinds.ts';
import { short } from './kinds.ts';

const line = {
  absent: null,
  hint: null,
  setBy: 'administrator',
  shownTo: 'administrator',
  sensitivity: 'plain',
  reported: 'name',
} as const;
const row = rowWith<{ readonly example: string }>();

export const addressRows = {
  formatted: row(paragraphs(255), {
    ...line,
    stored: 'formatted',
    label: 'Full address',
    description: 'The full address as on an envelope.',
    example: '1 Main Street, Arlington, VA 22201, USA',
  }),
  street_address: row(paragraphs(255), {
    ...line,
    stored: 'street_address',
    label: 'Street',
    description: 'Street and number.',
    example: '1 Main Street',
  }),
  locality: row(short, {
    ...line,
    stored: 'locality',
    label: 'City',
    description: 'City.',
    example: 'Arlington',
  }),
  region: row(short, {
    ...line,
    stored: 'region',
    label: 'Region',
    description: 'State or province.',
    example: 'VA',
  }),
  postal_code: row(short, {
    ...line,
    stored: 'postal_code',
    label: 'Postal code',
    description: 'Postal code.',
    example: '22201',
  }),
  country: row(short, {
    ...line,
    stored: 'country',
    label: 'Country',
    description: 'Country.',
    example: 'USA',
  }),
};
