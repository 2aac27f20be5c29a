// Packages of npm for the clients that others wrote: the exact versions of a package.json, what these need as it was on one day, so
// that no lock file has to be kept (the registry tells when each version was published).
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Installed, install } from './toolchain.ts';

/** Later than every version that is pinned. Moved on with them. */
const AS_OF = '2026-11-25';

/** @param folder with the package.json @param name in the cache @param programs that the tests need beside npm */
export function installPackages(
  folder: URL,
  name: string,
  programs: readonly string[] = [],
): Promise<Installed> {
  const list = join(fileURLToPath(folder), 'package.json');
  return install({
    name,
    programs: ['npm', ...programs],
    pins: [list, fileURLToPath(import.meta.url)],
    commands: (target) => [
      ['cp', list, target],
      ['npm', 'install', '--before', AS_OF, '--ignore-scripts', '--no-audit', '--no-fund'],
    ],
  });
}
