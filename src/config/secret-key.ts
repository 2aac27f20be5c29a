// Owns the data folder and the generated SECRET_KEY in it: made once, readable by the owner alone, the same for all
// processes that start together on one folder; and the keys derived from it.
import { hkdfSync, randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Invalid, secret } from './parsers.ts';

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function readKey(file: string): string | undefined {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    return secret(32)(content);
  } catch (error) {
    // Never replaced by a new one: everything encrypted so far would be lost.
    throw error instanceof Invalid
      ? new Invalid(`${file} ${error.message} Restore it from a backup.`)
      : error;
  }
}

/** Written whole under another name, then linked: a process that finds the file finds all of it. */
function createKey(dataDir: string, file: string): void {
  const draft = join(dataDir, `.secret.key.${process.pid}.${randomBytes(6).toString('hex')}`);
  const handle = openSync(draft, 'wx', 0o600);
  try {
    writeSync(handle, `${randomBytes(32).toString('base64url')}\n`);
    fsyncSync(handle);
    linkSync(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    closeSync(handle);
    unlinkSync(draft);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';

/**
 * Makes the folder (for the owner alone) when it is missing.
 * @throws Invalid when it cannot be made or written to
 */
export function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Invalid(
      `${dataDir} cannot be used (${reasonOf(error)}). Make it a folder this user may write to.`,
    );
  }
}

/**
 * @param dataDir an existing folder
 * @returns the key in `{dataDir}/secret.key`, generated at the first call of the first process
 * @throws Invalid when the file cannot be used
 */
export function generatedSecretKey(dataDir: string): string {
  const file = join(dataDir, 'secret.key');
  try {
    const existing = readKey(file);
    if (existing !== undefined) return existing;
    createKey(dataDir, file);
    const created = readKey(file);
    if (created !== undefined) return created;
    throw new Invalid(`${file} vanished while it was made.`);
  } catch (error) {
    if (error instanceof Invalid) throw error;
    throw new Invalid(`${file} cannot be made or read (${reasonOf(error)}). Mend that, or set SECRET_KEY.`);
  }
}

/**
 * One key per purpose, so that what signs cookies never encrypts (RFC 5869).
 * @param purpose a constant of ours, like `cookies`
 */
export const derivedKey = (secretKey: string, purpose: string): string =>
  Buffer.from(hkdfSync('sha256', secretKey, 'latchkey', purpose, 32)).toString('base64url');
