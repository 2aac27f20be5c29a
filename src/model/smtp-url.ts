// A mail server's address: `smtp://`, `smtp+starttls://` or `smtps://`, credentials, host and port. Used for the
// setting smtp_url and by the mail client.
import { isIP } from 'node:net';

export interface SmtpServer {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** `tls`: from the start; `starttls`: required; `offered`: if the server offers STARTTLS. */
  readonly encryption: 'tls' | 'starttls' | 'offered';
  readonly credentials?: { readonly user: string; readonly password: string };
}

const MAX_LENGTH = 2048;

const schemes = {
  'smtp:': { encryption: 'offered', port: 587 },
  'smtp+starttls:': { encryption: 'starttls', port: 587 },
  'smtps:': { encryption: 'tls', port: 465 },
} as const;

const isScheme = (protocol: string): protocol is keyof typeof schemes => Object.hasOwn(schemes, protocol);

const name = /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.?$/i;

const hostOf = (hostname: string): string | undefined => {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) !== 0 || (bare.length <= 253 && name.test(bare)) ? bare : undefined;
};

/** @returns undefined for invalid %-escapes, and for text that could end an SMTP command or an AUTH field */
const decode = (part: string): string | undefined => {
  try {
    const decoded = decodeURIComponent(part);
    return /\p{Cc}/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
};

/** @returns undefined when the text is not such an address; it may contain a password, so no message should quote it */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  // The URL parser drops tabs and line breaks, so check the text itself.
  if (text.length > MAX_LENGTH || /[^!-~]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!isScheme(url.protocol) || /[?#]/.test(text) || !/^\/?$/.test(url.pathname)) return undefined;
  const { encryption, port } = schemes[url.protocol];
  const host = hostOf(url.hostname);
  const [user, password] = [decode(url.username), decode(url.password)];
  if (host === undefined || user === undefined || password === undefined || url.port === '0')
    return undefined;
  // One without the other is most often an unescaped `/`, `?` or `#` in the password.
  if ((user === '') !== (password === '')) return undefined;
  return {
    host,
    port: url.port === '' ? port : Number(url.port),
    encryption,
    ...(user !== '' && { credentials: { user, password } }),
  };
}

const schemeOf = { offered: 'smtp', starttls: 'smtp+starttls', tls: 'smtps' } as const;

/** The address of a server, as parseSmtpUrl reads it; without a port the usual one. */
export function smtpUrlOf({
  host,
  port,
  encryption,
  credentials,
}: Omit<SmtpServer, 'port'> & { readonly port?: number | undefined }): string {
  const who = credentials
    ? `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`
    : '';
  const place = isIP(host) === 6 ? `[${host}]` : host;
  return `${schemeOf[encryption]}://${who}${place}${port === undefined ? '' : `:${port}`}`;
}
