// What all commands share at the terminal: options and places are read, and whatever a person can mend is said in words, with
// an exit code, and without a stack.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { fixableProblem } from '../src/process/fixable-problem.ts';
import { fileProblem } from './file-problem.ts';

/** An invalid option, argument or path; the message is for the terminal. */
export class UsageError extends Error {}

const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Node's message names the option; what follows is advice about syntax. */
const usageOf = (error: unknown): UsageError => {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return new UsageError(line.replace(/\. To specify a positional argument.*$/, ''));
};

/** @throws UsageError for an unknown option, a missing value, or an argument that is no option */
export function parseFlags<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw usageOf(error);
  }
}

/** Of a command that takes nothing but `--help`. @throws UsageError */
export function isHelpAsked(args: readonly string[]): boolean {
  return parseFlags(args, { help: { type: 'boolean', short: 'h' } }).help === true;
}

/**
 * The arguments of a command without options, in the order of their names.
 * @param usage `npm run backup -- FILE`
 * @returns undefined: `--help` is asked
 * @throws UsageError
 */
export function readPlaces(
  args: readonly string[],
  names: readonly string[],
  usage: string,
): readonly string[] | undefined {
  const options = { help: { type: 'boolean', short: 'h' } } as const;
  const read = () => parseArgs({ args: [...args], options, allowPositionals: true });
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read();
  } catch (error) {
    throw usageOf(error);
  }
  const { values, positionals } = parsed;
  if (values.help === true) return undefined;
  const missing = names.filter((_, at) => (positionals[at] ?? '') === '');
  if (missing.length > 0)
    throw new UsageError(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing: ${usage}`);
  const [extra] = positionals.slice(names.length);
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}': ${usage}`);
  return positionals;
}

/** @throws UsageError */
export function readPort(name: string, text: string, min: 0 | 1): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < min || port > 65_535) {
    throw new UsageError(`${name} must be a number from ${min} to 65535.`);
  }
  return port;
}

type ErrorKind = abstract new (...args: never[]) => Error;

/** @returns what to say, and the exit code; undefined for a bug, which needs its stack */
export function explain(
  error: unknown,
  ends: readonly ErrorKind[] = [],
): readonly [message: string, exitCode: number] | undefined {
  if (error instanceof UsageError) return [`${error.message}\nTry --help.`, EXIT.usage];
  const path = fileProblem(error);
  if (path !== undefined) return [path, EXIT.usage];
  const problem = fixableProblem(error);
  if (problem !== undefined) return [problem, EXIT.failed];
  const isExpected = error instanceof Error && ends.some((kind) => error instanceof kind);
  return isExpected ? [error.message, EXIT.failed] : undefined;
}

/**
 * Runs a command to its end.
 * @param act returns the exit code, where it is not 0
 * @param ends further errors whose message is for the terminal
 */
export async function runCommand(
  act: () => Promise<number | undefined> | number | undefined,
  ends: readonly ErrorKind[] = [],
): Promise<void> {
  try {
    process.exitCode = (await act()) ?? EXIT.done;
  } catch (error) {
    const said = explain(error, ends);
    if (said === undefined) throw error;
    const [message, exitCode] = said;
    console.error(message);
    process.exitCode = exitCode;
  }
}
