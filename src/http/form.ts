// Parses a form body (WHATWG URL §5.1, but strict): each name once, well-formed text, nothing repaired.
import { AppError } from '../errors.ts';
import { isPlainText, isPrototypeKey, nameForMessage } from '../untrusted-text.ts';

export interface Form {
  /** The field's value; undefined if it was not sent. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  keys(): string[];
}

const MAX_FIELDS = 1000;

function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw new AppError('request.malformed', { message: 'The form has a broken percent-encoding.' });
  }
}

function refuse(name: string, reason: string): never {
  const field = nameForMessage(name);
  throw new AppError('request.malformed', {
    message: `The form field "${field}" ${reason}.`,
    fields: { [field]: reason },
  });
}

/** @throws AppError request.malformed naming the invalid field */
export function createForm(body: string): Form {
  const fields = new Map<string, string>();
  let start = 0;
  while (start < body.length) {
    const ampersand = body.indexOf('&', start);
    const end = ampersand < 0 ? body.length : ampersand;
    const pair = body.slice(start, end);
    start = end + 1;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (isPrototypeKey(name)) refuse(name, 'is not allowed');
    if (!isPlainText(name) || !isPlainText(value)) refuse(name, 'holds a character that is not allowed');
    // RFC 6749 §3.1: parameters must not be included more than once; picking one invites confusion attacks.
    if (fields.has(name)) refuse(name, 'was sent more than once');
    fields.set(name, value);
    if (fields.size > MAX_FIELDS)
      throw new AppError('request.malformed', { message: 'Too many form fields.' });
  }
  return {
    get: (name) => fields.get(name),
    has: (name) => fields.has(name),
    keys: () => [...fields.keys()],
  };
}
