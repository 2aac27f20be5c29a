// Reading options from the command line, with errors for the terminal.
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** An invalid option; the message is for the terminal. */
export class UsageError extends Error {}

/** @throws UsageError for an unknown option or a missing value */
export function parseFlags<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's message names the option; its further lines are advice about syntax.
    throw new UsageError(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

/** @throws UsageError */
export function readPort(name: string, text: string, min: 0 | 1): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < min || port > 65_535) {
    throw new UsageError(`${name} must be a number from ${min} to 65535.`);
  }
  return port;
}
