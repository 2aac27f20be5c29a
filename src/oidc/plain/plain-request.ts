// Which requests the handlers of this folder look at: those in the form that client libraries send. Whatever could make the
// protocol core do something else is not plain: cookies, proofs, certificates, encodings, repeated or escaped parameters.
import type { IncomingMessage } from 'node:http';
import { isPrototypeKey } from '../../untrusted-text.ts';

export interface PlainRequest {
  /** Each parameter once, of visible ASCII and spaces, '' for an empty one. */
  readonly form: ReadonlyMap<string, string>;
  /** '' for none. */
  readonly authorization: string;
}

export interface Identity {
  readonly id: string;
  /** A public client has none. */
  readonly secret: string | undefined;
  readonly isInHeader: boolean;
}

/** Headers that other code answers for: cookies, lib/helpers/validate_dpop.js, lib/shared/client_auth.js. */
const UNUSUAL = [
  'cookie',
  'dpop',
  'oauth-client-attestation',
  'oauth-client-attestation-pop',
  'content-encoding',
  'transfer-encoding',
  'expect',
] as const;

const FORM = /^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i;

/** Longer than any token of ours with its client's secret; both other readers of forms take more. */
const MAX_BYTES = 16_384;

const lengthOf = ({ headers }: IncomingMessage): number => {
  const declared = headers['content-length'] ?? '';
  return /^[1-9]\d{0,4}$/.test(declared) ? Number(declared) : 0;
};

function hasPlainBody(request: IncomingMessage): boolean {
  const { headers, method } = request;
  // Rust's libraries send the length of nothing.
  if (method === 'GET')
    return (headers['content-length'] ?? '0') === '0' && headers['content-type'] === undefined;
  const length = lengthOf(request);
  return length > 0 && length <= MAX_BYTES && FORM.test(headers['content-type'] ?? '');
}

/** Looks at the head alone. */
export const mayBePlain = (request: IncomingMessage): boolean =>
  UNUSUAL.every((name) => request.headers[name] === undefined) &&
  request.headers.origin !== 'null' &&
  request.headers['sec-fetch-mode'] !== 'no-cors' &&
  hasPlainBody(request);

/**
 * The body, which stays in the request: it is put back in the same tick, before the stream can end, so that whoever reads it next
 * finds it untouched.
 * @returns undefined when the client closed the connection before the end of it
 */
function peek(request: IncomingMessage): Promise<string | undefined> {
  const length = lengthOf(request);
  return new Promise((resolve) => {
    const finish = (text?: string): void => {
      request.off('readable', look).off('error', giveUp).off('close', giveUp);
      resolve(text);
    };
    const giveUp = (): void => finish();
    const look = (): void => {
      const bytes: unknown = request.read(length);
      if (!Buffer.isBuffer(bytes)) return;
      request.unshift(bytes);
      finish(bytes.length === length ? bytes.toString('latin1') : undefined);
    };
    request.on('readable', look).on('error', giveUp).on('close', giveUp);
    look();
  });
}

// What any reader of forms takes for the same: names without escapes, nothing but ASCII.
const PAIR = /^([\w.~-]+)=((?:[\w.~*+-]|%[2-7][\dA-Fa-f])*)$/;

function parse(text: string): ReadonlyMap<string, string> | undefined {
  const form = new Map<string, string>();
  for (const part of text.split('&')) {
    const [, name, escaped] = PAIR.exec(part) ?? [];
    if (name === undefined || escaped === undefined || form.has(name) || isPrototypeKey(name))
      return undefined;
    const value = decodeURIComponent(escaped.replaceAll('+', ' '));
    if (value.includes('\x7f')) return undefined;
    form.set(name, value);
  }
  return form;
}

/** @returns undefined for a body in any other form */
export async function readPlainRequest(request: IncomingMessage): Promise<PlainRequest | undefined> {
  const authorization = request.headers.authorization ?? '';
  if (request.method === 'GET') return { form: new Map(), authorization };
  const text = await peek(request);
  const form = text === undefined ? undefined : parse(text);
  return form && { form, authorization };
}

const BEARER = /^Bearer ([\w.~+/-]+=*)$/i;

/** @returns the token of RFC 6750 §2.1; undefined where the header has none, or more than one token */
export const bearerOf = ({ authorization }: PlainRequest): string | undefined =>
  BEARER.exec(authorization)?.[1];

const BASIC = /^Basic ([A-Za-z0-9+/]{4,800}={0,2})$/i;
// Either may be escaped (RFC 6749 §2.3.1): openid-client escapes all but letters and digits.
const ID_AND_SECRET = /^((?:[\w.~-]|%[2-7][\dA-Fa-f])+):((?:[\w.~-]|%[2-7][\dA-Fa-f])*)$/;

// The address of a metadata document, too (decision 0026): of those, what is stored is the client.
const ID = /^[\x21-\x7E]+$/;

/** Another way to say who asks (RFC 7521 §4.2). */
const ASSERTION: ReadonlySet<string> = new Set(['client_assertion', 'client_assertion_type']);

export const CREDENTIALS: ReadonlySet<string> = new Set(['client_id', 'client_secret']);

/**
 * Who asks (RFC 6749 §2.3.1), in the header or in the form, never both.
 * @param parameters of a plain request. Others are ignored (§3.2), since Microsoft's and Keycloak's libraries send some
 * @param unusual which the protocol core reads besides
 */
export function identityOf(
  { form, authorization }: PlainRequest,
  parameters: ReadonlySet<string>,
  unusual: ReadonlySet<string> = ASSERTION,
): Identity | undefined {
  for (const [name, value] of form) {
    if (ASSERTION.has(name) || unusual.has(name)) return undefined;
    // The protocol core takes an empty one for absent.
    if (value === '' && (parameters.has(name) || CREDENTIALS.has(name))) return undefined;
  }
  const named = form.get('client_id') ?? '';
  if (authorization === '')
    return ID.test(named) ? { id: named, secret: form.get('client_secret'), isInHeader: false } : undefined;
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const pair = Buffer.from(encoded, 'base64');
  // One spelling: others are the protocol core's to accept or refuse.
  if (pair.toString('base64') !== encoded) return undefined;
  const [, ...escaped] = ID_AND_SECRET.exec(pair.toString('latin1')) ?? [];
  const [id = '', secret] = escaped.map(decodeURIComponent);
  if (!ID.test(id) || secret?.includes('\x7f') || form.has('client_secret')) return undefined;
  if (form.has('client_id') && named !== id) return undefined;
  // Without a secret: of a public client, as requests/public-basic.ts has it.
  return { id, secret: secret || undefined, isInHeader: true };
}
