// The packages of more/, installed once outside of the repository.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../support/toolchain.ts';

export const MORE = fileURLToPath(new URL('more/', import.meta.url));
const pins = ['package.json', 'package-lock.json'].map((name) => join(MORE, name));

export const installed = await install({
  name: 'node',
  programs: ['npm'],
  pins,
  commands: (folder) => [
    ['cp', ...pins, folder],
    ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
  ],
});
