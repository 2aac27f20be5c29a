// Parses JSON from outside (bodies, the `claims` parameter, JWT parts, WebAuthn client data, cursors, fetched documents):
// bounded in size and depth, without keys that reach prototypes. No other file parses untrusted
// JSON (test/boundaries.test.ts).
import { AppError } from './errors.ts';
import { isPlainText, isPrototypeKey, nameForMessage } from './untrusted-text.ts';

const MAX_DEPTH = 32;
/** Readers of bodies and files have their own, lower limits; a picture in base64 is the longest text that any takes. */
const MAX_LENGTH = 1_500_000;

/** A JSON object: not null, and no list. */
export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** @returns its own member of that name; undefined where there is none, or no object */
export const memberOf = (holder: unknown, name: string): unknown =>
  isMembers(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;

interface Visit {
  readonly value: unknown;
  readonly depth: number;
  readonly path: string;
}

/** @param name what the sender calls the JSON: `body`, or a parameter */
function refuse(name: string, path: string, reason: string): never {
  throw new AppError('request.malformed', {
    message: `The JSON ${name} is refused: ${path === '' ? 'it' : `"${path}"`} ${reason}.`,
    ...(path === '' ? {} : { fields: { [path]: reason } }),
  });
}

const pathOf = (parent: string, key: string): string =>
  nameForMessage(parent === '' ? key : `${parent}.${key}`);

/** Without recursion: the sender chooses the depth. */
function check(root: unknown, name: string): void {
  const pending: Visit[] = [{ value: root, depth: 0, path: '' }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { value, depth, path } = visit;
    if (typeof value === 'string' && !isPlainText(value))
      refuse(name, path, 'holds a character that is not allowed');
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) refuse(name, path, `is nested deeper than ${MAX_DEPTH} levels`);
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      const itemPath = pathOf(path, key);
      if (!isList && (isPrototypeKey(key) || !isPlainText(key))) refuse(name, itemPath, 'is not allowed');
      pending.push({ value: item, depth: depth + 1, path: itemPath });
    }
  }
}

/** @throws AppError request.malformed that says what is wrong and where */
export function parseJson(text: string, name = 'body'): unknown {
  if (text.length > MAX_LENGTH) refuse(name, '', 'is too long');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('request.malformed', { message: `The ${name} is not valid JSON.` });
  }
  check(value, name);
  return value;
}

/**
 * For JSON that a library parses again and then walks recursively. Invalid JSON is left to the library, which has an error
 * for it.
 * @throws AppError request.malformed
 */
export function screenJson(text: string, name: string): void {
  if (text.length > MAX_LENGTH) refuse(name, '', 'is too long');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  check(value, name);
}

/** Checks header and payload of a JWT that is not verified yet. @throws AppError request.malformed */
export function screenJwt(token: string, name: string): void {
  for (const part of token.split('.', 2)) screenJson(Buffer.from(part, 'base64url').toString(), name);
}
