// What a role opens of the administration, by whichever way somebody comes: the admin API, or its pages.

/** Everything, or reading alone. */
export type AdminAccess = 'all' | 'read';

const accessByRole: Readonly<Record<string, AdminAccess>> = { admin: 'all', auditor: 'read' };

/** @returns undefined for whom nothing of it is open */
export const accessOfRole = (role: string): AdminAccess | undefined =>
  Object.hasOwn(accessByRole, role) ? accessByRole[role] : undefined;
