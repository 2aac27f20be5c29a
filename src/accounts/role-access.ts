// What a role may do in the administration, both through the Admin API and the Admin UI.

/** Full access, or read-only. */
export type AdminAccess = 'all' | 'read';

const accessByRole: Readonly<Record<string, AdminAccess>> = { admin: 'all', auditor: 'read' };

/** @returns undefined for a role without access */
export const accessOfRole = (role: string): AdminAccess | undefined =>
  Object.hasOwn(accessByRole, role) ? accessByRole[role] : undefined;
