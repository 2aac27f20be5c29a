// When a record was made and last changed, which each resource says alike.
import { row } from './row.ts';
import { time } from './time-kinds.ts';

const moment = {
  absent: 0,
  isAlwaysStored: true,
  hint: null,
  setBy: 'server',
  shownTo: 'administrator',
  sensitivity: 'plain',
  reported: 'value',
} as const;

export const datedRows = {
  created_at: row(time, {
    ...moment,
    stored: 'createdAt',
    label: 'Created',
    description: 'When it was created.',
  }),
  updated_at: row(time, {
    ...moment,
    stored: 'updatedAt',
    label: 'Changed',
    description: 'When it was last changed.',
  }),
};
