// Which template an application is like, by its metadata alone: a label for people, never a rule.
import type { ApplicationTemplate } from '../../guides/guide.ts';
import type { Values } from '../../pages/page.ts';
import { templates } from './application-templates.ts';

export function templateOf(client: Values): Exclude<ApplicationTemplate, 'product' | 'agent'> {
  const grants: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  const isSignIn = grants.includes('authorization_code');
  const isDevice = grants.some((grant) => String(grant).includes('device'));
  if (!isSignIn && isDevice) return 'device';
  if (client.application_type === 'native') return 'native';
  if (!isSignIn) return 'machine';
  return client.token_endpoint_auth_method === 'none' ? 'spa' : 'web';
}

export const kindLabel = (client: Values): string =>
  templates.find(({ kind }) => kind === templateOf(client))?.label ?? '';

/** Whether it authenticates with a secret that was shown once: not a public one, nor one with a key of its own. */
export const hasSecret = (client: Values): boolean =>
  client.client_type === 'confidential' && client.token_endpoint_auth_method !== 'private_key_jwt';
