// Which addresses an application may register: redirect targets, pages that users open, and addresses that this server
// fetches. Strict, so that none can become an open redirect or a script.
import { isIP } from 'node:net';

/** Whether plain http is safe for this host, because it never leaves the machine (RFC 8252 §8.3, RFC 6761 §6.3). */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  (isIP(hostname) === 4 && hostname.startsWith('127.'));

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
// What a name or address has (RFC 952, with the underscore of internal names). Browsers' parsers take more, and what a host says is
// copied into files and commands.
const hostCharacters = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
const hostAndPort = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::[0-9]{1,5})?$/;
// RFC 8252 §7.1: a reversed domain name, hence the required dot.
const privateUseScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+$/;
// As editors use (`cursor:`, `vscode:`): anyone can claim such a name, so an administrator has to vouch for it.
const bareScheme = /^[a-z][a-z0-9+-]*$/;

/** Of editors, whole: strangers may register these as well (decision 0026), since each of them is known for one program. */
export const editorUris: ReadonlySet<string> = new Set(['cursor://anysphere.cursor-mcp/oauth/callback']);

/**
 * Schemes that browsers or operating systems act upon themselves: they run, read, send or install something. Never
 * registered, by anybody.
 */
const actingSchemes: ReadonlySet<string> = new Set(
  (
    'about acap afp aim android-app app app-settings applescript apt attachment blob callto cdp chrome chrome-extension cid cmd content data dav devtools dict dns ' +
    'edge facetime facetime-audio feed file filesystem finger fish ftp ftps geo git go gopher hcp help http https httpx iax ' +
    'icap im imap intent ipp ipps irc ircs isolated-app its jar java javascript jnlp jnlps ldap ldapi ldaps livescript magnet ' +
    'mailto maps market message mid mk mms mmst mocha moz-extension ms msnim news nfs nntp opaque openurl perl pkcs11 pop prefs pres proxy rdp res resource rlogin ' +
    'rmi rsync rtmp rtsp safari-extension search search-ms secondlife sftp shell shortcuts sip sips skype smb sms smsto sms-private ' +
    'snews snmp soap ssh stun svn tel telnet tftp tn3270 turn unix urn vbs vbscript vbscript-encode view-source vnc ' +
    'webcal wais widget ws wss wtai wyciwyg x-apple xmpp'
  ).split(' '),
);
/** Families of such schemes: `ms-msdt:` runs a wizard, `ms-appinstaller:` installs. */
const actingFamilies = /^(?:ms-|microsoft-|x-apple|x-help|x-man|itms|shell-|chrome-|edge-|moz-|view-|web\+)/;

const isActingScheme = (scheme: string): boolean =>
  actingSchemes.has(scheme) || (!scheme.includes('.') && actingFamilies.test(scheme));

/** Whether the address has a custom scheme without a dot, which any program may claim. */
export function hasBareScheme(uri: string): boolean {
  const scheme = schemePattern.exec(uri)?.[1]?.toLowerCase() ?? '';
  return scheme !== 'https' && scheme !== 'http' && bareScheme.test(scheme);
}

/**
 * Whether an address on the loopback interface would be a registered one with another port: a native application's would be
 * allowed (RFC 8252 §7.3), a web application's is not.
 */
export function differsInLoopbackPort(uri: string, registered: readonly string[]): boolean {
  const sent = withoutLoopbackPort(uri);
  return (
    sent !== undefined &&
    !registered.includes(uri) &&
    registered.some((one) => withoutLoopbackPort(one) === sent)
  );
}

function withoutLoopbackPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.protocol !== 'http:' || !isLoopbackHost(url.hostname)) return undefined;
  url.port = '';
  return url.href;
}

/** What an administrator vouches for. */
interface Vouched {
  /** Whether this server may call that plain http address; default: none. */
  readonly mayBePlain?: (uri: string) => boolean;
  /** Whether a private-use scheme may lack its dot; default: no. */
  readonly mayBeBare?: boolean;
}

/**
 * @param isNative whether `application_type` is `native`, which alone may use private-use schemes
 * @returns what is wrong, as a predicate ("must …"); undefined when the address may be registered
 */
export function uriProblem(
  uri: string,
  use: UriUse,
  isNative: boolean,
  { mayBePlain = () => false, mayBeBare = false }: Vouched = {},
): string | undefined {
  if (uri.length === 0) return 'must not be empty';
  if (uri.length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} characters`;
  if (notPlain.test(uri)) return notAsciiProblem(uri);
  if (notInUris.test(uri))
    return 'must not contain a backslash, a wildcard or other characters that are not allowed in URIs';
  if (uri.includes('#')) return 'must not contain a fragment';
  if (encodedControl.test(uri)) return 'must not contain encoded control characters or backslashes';
  if (use === 'redirect' && dotSegment.test(uri)) return 'must not contain `.` or `..` path segments';
  const scheme = schemePattern.exec(uri)?.[1];
  if (scheme === undefined || URL.parse(uri) === null) return 'must be an absolute URI';
  const lower = scheme.toLowerCase();
  // Compared as text, so not taken as the same; what else is wrong is said first, or it would come up at the next attempt.
  if (scheme !== lower) {
    const spelled = lower + uri.slice(scheme.length);
    return (
      uriProblem(spelled, use, isNative, { mayBePlain, mayBeBare }) ?? 'must have its scheme in lower case'
    );
  }
  if (scheme === 'https' || scheme === 'http') return webUriProblem(uri, scheme, use, mayBePlain);
  if (use !== 'redirect' || !isNative) return 'must start with https:// (http:// only for localhost)';
  // Before the dot: `javascript` is refused whoever asks.
  if (isActingScheme(scheme)) return 'must not use a scheme that browsers or systems act upon';
  if (!privateUseScheme.test(scheme) && !(mayBeBare && bareScheme.test(scheme))) {
    return 'must use https, or a private-use scheme with a dot such as com.example.app (RFC 8252 section 7.1)';
  }
  return /^[^/?]*:\/\/[^/?]*@/.test(uri) ? 'must not contain a user name or password' : undefined;
}

/** Hosts are written in punycode (RFC 3492), which percent-encoding would not give. */
function notAsciiProblem(uri: string): string {
  const authority = /^https?:\/\/([^/?#@\s]+)(?:[/?#]|$)/i.exec(uri)?.[1];
  const host = authority !== undefined && notPlain.test(authority) && URL.parse(uri)?.hostname;
  if (host) return `must name its host in ASCII: ${host}`;
  return 'must be printable ASCII without spaces; percent-encode other characters';
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
  if (
    host === undefined ||
    host !== URL.parse(uri)?.hostname ||
    host.endsWith('.') ||
    !hostCharacters.test(host)
  ) {
    return 'must have its host in plain form';
  }
  if (scheme === 'https') return undefined;
  if (use === 'fetched') {
    if (mayBePlain(uri)) return undefined;
    const entry = `${host}:${URL.parse(uri)?.port || '80'}`;
    return `must start with https:// (http:// only where an administrator enters it and OUTBOUND_ALLOW has ${entry}; for keys on localhost alone)`;
  }
  return isLoopbackHost(host) ? undefined : 'must start with https:// (http:// only for localhost)';
}

/** @returns what is wrong with an entry of `web_origins`, as a predicate; undefined when it is an origin */
export function originProblem(text: string): string | undefined {
  const problem = uriProblem(text, 'page', false);
  if (problem !== undefined) return problem;
  const { origin } = new URL(text);
  return origin === text ? undefined : `must be an origin without path or default port, such as ${origin}`;
}
