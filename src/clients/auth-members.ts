// What the metadata of an application says about its authentication at the token endpoint.
import { secretAuthMethods } from '../model/applications/vocabulary.ts';
import type { ClientRecord } from '../store/collections.ts';

export const needsSecret = (metadata: Readonly<Record<string, unknown>>): boolean =>
  secretAuthMethods.has(String(metadata.token_endpoint_auth_method));

export const isAuthMethodSaid = (input: Readonly<Record<string, unknown>>): boolean =>
  (input.token_endpoint_auth_method ?? undefined) !== undefined;

export const authenticates = (metadata: Readonly<Record<string, unknown>>): boolean =>
  clientType(metadata) === 'confidential';

export const clientType = (metadata: Readonly<Record<string, unknown>>): ClientRecord['clientType'] =>
  metadata.token_endpoint_auth_method === 'none' ? 'public' : 'confidential';
