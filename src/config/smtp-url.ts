// Owns how a mail server is written down: `smtp://`, `smtp+starttls://` or `smtps://`, credentials, host and port. The
// setting smtp_url and whoever talks to the server read it by this one function.
import { isIP } from 'node:net';

export interface SmtpServer {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte; `starttls`: never without; `offered`: when the server offers STARTTLS. */
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

/** @returns undefined for a part that is no %-escaped text, or that could end an SMTP command or an AUTH field */
const decode = (part: string): string | undefined => {
  try {
    const decoded = decodeURIComponent(part);
    return /\p{Cc}/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
};

/** @returns undefined when the text is not such an address; it may hold a password, so no message should quote it */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  // The URL parser drops tabs and line ends: the text itself must be clean.
  if (text.length > MAX_LENGTH || /[^!-~]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!isScheme(url.protocol) || /[?#]/.test(text) || !/^\/?$/.test(url.pathname)) return undefined;
  const { encryption, port } = schemes[url.protocol];
  const host = hostOf(url.hostname);
  const [user, password] = [decode(url.username), decode(url.password)];
  if (host === undefined || user === undefined || password === undefined || url.port === '0')
    return undefined;
  // One without the other is a slip of the pen, most often an unescaped `/`, `?` or `#` in the password.
  if ((user === '') !== (password === '')) return undefined;
  return {
    host,
    port: url.port === '' ? port : Number(url.port),
    encryption,
    ...(user !== '' && { credentials: { user, password } }),
  };
}
