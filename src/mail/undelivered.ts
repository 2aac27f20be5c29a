// Why a mail was not delivered: the consequence, and a message for an administrator.

/**
 * `server`: the server is unavailable or misconfigured, so every mail fails. `later`: this mail, temporarily.
 * `never`: this mail, permanently.
 */
export type Consequence = 'server' | 'later' | 'never';

export class Undelivered extends Error {
  override readonly name = 'Undelivered';
  readonly consequence: Consequence;
  constructor(consequence: Consequence, message: string, options?: ErrorOptions) {
    super(message, options);
    this.consequence = consequence;
  }
}

/** The parts of the SMTP client's error that are used. */
interface ClientError {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
  readonly permanent?: unknown;
}

const MAX_REPLY = 200;

// RFC 4954 §6: authentication is required or insufficient, which is not a problem of the mail.
const authenticationCodes: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);

const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused: no server listens on that address and port.',
  ENOTFOUND: 'The host does not exist.',
  EDNS: 'The host name could not be resolved.',
  ETIMEDOUT: 'The server did not respond in time.',
  EAUTH: 'The server refused the user name or password.',
  ECONNECTION: 'The server closed the connection.',
  EPROTOCOL: 'The response is not SMTP.',
  ETLS: 'The TLS connection could not be established.',
};

// Node's messages about certificates, which the client passes on, in our own words: a message may quote what the peer sent.
const aboutCertificates: readonly (readonly [RegExp, string])[] = [
  [/self.signed certificate/, 'its certificate is self-signed'],
  [/unable to (?:verify|get) /, 'its certificate comes from an unknown authority'],
  [/certificate has expired/, 'its certificate has expired'],
  [/does not match certificate's altnames/, 'its certificate is for another host name'],
];

/** The server's reply without quoted parts of the mail: links and tokens must not be stored in clear. */
function replyOf({ response }: ClientError): string | undefined {
  if (typeof response !== 'string' || !/^[245]\d\d[ -]/.test(response)) return undefined;
  const [line = ''] = response.slice(0, MAX_REPLY * 4).split(/\r?\n/, 1);
  return line
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ')
    .replace(/https?:\S*|[\w-]{24,}|\b\d{6,}\b/gi, '…')
    .slice(0, MAX_REPLY);
}

const textOf = (table: Readonly<Record<string, string>>, code: unknown): string | undefined =>
  typeof code === 'string' && Object.hasOwn(table, code) ? table[code] : undefined;

function words(error: ClientError): string {
  const reply = replyOf(error);
  if (reply !== undefined) return `The server replied: ${reply}`;
  const message = String(error.message).slice(0, MAX_REPLY);
  const certificate = aboutCertificates.find(([sentence]) => sentence.test(message))?.[1];
  if (certificate !== undefined) return `The server's certificate is not trusted: ${certificate}.`;
  return (
    textOf(byCode, error.originalCode) ?? textOf(byCode, error.code) ?? 'The server could not be reached.'
  );
}

/** @param error of connecting, TLS or authentication */
export const unreachable = (error: ClientError): Undelivered =>
  new Undelivered('server', words(error), { cause: error });

function consequenceOf({ code, command, responseCode, permanent }: ClientError): Consequence {
  const isAnswered = typeof responseCode === 'number';
  // The sender is the same for every mail, so its refusal is a problem of the settings.
  if (isAnswered && (command === 'MAIL FROM' || authenticationCodes.has(responseCode))) return 'server';
  // The connection was closed before any part of this mail was sent.
  if (code === 'ECONNECTION' && command === 'API') return 'server';
  // Refused by the client: an invalid address, or a size above the server's limit.
  if (!isAnswered && (code === 'EENVELOPE' || code === 'EMESSAGE')) return 'never';
  return permanent === true ? 'never' : 'later';
}

/** @param error of sending one mail */
export const undelivered = (error: ClientError): Undelivered =>
  new Undelivered(consequenceOf(error), words(error), { cause: error });
