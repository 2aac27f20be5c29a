// The packages of more/, installed once outside of the repository.
import { fileURLToPath } from 'node:url';
import { installPackages } from '../support/packages.ts';

const folder = new URL('more/', import.meta.url);
export const MORE = fileURLToPath(folder);
export const installed = await installPackages(folder, 'node');
