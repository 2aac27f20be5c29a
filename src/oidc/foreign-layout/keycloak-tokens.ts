// The members that adapters and libraries of Keycloak read in tokens (decision 0026), for applications with `keycloak_tokens`.
import type { Client } from 'oidc-provider';
import { clientRecord } from '../models/client.ts';

export const hasKeycloakTokens = (client: Client | undefined): client is Client =>
  client !== undefined && clientRecord(client).keycloakTokens === true;

/** @param sid the application's own id of the session */
export const keycloakClaims = (typ: 'Bearer' | 'ID', clientId: string, sid: unknown) => ({
  typ,
  azp: clientId,
  ...(typeof sid === 'string' && { session_state: sid }),
});

/**
 * The roles that the token shows elsewhere, too: realms and applications have none of their own here.
 * @param owners the application, and the identifier of the API that the token is for
 */
export const keycloakRoles = (owners: readonly string[], roles: readonly string[]) => ({
  realm_access: { roles: [...roles] },
  resource_access: Object.fromEntries(owners.map((owner) => [owner, { roles: [...roles] }])),
});
