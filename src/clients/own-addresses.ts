// Owns which addresses are this server's own. No application may have one as its redirect URI: its codes would arrive at the
// callback of our Admin UI, of /account or of a trial sign-in, in the session of whoever is signed in there (checklist R001).
import { isLoopbackHost } from '../config/parsers.ts';

/** Everything that we serve begins with one of these; behind BASE_URL another server may have the rest of the host. */
const OWN_PATHS = [
  'account',
  'admin',
  'assets',
  'healthz',
  'metrics',
  'oauth2',
  'onboard',
  'readyz',
  'realms',
  '.well-known',
  '',
] as const;

export type IsOwnAddress = (uri: string) => boolean;

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

/** What a server in front may make of a path before it comes to us. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @param baseUrl BASE_URL @returns whether a browser that is sent to that address comes to us */
export function createIsOwnAddress(baseUrl: string): IsOwnAddress {
  const base = new URL(baseUrl);
  const segments = base.pathname.split('/').filter(Boolean);
  return (uri) => {
    const url = URL.parse(uri);
    if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
    // On one machine the names of the loopback interface are one.
    const isOurHost =
      url.hostname === base.hostname || (isLoopbackHost(url.hostname) && isLoopbackHost(base.hostname));
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
