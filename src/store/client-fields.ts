// What applications are found and sorted by.
import type { ClientRecord } from './client-records.ts';

export const clientName = (c: ClientRecord): string =>
  typeof c.metadata.client_name === 'string' ? c.metadata.client_name : c.metadata.client_id;

export const hasPasswordGrant = ({ metadata: { grant_types: grants } }: ClientRecord): boolean =>
  Array.isArray(grants) && grants.includes('password');

/** `undecided`: first-party since before the account API had scopes. */
export function accountState(c: ClientRecord): string | undefined {
  if (!c.skipConsent || c.quarantine !== undefined || c.origin === 'seed') return undefined;
  if (c.accountScopes === undefined)
    return c.metadata.application_type === 'native' ? undefined : 'undecided';
  return c.isActive && c.accountScopes.length > 0 ? 'given' : undefined;
}

export const agentState = ({ quarantine }: ClientRecord): string | undefined =>
  quarantine && (quarantine.usedAt === undefined ? 'new' : 'used');
