// Failures of a start that are no bugs of ours, in words for whoever starts it: what is wrong, where, and how to fix it.
import type { Config } from '../config/types.ts';
import { OperatorError } from '../errors.ts';
import { StoreUnavailable } from '../store/port.ts';

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** By how the adapters begin their messages. */
const STORE_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^MongoDB cannot be reached/, 'Is it running, and is MONGODB_URI right?'],
  [/^Redis .*cannot be reached/, 'Is it running, and is REDIS_URL right?'],
  [
    /file is not a database|malformed/,
    'Restore the file from a backup, or set DATA_DIR to another folder; nothing was changed.',
  ],
  [/readonly|unable to open|permission/i, 'Let this user write to the folder and to every file in it.'],
  [/disk is full|ENOSPC/i, 'Free some space there.'],
  // Also what a full disk says where not even the files beside the database can be made.
  [
    /disk I\/O error/i,
    'Is there space left on that disk, and is it whole? The log of the system may say more.',
  ],
];

/** @returns what to tell the operator; undefined for a bug, which needs its stack */
export function fixableProblem(error: unknown): string | undefined {
  if (error instanceof OperatorError) return error.message;
  if (!(error instanceof StoreUnavailable)) return undefined;
  const [, advice] = STORE_ADVICE.find(([begins]) => begins.test(error.message)) ?? [];
  return advice === undefined ? error.message : `${sentence(error.message)} ${advice}`;
}

const noSuchHost = ({ host }: Pick<Config, 'host'>): string =>
  `HOST=${host} is no address of this machine. Leave HOST out to listen on all of them.`;

const LISTEN: Readonly<Record<string, (config: Pick<Config, 'host' | 'port'>) => string>> = {
  EADDRINUSE: ({ port }) =>
    `Port ${port} is in use. Stop the program that uses it, or set PORT to another one.`,
  EACCES: ({ port }) => `Port ${port} may not be used by this user. Set PORT to one from 1024 on.`,
  EADDRNOTAVAIL: noSuchHost,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

/** @returns why the server cannot listen there; undefined for what nobody expected */
export function listenProblem(error: unknown, config: Pick<Config, 'host' | 'port'>): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return LISTEN[code]?.(config);
}
