// Owns why a mail was not delivered, in two forms: what follows from it, and words for an administrator.

/**
 * `server`: the server is away or misconfigured, it is the same for every mail. `later`: this mail, for now.
 * `never`: this mail, for good.
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

/** What we look at in an error of the SMTP client. */
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

// RFC 4954 §6: the server wants us to sign in first, or otherwise. No mail is to blame for that.
const authenticationCodes: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);

const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at that address and port.',
  ENOTFOUND: 'There is no such host.',
  EDNS: 'The host name could not be resolved.',
  ETIMEDOUT: 'The server did not answer in time.',
  EAUTH: 'The server refused the user name or password.',
  ECONNECTION: 'The server closed the connection.',
  EPROTOCOL: 'What answered there does not speak SMTP.',
  ETLS: 'No encrypted connection could be made.',
};

// Node's own sentences about certificates, which the client passes on in its message. Told in our words: a message may
// quote whatever the peer sent.
const aboutCertificates: readonly (readonly [RegExp, string])[] = [
  [/self.signed certificate/, 'its certificate is self-signed'],
  [/unable to (?:verify|get) /, 'its certificate comes from an unknown authority'],
  [/certificate has expired/, 'its certificate has expired'],
  [/does not match certificate's altnames/, 'its certificate is for another host name'],
];

/** The server's own words, without what it may quote from the mail: links and tokens must not rest in clear. */
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
  if (reply !== undefined) return `The server said: ${reply}`;
  const message = String(error.message).slice(0, MAX_REPLY);
  const certificate = aboutCertificates.find(([sentence]) => sentence.test(message))?.[1];
  if (certificate !== undefined) return `The server cannot be trusted: ${certificate}.`;
  return (
    textOf(byCode, error.originalCode) ?? textOf(byCode, error.code) ?? 'The server could not be reached.'
  );
}

/** @param error of connecting, encrypting or signing in */
export const unreachable = (error: ClientError): Undelivered =>
  new Undelivered('server', words(error), { cause: error });

function consequenceOf({ code, command, responseCode, permanent }: ClientError): Consequence {
  const isAnswered = typeof responseCode === 'number';
  // The sender is the same for every mail: what the server has against it is a matter of the settings.
  if (isAnswered && (command === 'MAIL FROM' || authenticationCodes.has(responseCode))) return 'server';
  // The connection was gone before anything of this mail went out.
  if (code === 'ECONNECTION' && command === 'API') return 'server';
  // Refused by our own side: an address, or a size beyond the server's limit.
  if (!isAnswered && (code === 'EENVELOPE' || code === 'EMESSAGE')) return 'never';
  return permanent === true ? 'never' : 'later';
}

/** @param error of handing over one mail */
export const undelivered = (error: ClientError): Undelivered =>
  new Undelivered(consequenceOf(error), words(error), { cause: error });
