// Recognises this server's own addresses. No application may register one as redirect URI: its codes would arrive at the
// callback of the Admin UI, of /account or of a test sign-in, in the session of the signed-in user.
import { isLoopbackHost } from '../model/uris.ts';

/** All paths that we serve start with one of these; another server may serve the rest of the host. */
const OWN_PATHS = [
  'account',
  'admin',
  'assets',
  'avatars',
  'healthz',
  'metrics',
  'oauth2',
  'onboard',
  'pictures',
  'readyz',
  'realms',
  'signup',
  '.well-known',
  '',
] as const;

export type IsOwnAddress = (uri: string) => boolean;

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

/** Normalises a path as a proxy in front may do. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A name with the dot of the root is the same name. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '');

/** @param baseUrl BASE_URL @returns whether a browser that is redirected to the address reaches this server */
export function createIsOwnAddress(baseUrl: string): IsOwnAddress {
  const base = new URL(baseUrl);
  const segments = base.pathname.split('/').filter(Boolean);
  return (uri) => {
    const url = URL.parse(uri);
    if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
    // All names of the loopback interface are the same host.
    const [host, ourHost] = [hostOf(url), hostOf(base)];
    const isOurHost = host === ourHost || (isLoopbackHost(host) && isLoopbackHost(ourHost));
    if (!isOurHost || portOf(url) !== portOf(base)) return false;
    const path = decoded(url.pathname)
      .toLowerCase()
      .split(/[/\\]+/)
      .filter(Boolean);
    if (!segments.every((segment, at) => path[at] === decoded(segment).toLowerCase())) return false;
    const own: readonly string[] = OWN_PATHS;
    return own.includes(path[segments.length] ?? '');
  };
}
