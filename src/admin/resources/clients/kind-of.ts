// Which kind an application is, by its metadata alone: a label for people, never a rule.
import type { PublicMetadata } from '../../../clients/index.ts';
import type { ApplicationKind } from '../../guides/guide.ts';
import { kinds } from './application-defaults.ts';

export function kindOf(client: PublicMetadata): Exclude<ApplicationKind, 'product' | 'agent'> {
  const grants: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  const isSignIn = grants.includes('authorization_code');
  const isDevice = grants.some((grant) => String(grant).includes('device'));
  if (!isSignIn && isDevice) return 'device';
  if (client.application_type === 'native') return 'native';
  if (!isSignIn) return 'machine';
  return client.token_endpoint_auth_method === 'none' ? 'spa' : 'web';
}

export const kindLabel = (client: PublicMetadata): string =>
  kinds.find(({ kind }) => kind === kindOf(client))?.label ?? '';

/** Whether it authenticates with a secret that was shown once: not a public one, nor one with a key of its own. */
export const hasSecret = (client: PublicMetadata & { readonly client_type?: unknown }): boolean =>
  client.client_type === 'confidential' && client.token_endpoint_auth_method !== 'private_key_jwt';
