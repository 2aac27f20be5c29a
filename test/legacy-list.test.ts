// Holds the list of src/oidc/legacy/index.ts true: which files go with that folder when the legacy profile is deleted, and which
// have lines of it. A file has some when it says so: in the profile's name, or in the wire names that nothing else uses.
import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const door = 'src/oidc/legacy/index.ts';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('src/oidc/legacy/'));

const OF_CODE = /legacy|front-?channel|session management|check_session|request_uris|request_object_signing/i;
const places: readonly (readonly [names: RegExp, files: readonly string[]])[] = [
  [OF_CODE, [...['src', 'interactions', 'adapters', 'templates', 'scripts'].flatMap(filesIn), 'biome.json']],
  [/legacy|front-?channel/i, [...filesIn('docs'), 'README.md']],
  [/legacy/i, filesIn('test')],
];

/** `// - folder/: names`, where the names may go on in the next lines. @param heading how the part begins */
function listed(heading: string): string[] {
  const [, part = ''] = read(door).split(`// ${heading}`);
  const [entries = ''] = part.slice(part.indexOf('\n') + 1).split(/\n(?!\/\/ (?:- | ))/, 1);
  return entries.split(/^\/\/ - /m).flatMap((entry) => {
    const [folder = '', names = ''] = entry.split(':', 2);
    return names
      .replaceAll('//', ' ')
      .split(/\s+/)
      .filter(Boolean)
      .map((name) => `${folder === '.' ? '' : folder}${name}`);
  });
}

const whole = listed('Deleted with this folder');
const lines = listed('Have lines of it');

test('legacy: the list for its deletion names every file with a trace of it, and no other', () => {
  const found = places.flatMap(([names, files]) => files.filter((path) => names.test(read(path))));
  const [known, marked] = [[...whole, ...lines], new Set(found)];
  deepEqual(
    [
      ...found
        .filter((path) => !known.includes(path))
        .map((path) => `${path}: has a trace, and is not listed`),
      ...known.filter((path) => !marked.has(path)).map((path) => `${path}: is listed, and has no trace`),
      ...known.filter((path, at) => known.indexOf(path) !== at).map((path) => `${path}: is listed twice`),
    ],
    [],
    `the list is in ${door}`,
  );
});

test('legacy: a file named after it goes as a whole, and listed files alone import it', () => {
  deepEqual(
    lines.filter((path) => basename(path).includes('legacy')),
    [],
  );
  ok(whole.length > 10 && lines.length > whole.length);
  const known = new Set([...whole, ...lines]);
  const names = whole.filter((path) => path.startsWith('src/')).map((path) => basename(path));
  const imported = new RegExp(`from '[^']*/(?:${names.join('|')}|legacy/index\\.ts)'`);
  deepEqual(
    ['src', 'interactions', 'scripts', 'test']
      .flatMap(filesIn)
      .filter((path) => path.endsWith('.ts') && imported.test(read(path)) && !known.has(path)),
    [],
  );
});
