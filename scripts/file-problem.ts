// Errors of the file system in words: which path, what is wrong with it, and what to do. And what is asked of a path before long
// work, not after it.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A path that cannot be used; the message is for the terminal. */
export class PathError extends Error {}

const PROBLEMS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `${path} does not exist. Check the path.`,
  EACCES: (path) => `This user may not use ${path}. Change its permissions, or choose another path.`,
  EPERM: (path) => `This user may not use ${path}. Change its permissions, or choose another path.`,
  EROFS: (path) => `${path} is where nothing can be written. Choose another path.`,
  ENOTDIR: (path) => `A part of the path ${path} is a file, not a folder. Choose another path.`,
  EISDIR: (path) => `${path} is a folder, and a file is needed. Choose another path.`,
  EEXIST: (path) => `${path} exists already. Choose another path.`,
  ENAMETOOLONG: (path) => `${path.slice(0, 60)}… is too long a path. Choose another one.`,
  ENOSPC: (path) => `There is no space left for ${path}. Free some, or choose another path.`,
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** @returns what to tell the person; undefined for what is no error about a path */
export function fileProblem(error: unknown): string | undefined {
  if (error instanceof PathError) return error.message;
  if (!(error instanceof Error && 'path' in error && typeof error.path === 'string')) return undefined;
  return PROBLEMS[codeOf(error)]?.(error.path);
}

/** @throws PathError for an error of writing to the path; any other error as it is */
function throwWritten(path: string, error: unknown): never {
  const code = codeOf(error);
  const folder = dirname(resolve(path));
  if (code === 'ENOENT')
    throw new PathError(
      existsSync(folder)
        ? `Nothing can be created at ${path}. Choose another path.`
        : `There is no folder ${folder}. Create it, or choose another path.`,
    );
  const problem = PROBLEMS[code]?.(path);
  throw problem === undefined ? error : new PathError(problem);
}

/** @throws PathError where no file can be written there; an existing one stays as it is */
export function assertWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throwWritten(path, error);
  }
}

/** @throws PathError where no new file can be created */
export function assertCreatable(path: string): void {
  try {
    closeSync(openSync(path, 'wx'));
    rmSync(path);
  } catch (error) {
    throwWritten(path, error);
  }
}

/**
 * Creates a folder with those that it is in. Node's `recursive` never returns where nothing can be created, such as in /proc.
 * @throws PathError
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; !existsSync(at); at = dirname(at)) missing.unshift(at);
  if (!statSync(at).isDirectory())
    throw new PathError(`${at} is a file, and a folder is needed. Choose another path.`);
  for (const folder of missing) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      throwWritten(folder, error);
    }
  }
}

/** @throws PathError where there is no file that can be read */
export function assertReadable(path: string): void {
  try {
    closeSync(openSync(path, 'r'));
  } catch (error) {
    const problem = PROBLEMS[codeOf(error)]?.(path);
    throw problem === undefined ? error : new PathError(problem);
  }
  if (statSync(path).isDirectory()) throw new PathError(PROBLEMS.EISDIR?.(path) ?? path);
}

/** @throws PathError where there is no file to read */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const problem = PROBLEMS[codeOf(error)]?.(path);
    throw problem === undefined ? error : new PathError(problem);
  }
}
