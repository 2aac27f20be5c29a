// The left navigation: few entries; all other pages hang below one of them.
import type { AdminAccess } from '../../accounts/index.ts';

export interface Entry {
  readonly key: string;
  readonly label: string;
  /** Below /admin. */
  readonly path: string;
  /** An icon of templates/admin/icon.njk. */
  readonly icon: string;
  /** Hidden from auditors. */
  readonly needs?: 'admin';
}

const navigation: readonly Entry[] = [
  { key: 'overview', label: 'Overview', path: '', icon: 'overview' },
  { key: 'users', label: 'Users', path: '/users', icon: 'users' },
  { key: 'applications', label: 'Applications', path: '/applications', icon: 'applications' },
  { key: 'apis', label: 'APIs', path: '/apis', icon: 'apis' },
  { key: 'sessions', label: 'Sessions', path: '/sessions', icon: 'sessions' },
  { key: 'groups', label: 'Groups', path: '/groups', icon: 'groups' },
  { key: 'audit', label: 'Audit log', path: '/audit', icon: 'audit' },
  { key: 'outbox', label: 'Outbox', path: '/outbox', icon: 'outbox', needs: 'admin' },
  { key: 'keys', label: 'Keys', path: '/keys', icon: 'key' },
  { key: 'settings', label: 'Settings', path: '/settings', icon: 'settings' },
];

/** @returns the entries that a user with this access sees */
export const navigationFor = (access: AdminAccess | undefined): readonly Entry[] =>
  navigation.filter(({ needs }) => needs === undefined || access === 'all');
