// Applications that are registered as FAPI 2.0 asks, and are held to its rules.
import type { Client } from 'oidc-provider';

/**
 * Registered as FAPI 2.0 §5.3.2.1 asks of applications. Of these it also wants assertions that name the issuer alone: another
 * server can tell a client that our token endpoint is its own, and collect what is meant for us.
 */
export const isOfFapi = ({ dpopBoundAccessTokens, requirePushedAuthorizationRequests }: Client): boolean =>
  dpopBoundAccessTokens === true && requirePushedAuthorizationRequests === true;
