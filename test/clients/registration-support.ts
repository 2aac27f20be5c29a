// What the tests of registration and of its management share: tokens, registering, and what policy forbids.
import { equal } from 'node:assert/strict';
import { type Answer, membersOf } from '../admin/answers.ts';
import type { World } from '../admin/support.ts';

export const path = '/oauth2/register';
export const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
export const body = (answer: Answer): Record<string, unknown> => membersOf(answer.body);

export async function initialAccessToken({ clients }: World, uses = 10_000): Promise<string> {
  return (await clients.initialAccessTokens.create({ label: 'test', uses, expiresInSeconds: 3600 })).token;
}

export interface Registered {
  readonly id: string;
  readonly path: string;
  readonly bearer: string;
  readonly secret: string;
  readonly metadata: Record<string, unknown>;
}

export async function register(world: World, metadata: object = web, bearer?: string): Promise<Registered> {
  const answer = await world.call('POST', path, metadata, {
    bearer: bearer ?? (await initialAccessToken(world)),
  });
  equal(answer.status, 201, answer.text);
  const { client_id, client_secret, client_secret_expires_at, client_id_issued_at, ...rest } = body(answer);
  const { registration_access_token, registration_client_uri, ...registered } = rest;
  return {
    id: String(client_id),
    path: `${path}/${client_id}`,
    bearer: String(registration_access_token),
    secret: String(client_secret),
    metadata: registered,
  };
}

/** Members with values that no registrant may have. */
export const forbidden: readonly (readonly [string, unknown])[] = [
  ['grant_types', ['authorization_code', 'password']],
  ['grant_types', ['implicit']],
  ['response_types', ['token']],
  ['response_types', ['code id_token']],
  ['token_endpoint_auth_method', 'client_secret_jwt'],
  ['id_token_signed_response_alg', 'none'],
  ['id_token_signed_response_alg', 'HS256'],
  ['redirect_uris', ['javascript:alert(1)']],
  ['redirect_uris', ['https://app.example.com@evil.example/']],
  ['redirect_uris', 'https://app.example.com/callback'],
  ['redirect_uris', { $ne: 1 }],
  ['redirect_uris', []],
  ['post_logout_redirect_uris', ['data:text/html,x']],
  ['logo_uri', 'JAVASCRIPT:alert(1)'],
  ['policy_uri', 'vbscript:x'],
  ['tos_uri', 'file:///etc/passwd'],
  ['jwks_uri', 'http://127.0.0.1/jwks'],
  ['backchannel_logout_uri', 'http://localhost/'],
  ['client_name', 'a\nb'],
  ['client_name', { $gt: '' }],
  ['jwks', { keys: [{ kty: 'oct', k: 'x' }] }],
  ['skip_consent', true],
  ['keycloak_tokens', true],
  ['is_active', true],
  ['access_token_seconds', 86_400],
  ['allow_self_signup', true],
  ['client_type', 'public'],
  ['origin', 'seed'],
  ['created_at', '2020-01-01T00:00:00Z'],
  ['client_id_issued_at', 1],
  ['client_secret_expires_at', 1],
  ['registration_access_token', 'x'],
  ['registration_client_uri', 'https://evil.example/'],
];
