// What many rows of a user say alike.
import { integer } from '../kinds.ts';
import { list } from '../list-kinds.ts';

const shownToAdministrators = { hint: null, shownTo: 'administrator', isExported: true } as const;

/** Who somebody is gives no access: its values are not kept in events. */
export const aboutPerson = {
  ...shownToAdministrators,
  absent: null,
  setBy: 'administrator',
  sensitivity: 'plain',
  reported: 'name',
  asked: 'form',
} as const;
export const byOwner = { ...aboutPerson, setBy: 'owner', shownTo: 'everyone' } as const;

export const givesAccess = {
  ...shownToAdministrators,
  isAlwaysStored: true,
  setBy: 'administrator',
  sensitivity: 'sensitive',
  reported: 'value',
  example: undefined,
} as const;

export const byServer = {
  ...shownToAdministrators,
  setBy: 'server',
  sensitivity: 'plain',
  reported: 'nothing',
  example: undefined,
  claim: null,
  column: null,
  asked: 'nowhere',
} as const;

export const count = integer(0, Number.MAX_SAFE_INTEGER);
export const names = list({ maxItems: 200, maxLength: 64, problem: 'Must be a list of names.' });
export const moment = { ...byServer, absent: null } as const;
