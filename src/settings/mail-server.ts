// The mail server as people know it: host, port, encryption, user, password. Stored as one address, the setting smtp_url, which
// is secret as a whole because it contains the password.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { invalid } from '../errors.ts';
import { parseSmtpUrl, type SmtpServer, smtpUrlOf } from '../model/smtp-url.ts';

export interface MailServer extends Pick<SmtpServer, 'host' | 'port' | 'encryption'> {
  /** '' where the server asks for none. */
  readonly user: string;
  readonly hasPassword: boolean;
}

export interface GivenMailServer {
  /** '' for no mail server. */
  readonly host: string;
  /** Absent: the usual one of the encryption. */
  readonly port?: number | null | undefined;
  readonly encryption: SmtpServer['encryption'];
  readonly user?: string | undefined;
  /** Absent: the stored one. */
  readonly password?: string | undefined;
}

/** Without one, nothing that is mailed leaves. */
export const hasMailServer = ({ smtp_url: url }: { readonly smtp_url: string }): boolean => url !== '';

/** @param url the setting smtp_url. @returns undefined where there is none */
export function mailServerOf(url: string): MailServer | undefined {
  const server = parseSmtpUrl(url);
  if (server === undefined) return undefined;
  const { host, port, encryption, credentials } = server;
  return { host, port, encryption, user: credentials?.user ?? '', hasPassword: credentials !== undefined };
}

const PASSWORD_AGAIN =
  'Enter the password again: a stored one is sent only to the same server, as the same user, with no less encryption.';

/** Whoever may change settings cannot read the password, and must not learn it by naming a server of their own. */
function storedPassword(url: string, { host, port, encryption, user }: Omit<MailServer, 'hasPassword'>) {
  const stored = parseSmtpUrl(url);
  const isSame =
    stored?.credentials?.user === user &&
    stored.host.toLowerCase() === host.toLowerCase() &&
    stored.port === port &&
    (stored.encryption === encryption || encryption !== 'offered');
  return isSame ? stored?.credentials?.password : undefined;
}

const refuse = (field: 'host' | 'user' | 'password', problem: string): never => {
  throw invalid({ [field]: problem });
};

const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);

/**
 * @param url the setting smtp_url as it is
 * @returns what it shall be; '' for no mail server
 * @throws AppError request.invalid, naming the field
 */
export function changedSmtpUrl(url: string, given: GivenMailServer): string {
  const typed = given.host.trim();
  if (typed === '') return '';
  const unwrapped = typed.replace(/^\[(.+)\]$/, '$1');
  // An address only: nothing of it may be read as a port or a user, and domainToASCII drops what it does not know.
  const isHost = isIP(unwrapped) !== 0 || /^[\p{L}\p{M}\p{N}._-]+$/u.test(unwrapped);
  const host = isIP(unwrapped) === 0 ? domainToASCII(unwrapped) || unwrapped : unwrapped;
  const { encryption } = given;
  const bare = isHost
    ? parseSmtpUrl(smtpUrlOf({ host, port: given.port ?? undefined, encryption }))
    : undefined;
  if (bare === undefined) return refuse('host', 'Must be a name such as mail.example.com or an IP address.');
  const user = (given.user ?? '').trim();
  if (user === '') return given.password ? refuse('user', 'A password needs a user.') : smtpUrlOf(bare);
  const password = given.password || storedPassword(url, { ...bare, user });
  if (hasControls(user)) return refuse('user', 'Must not contain control characters.');
  if (password === undefined || password === '')
    return refuse(
      'password',
      mailServerOf(url)?.hasPassword ? PASSWORD_AGAIN : 'Enter the password of this user.',
    );
  if (hasControls(password)) return refuse('password', 'Must not contain control characters.');
  return smtpUrlOf({ ...bare, credentials: { user, password } });
}
