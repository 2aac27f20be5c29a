// Which redirect URIs get nothing before the person has seen where it goes (RFC 8252 §8.6, decision 0009): any program on their
// device can listen there, whatever an administrator says of the application.
import { isLoopbackHost } from '../model/uris.ts';
import type { ClientRecord } from '../store/collections.ts';

/** Scopes of this server's own APIs: with them a token is worth what the person is. */
const POWERFUL = /^(?:account|admin)(?::|$)/;

const PORT = /^https?:\/\/[^/?#]*:\d+(?:[/?#]|$)/i;

/** Of IPv6 and of no address, which systems take for the machine itself, and what /etc/hosts calls it on many (RFC 4291 §2.5.5.2). */
const LOCAL_ADDRESS = /^(?:0\.0\.0\.0|\[::\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)\])$/;
const LOCAL_NAME = /^(?:localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback))$/;

/** More than may be registered without TLS (isLoopbackHost). */
const isOnDevice = (hostname: string): boolean =>
  isLoopbackHost(hostname) || LOCAL_ADDRESS.test(hostname) || LOCAL_NAME.test(hostname);

/**
 * @param redirectUri of the request, which the client may use
 * @param scopes of the request
 * @returns whether a code or token for it needs a page that names both
 */
export function needsConfirmedAddress(
  { metadata, origin }: Pick<ClientRecord, 'metadata' | 'origin'>,
  redirectUri: string,
  scopes: Iterable<string>,
): boolean {
  // Our own pages, which may be on this machine, too.
  if (origin === 'seed') return false;
  const isNative = metadata.application_type === 'native';
  const isPowerful = [...scopes].some((scope) => POWERFUL.test(scope));
  const url = URL.parse(redirectUri);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isWeb) return true;
  if (isNative && [...scopes].some((scope) => scope.startsWith('account'))) return true;
  if (!isOnDevice(url.hostname)) return false;
  const { redirect_uris: registered } = metadata;
  const isExact = Array.isArray(registered) && registered.includes(redirectUri) && PORT.test(redirectUri);
  return isNative || !isExact || isPowerful;
}
