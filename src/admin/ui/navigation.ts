// Owns the left navigation: few entries, everything else hangs below one of them.
export interface Entry {
  readonly key: string;
  readonly label: string;
  /** Below /admin. */
  readonly path: string;
  /** A picture of templates/admin/icon.njk. */
  readonly icon: string;
}

export const navigation: readonly Entry[] = [
  { key: 'overview', label: 'Overview', path: '', icon: 'overview' },
  { key: 'users', label: 'Users', path: '/users', icon: 'users' },
  { key: 'applications', label: 'Applications', path: '/applications', icon: 'applications' },
  { key: 'sessions', label: 'Sessions', path: '/sessions', icon: 'sessions' },
  { key: 'audit', label: 'Audit log', path: '/audit', icon: 'audit' },
  { key: 'outbox', label: 'Outbox', path: '/outbox', icon: 'outbox' },
  { key: 'keys', label: 'Keys', path: '/keys', icon: 'key' },
  { key: 'settings', label: 'Settings', path: '/settings', icon: 'settings' },
];
