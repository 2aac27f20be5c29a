// Which requests the handlers of this folder look at: those in the one form that client libraries send. Whatever could make the
// protocol core do something else is not plain: cookies, proofs, certificates, encodings, repeated or escaped parameters.
import type { IncomingMessage } from 'node:http';

export interface PlainRequest {
  /** Each parameter once, of visible ASCII and spaces. */
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
  'upgrade',
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
  if (method === 'GET')
    return headers['content-length'] === undefined && headers['content-type'] === undefined;
  const length = lengthOf(request);
  return length > 0 && length <= MAX_BYTES && FORM.test(headers['content-type'] ?? '');
}

/** Looks at the head alone. */
export const mayBePlain = (request: IncomingMessage): boolean =>
  UNUSUAL.every((name) => request.headers[name] === undefined) &&
  request.headers.origin !== 'null' &&
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

// What any reader of forms takes for the same: names without escapes, no empty value, nothing but ASCII.
const PAIR = /^([\w.~-]+)=((?:[\w.~*+-]|%[2-7][\dA-Fa-f])+)$/;

function parse(text: string): ReadonlyMap<string, string> | undefined {
  const form = new Map<string, string>();
  for (const part of text.split('&')) {
    const [, name, escaped] = PAIR.exec(part) ?? [];
    if (name === undefined || escaped === undefined || form.has(name)) return undefined;
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
const ID_AND_SECRET = /^([\w.~-]+):([\w.~-]+)$/;

const ID = /^[\w.~-]+$/;

/**
 * Who asks (RFC 6749 §2.3.1), in the header or in the form, never both.
 * @param parameters of the endpoint; any other makes the request unusual
 */
export function identityOf(
  { form, authorization }: PlainRequest,
  parameters: ReadonlySet<string>,
): Identity | undefined {
  const isInHeader = authorization !== '';
  for (const name of form.keys()) {
    const isCredential = !isInHeader && (name === 'client_id' || name === 'client_secret');
    if (!isCredential && !parameters.has(name)) return undefined;
  }
  if (!isInHeader) {
    const id = form.get('client_id') ?? '';
    return ID.test(id) ? { id, secret: form.get('client_secret'), isInHeader } : undefined;
  }
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const pair = Buffer.from(encoded, 'base64');
  // One spelling: others are the protocol core's to accept or refuse.
  if (pair.toString('base64') !== encoded) return undefined;
  const [, id, secret] = ID_AND_SECRET.exec(pair.toString('latin1')) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret, isInHeader };
}
