// The parts of a preview that know nothing of its rules: requests that nobody sent, and tokens read back.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isMembers, parseJson } from '../../json.ts';
import type { IdentityProvider } from '../identity-provider.ts';
import { contextOf } from '../library-context.ts';

export type Members = Readonly<Record<string, unknown>>;

export interface PreviewedToken {
  readonly header: Members;
  readonly payload: Members;
}

type Route = Parameters<typeof contextOf>[2]['route'];

const PATHS: Readonly<Record<Route, string>> = {
  authorization: '/oauth2/authorize',
  device_authorization: '/oauth2/device_authorization',
  token: '/oauth2/token',
};

/** The words of a scope. */
export const words = (scope: unknown): string[] =>
  typeof scope === 'string' ? [...new Set(scope.split(' ').filter(Boolean))] : [];

/** A request that nobody sent. */
function requestOf(path: string, headers: Readonly<Record<string, string>> = {}) {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming, { method: 'POST', url: path, complete: true });
  Object.assign(incoming.headers, { host: 'localhost', ...headers });
  return { incoming, response: new ServerResponse(incoming) };
}

export function contextFor(
  provider: IdentityProvider,
  route: Route,
  params: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
): KoaContextWithOIDC {
  const made = requestOf(PATHS[route], headers);
  const ctx = contextOf(provider, made, { form: new Map(Object.entries(params)), route });
  return Object.assign(ctx, { mountPath: '/oauth2' });
}

const membersOf = (part: string | undefined): Members => {
  const members = parseJson(Buffer.from(part ?? '', 'base64url').toString('utf8'));
  return isMembers(members) ? members : {};
};

/** Without what is of one token alone: it was never issued. */
const OF_ONE_TOKEN = ['jti', 'at_hash', 'sid', 'session_state'];
export const DIFFERS = '(differs in each token)';

export function decoded(jwt: unknown): PreviewedToken | undefined {
  const parts = typeof jwt === 'string' ? jwt.split('.') : [];
  // The third part is empty: nothing was signed.
  if (parts.length !== 3) return undefined;
  const payload = Object.entries(membersOf(parts[1])).map(([name, value]) => [
    name,
    OF_ONE_TOKEN.includes(name) ? DIFFERS : value,
  ]);
  return { header: membersOf(parts[0]), payload: Object.fromEntries(payload) };
}
