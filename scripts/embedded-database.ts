// Where the embedded database is that a command is about.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '../src/errors.ts';

/** @returns the file in DATA_DIR, whether it is there or not */
export const embeddedFile = (): string =>
  join(resolve(process.env.DATA_DIR?.trim() || './data'), 'latchkey.db');

/** Asked before the configuration is read, which makes a key for a new installation: a mistyped DATA_DIR is none. */
export function findEmbedded(): string {
  const file = embeddedFile();
  if (existsSync(file)) return file;
  throw new OperatorError(`There is no database at ${file}. Set DATA_DIR to the folder where it is.`);
}

/** Whether everything is in MongoDB instead. */
export const isOnMongo = (): boolean => Boolean(process.env.MONGODB_URI || process.env.MONGODB_URI_FILE);
