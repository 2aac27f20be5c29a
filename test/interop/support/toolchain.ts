// What clients of other languages need on this machine: programs, and packages that are installed once, outside of the
// repository, as their pinned lists (requirements.txt, go.sum, Cargo.lock …) say. What is missing makes tests skip, with a reason
// that the end of `npm run test:interop` repeats.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const INSTALL_LIMIT_MS = 900_000;

/** The options of a test: `test('…', need('go'), async () => …)`. */
export interface Need {
  /** Why it cannot run here. */
  readonly skip: string | false;
}

/** A folder for packages of this name; it may not be there yet. */
export const cache = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'latchkey-interop', name);

function skipFor(reason: string): Need {
  const { NOT_RUN_LIST: list } = process.env;
  const file = relative(ROOT, process.argv[1] ?? '');
  if (list) appendFileSync(list, `${file}: ${reason}\n`);
  return { skip: reason };
}

const isHere = (program: string): boolean =>
  isAbsolute(program)
    ? existsSync(program)
    : (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** Skips where one of these programs is not on PATH, or not there, if it is a whole path. */
export function need(...programs: readonly string[]): Need {
  const missing = programs.filter((program) => !isHere(program));
  return missing.length === 0 ? { skip: false } : skipFor(`${missing.join(', ')} not on this machine`);
}

export interface Installed extends Need {
  readonly folder: string;
}

export interface Installation {
  /** The folder's name in the cache. */
  readonly name: string;
  readonly programs: readonly string[];
  /** Pinned lists; when one of them changes, all is installed anew. */
  readonly pins: readonly string[];
  /** Run one after the other in the folder, which is empty. */
  readonly commands: (folder: string) => readonly (readonly [command: string, ...args: string[]])[];
}

/** That no registry can be reached is a reason to skip; everything else is a mistake in the pinned list. */
const offline =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|no such host|Could not resolve|Unknown host|unreachable|failure in name resolution/i;

export async function install({ name, programs, pins, commands }: Installation): Promise<Installed> {
  const folder = cache(name);
  const here = need(...programs);
  if (here.skip !== false) return { ...here, folder };
  const hash = createHash('sha256');
  for (const file of pins) hash.update(readFileSync(file));
  const pinned = hash.digest('hex');
  const stamp = join(folder, '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pinned) return { skip: false, folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [command, ...args] of commands(folder)) {
    process.stderr.write(`installing ${name}: ${command} ${args.join(' ')}\n`);
    const options = { cwd: folder, encoding: 'utf8', timeout: INSTALL_LIMIT_MS } as const;
    const { status, stdout, stderr } = spawnSync(command, args, options);
    if (status === 0) continue;
    const output = `${stdout}\n${stderr}`.trim();
    if (!offline.test(output)) throw new Error(`${name} is not installed: ${output.slice(-4000)}`);
    return { ...skipFor(`${name} cannot be installed without its registry`), folder };
  }
  writeFileSync(stamp, pinned);
  return { skip: false, folder };
}
