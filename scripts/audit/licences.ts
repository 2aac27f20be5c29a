// Licences that production packages may have: permissive ones without duties beyond attribution.

const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

/** libvips, a shared library in packages of its own that sharp loads: what the licence asks of those who only use it (§4) is met. */
const ALLOWED_FOR: readonly (readonly [name: RegExp, licence: string])[] = [
  [/^@img\/sharp-/, 'LGPL-3.0-or-later'],
];

const mayHave = (name: string, licence: string): boolean =>
  ALLOWED.has(licence) || ALLOWED_FOR.some(([names, one]) => one === licence && names.test(name));

/** SPDX expressions as npm packages use them: `MIT`, `(MIT OR CC0-1.0)`, `MIT AND ISC`. */
const isAllowed = (name: string, expression: string): boolean =>
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => mayHave(name, licence.trim())));

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
}

export interface ForeignLicence {
  readonly name: string;
  readonly licence: string;
}

/** @param lock the text of package-lock.json @returns the number of production packages, and those not allowed */
export function findForeignLicences(lock: string): { count: number; foreign: ForeignLicence[] } {
  const { packages }: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(lock);
  const production = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return {
    count: production.length,
    foreign: production
      .map(([path, { license = 'no licence' }]) => ({
        name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
        licence: license,
      }))
      .filter(({ name, licence }) => !isAllowed(name, licence)),
  };
}
