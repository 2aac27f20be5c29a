// Owns what a JSON body may be: parsed by JSON.parse, then walked once for what would hurt later (checklist R126, R134).
import { AppError } from '../errors.ts';
import { isPlainText, isPrototypeKey, nameForMessage } from './untrusted-text.ts';

const MAX_DEPTH = 32;

interface Visit {
  readonly value: unknown;
  readonly depth: number;
  readonly path: string;
}

function refuse(path: string, reason: string): never {
  throw new AppError('request.malformed', {
    message: `The JSON body is refused: ${path === '' ? 'it' : `"${path}"`} ${reason}.`,
    ...(path === '' ? {} : { fields: { [path]: reason } }),
  });
}

const pathOf = (parent: string, key: string): string =>
  nameForMessage(parent === '' ? key : `${parent}.${key}`);

/** Without recursion: the depth is the sender's choice. */
function check(root: unknown): void {
  const pending: Visit[] = [{ value: root, depth: 0, path: '' }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { value, depth, path } = visit;
    if (typeof value === 'string' && !isPlainText(value))
      refuse(path, 'holds a character that is not allowed');
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) refuse(path, `is nested deeper than ${MAX_DEPTH} levels`);
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      const itemPath = pathOf(path, key);
      if (!isList && (isPrototypeKey(key) || !isPlainText(key))) refuse(itemPath, 'is not allowed');
      pending.push({ value: item, depth: depth + 1, path: itemPath });
    }
  }
}

/** @throws AppError request.malformed telling what is wrong and where */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('request.malformed', { message: 'The body is not valid JSON.' });
  }
  check(value);
  return value;
}
