// Reads one variable, or for a secret the file that NAME_FILE names. Collects problems instead of stopping at the first.
import { readFileSync, statSync } from 'node:fs';
import { Invalid } from './parsers.ts';
import { type ValueOf, type VariableName, variables } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Reader {
  /** @returns the parsed value; undefined if it is unset or invalid (then it is in `problems`) */
  read<N extends VariableName>(name: N): ValueOf<N> | undefined;
  /** Whether the variable or its `_FILE` variant is set, valid or not. */
  isSet(name: VariableName): boolean;
  /** Runs `act`; if it throws Invalid, `where: message` becomes a problem and the result is undefined. */
  attempt<T>(where: string, act: () => T): T | undefined;
  readonly problems: string[];
}

const MAX_SECRET_FILE_BYTES = 65_536;

/** As some editors and shells of Windows write: it would be another secret than the one that is read there. */
const isUtf16 = (bytes: Buffer): boolean =>
  /^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2)) ||
  (bytes.length > 1 && [0, 1].some((odd) => bytes.every((byte, at) => at % 2 === odd || byte === 0)));

/** @returns the file's text without a byte order mark and a trailing line break, as editors and `echo` write one */
function readSecretFile(file: string): string {
  try {
    if (statSync(file).size > MAX_SECRET_FILE_BYTES) throw new Invalid(`${file} is too large for a secret.`);
    const bytes = readFileSync(file);
    if (isUtf16(bytes)) throw new Invalid(`${file} is in UTF-16. Save it as UTF-8.`);
    const content = bytes
      .toString()
      .replace(/^\uFEFF/, '')
      .replace(/\r?\n$/, '');
    if (content === '') throw new Invalid(`${file} is empty.`);
    return content;
  } catch (error) {
    if (error instanceof Invalid) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new Invalid(`${file} cannot be read (${reason}). Check the path and who may read it.`);
  }
}

export function createReader(env: Environment): Reader {
  const problems: string[] = [];
  // A blank value counts as unset: compose files and control panels write it so.
  const rawValue = (name: string): string | undefined => {
    const value = env[name];
    return value === undefined || value.trim() === '' ? undefined : value;
  };
  const attempt = <T>(where: string, act: () => T): T | undefined => {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      problems.push(`${where}: ${error.message}`);
      return undefined;
    }
  };
  return {
    problems,
    attempt,
    isSet: (name) => rawValue(name) !== undefined || rawValue(`${name}_FILE`) !== undefined,
    read<N extends VariableName>(name: N): ValueOf<N> | undefined {
      const definition = variables[name];
      const isSecret = 'isSecret' in definition;
      // A secret is not trimmed: a password may start or end with a space.
      const inline = isSecret ? rawValue(name) : rawValue(name)?.trim();
      const file = isSecret ? rawValue(`${name}_FILE`)?.trim() : undefined;
      if (inline !== undefined && file !== undefined) {
        problems.push(`${name}: both ${name} and ${name}_FILE are set. Keep one of them.`);
        return undefined;
      }
      const value = file === undefined ? inline : attempt(`${name}_FILE`, () => readSecretFile(file));
      if (value === undefined) return undefined;
      // The table's entry for `name` parses to ValueOf<name> by definition; TypeScript cannot follow the index.
      const parse = definition.parse as (raw: string) => ValueOf<N>;
      return attempt(file === undefined ? name : `${name}_FILE`, () => parse(value));
    },
  };
}
