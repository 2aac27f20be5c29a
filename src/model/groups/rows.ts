// A group, one row per member of its JSON.
import { datedRows } from '../dated-rows.ts';
import { rowWith } from '../row.ts';
import { anyText, matching } from '../text-kinds.ts';

export const groupNamePattern = '^[a-z0-9][a-z0-9._-]{0,63}$';

const row = rowWith<{ readonly example?: unknown }>();
const name = matching(
  groupNamePattern,
  64,
  'Must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, not beginning with a sign.',
);

const fixed = {
  hint: null,
  setBy: 'server',
  shownTo: 'administrator',
  sensitivity: 'existing',
  reported: 'value',
} as const;
const changed = { ...fixed, absent: null, setBy: 'administrator' } as const;

// Applications give access by its name.
export const groupRows = {
  id: row(name, {
    ...fixed,
    stored: 'name',
    absent: '',
    label: 'Name in tokens',
    description: 'The same as the name.',
    example: 'staff',
  }),
  name: row(name, {
    ...fixed,
    stored: 'name',
    absent: '',
    label: 'Name in tokens',
    description:
      'The value in the claim `groups`; it never changes. Lower-case letters, digits, dots, hyphens and underscores; starts with a letter or digit.',
    hint: 'The value in the claim “groups”: a to z, digits, dot, hyphen, underscore. It cannot be changed later.',
    example: 'staff',
  }),
  display_name: row(anyText(200), {
    ...changed,
    stored: 'displayName',
    label: 'Name',
    description: 'A name for people.',
    hint: 'The name shown here, such as “Finance team”. You can change it later.',
  }),
  description: row(anyText(2000), {
    ...changed,
    stored: 'description',
    label: 'Description',
    description: 'What the group is for.',
    hint: 'What the group is for, and who manages its members.',
  }),
  ...datedRows,
};

/** Of a new one its name is given. */
export const newGroupRows = () => ({
  ...groupRows,
  name: { ...groupRows.name, setBy: 'administrator' as const },
});
