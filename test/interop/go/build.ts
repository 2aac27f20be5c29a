// Go programs are built in the cache, from the versions in their go.mod and go.sum.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Installed, install } from '../support/toolchain.ts';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * @param name the folder with go.mod
 * @param program a program of one of its modules; without it our own, main.go
 */
export async function built(
  name: string,
  program?: string,
): Promise<Installed & { readonly program: string }> {
  const lists = [source(`${name}/go.mod`), source(`${name}/go.sum`)];
  const installed = await install({
    name: `go-${name}`,
    programs: ['go'],
    pins: program === undefined ? [...lists, source(`${name}/main.go`)] : lists,
    commands: (folder) => [
      // A module cache that is read-only could not be removed by its owner.
      ['go', 'build', '-C', source(name), '-modcacherw', '-o', join(folder, 'program'), program ?? '.'],
    ],
  });
  return { ...installed, program: join(installed.folder, 'program') };
}
