// Which addresses an application may register: redirect targets, pages that users open, and addresses that this server
// fetches. Strict, so that none can become an open redirect or a script.
import { isLoopbackHost } from '../config/parsers.ts';

/**
 * `redirect`: browsers are sent there with codes (RFC 9700 §2.1, RFC 8252 §7). `page`: a link or an image that users see.
 * `fetched`: this server opens the connection.
 */
export type UriUse = 'redirect' | 'page' | 'fetched';

const MAX_LENGTH = 2000;

// RFC 3986 §2: everything else must be percent-encoded. A wildcard would be legal there, but we do not match wildcards.
const notPlain = /[^\x21-\x7e]/;
const notInUris = /[\\*<>"{}|^`]/;
const encodedControl = /%(?:[01][0-9a-f]|7f|5c)/i;
const dotSegment = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const webAuthority = /^https?:\/\/([^/?]+)/;
const hostAndPort = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::[0-9]{1,5})?$/;
// RFC 8252 §7.1: a reversed domain name, hence the required dot.
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+$/;

/**
 * @param isNative whether `application_type` is `native`, which alone may use private-use schemes
 * @param mayBePlain whether this server may call that plain http address; default: none
 * @returns what is wrong, as a predicate ("must …"); undefined when the address may be registered
 */
export function uriProblem(
  uri: string,
  use: UriUse,
  isNative: boolean,
  mayBePlain: (uri: string) => boolean = () => false,
): string | undefined {
  if (uri.length === 0) return 'must not be empty';
  if (uri.length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} characters`;
  if (notPlain.test(uri)) return 'must be printable ASCII without spaces; percent-encode other characters';
  if (notInUris.test(uri))
    return 'must not contain a backslash, a wildcard or other characters that are not allowed in URIs';
  if (uri.includes('#')) return 'must not contain a fragment';
  if (encodedControl.test(uri)) return 'must not contain encoded control characters or backslashes';
  if (use === 'redirect' && dotSegment.test(uri)) return 'must not contain `.` or `..` path segments';
  const scheme = schemePattern.exec(uri)?.[1];
  if (scheme === undefined || URL.parse(uri) === null) return 'must be an absolute URI';
  if (scheme === 'https' || scheme === 'http') return webUriProblem(uri, scheme, use, mayBePlain);
  if (use !== 'redirect' || !isNative) return 'must start with https:// (http:// only for localhost)';
  if (!privateUseScheme.test(scheme)) {
    return 'must use https, or a private-use scheme with a dot such as com.example.app (RFC 8252 section 7.1)';
  }
  return /^[^/?]*:\/\/[^/?]*@/.test(uri) ? 'must not contain a user name or password' : undefined;
}

function webUriProblem(
  uri: string,
  scheme: 'http' | 'https',
  use: UriUse,
  mayBePlain: (uri: string) => boolean,
): string | undefined {
  const authority = webAuthority.exec(uri)?.[1];
  if (authority === undefined) return 'must name a host after two slashes';
  if (authority.includes('@')) return 'must not contain a user name or password';
  const host = hostAndPort.exec(authority)?.[1]?.toLowerCase();
  // What a user sees must be what a browser connects to: no 127.1, 0x7f000001, percent-encoded hosts or trailing dots.
  if (host === undefined || host !== URL.parse(uri)?.hostname || host.endsWith('.')) {
    return 'must have its host in plain form';
  }
  if (scheme === 'https') return undefined;
  if (use === 'fetched') {
    if (mayBePlain(uri)) return undefined;
    return 'must start with https:// (http:// only where an administrator enters it and OUTBOUND_ALLOW covers host and port)';
  }
  return isLoopbackHost(host) ? undefined : 'must start with https:// (http:// only for localhost)';
}
