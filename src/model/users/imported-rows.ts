import { time } from '../time-kinds.ts';
import { userRow as row } from './facts.ts';
import { hash } from './kinds.ts';
import { byServer, names } from './presets.ts';

/** What only a new user has, who comes from another system. */
export const importedRows = {
  password_hash: row(hash, {
    ...byServer,
    setBy: 'administrator',
    stored: 'passwordHash',
    absent: undefined,
    label: 'Password hash',
    description:
      'The hash of the password: argon2, bcrypt, scrypt or PBKDF2 in the usual text form; verified and replaced at the next sign-in.',
    shownTo: 'nobody',
    isExported: false,
    column: { known: 'hash' },
  }),
  groups: row(names, {
    ...byServer,
    setBy: 'administrator',
    stored: 'groups',
    absent: undefined,
    label: 'Groups',
    description: 'The names of the groups that the user becomes a member of.',
    column: { known: 'group', label: 'Groups (separated by ; or spaces)' },
  }),
  created_at: row(time, {
    ...byServer,
    setBy: 'administrator',
    stored: 'createdAt',
    absent: undefined,
    label: 'Created',
    description: 'When the account was created; default: now.',
    column: { known: 'created', label: 'Created (RFC 3339 time)' },
  }),
};
