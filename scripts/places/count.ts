// In how many places a fact is said: in which product files a name occurs, outside of comments. Every layer that lists the fields
// again is one more that a change has to find.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelRows } from '../model-rows.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'adapters', 'interactions', 'templates', 'scripts'];
/** Texts in all languages, and the list of ceilings' own script. */
const LEFT_OUT = /^(?:templates\/(?:strings|assets\/vendor)|scripts\/places)\//;
const READ = /\.(?:ts|js|njk|json|sh|css|md|txt|svg)$/;

function withoutComments(path: string, text: string): string {
  if (path.endsWith('.njk')) return text.replaceAll(/\{#[\s\S]*?#\}/g, '');
  if (!/\.(?:ts|js)$/.test(path)) return text;
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[^:\\'"`/])\/\/[^\n]*/g, '$1');
}

interface ProductFile {
  /** Relative to the project. */
  readonly path: string;
  readonly code: string;
}

const productFiles: readonly ProductFile[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => READ.test(path) && !LEFT_OUT.test(path))
    .sort()
    .map((path) => ({ path, code: withoutComments(path, readFileSync(join(root, path), 'utf8')) })),
);

const places = new Map<string, string[]>();
for (const { path, code } of productFiles)
  for (const word of new Set(code.match(/[A-Za-z_$][\w$]*/g))) {
    const known = places.get(word);
    if (known === undefined) places.set(word, [path]);
    else known.push(path);
  }

/** @returns the files in which the name is a word of the code, of a text or of a template */
export const placesOf = (name: string): readonly string[] => places.get(name) ?? [];

const rows = new Map<string, Set<string>>();
for (const { name, row, file } of modelRows)
  for (const said of [name, row.stored?.split('.').at(-1) ?? name])
    rows.set(said, new Set([...(rows.get(said) ?? []), file]));

/** @returns those beside the files that have a row of the name: several resources may have one */
const rulesOf = (name: string): readonly string[] =>
  placesOf(name).filter((path) => rows.get(name)?.has(path) !== true);

type Rooms = ReadonlyMap<string, number>;

/** A folder of src, or one beside it. */
const roomOf = (path: string): string => path.replace(/^src\/([^/]+).*/, '$1').replace(/^(\w+)\/.*/, '/$1');

/** @returns how many of those are in which room */
export const roomsOf = (name: string): Rooms =>
  new Map(
    Object.entries(Object.groupBy(rulesOf(name), roomOf)).map(([room, files = []]) => [room, files.length]),
  );

/** Which rooms have rules that name a fact, as test/model/places.txt lists them: `name room room:2`, where two files do. */
export const rulesIn = (text: string): ReadonlyMap<string, Rooms> =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name = '', ...rooms]) => [
        name,
        new Map(
          rooms.map((room) => room.split(':')).map(([room = '', count = '1']) => [room, Number(count)]),
        ),
      ]),
  );

export const lineOf = (name: string, rooms: Rooms): string =>
  [
    name,
    ...[...rooms]
      .filter(([, count]) => count > 0)
      .map(([room, count]) => (count > 1 ? `${room}:${count}` : room)),
  ].join(' ');

/** A name of several words: one that is a word of English (`profile`, `scope`) cannot be counted so. */
export const isTelling = (name: string): boolean => /[a-z0-9](?:_|[A-Z])/.test(name);

const AMR = /'(?:pwd|otp|hwk|swk)'|\bamr\b[^\n]*'mfa'|'mfa'[^\n]*\bamr\b/;

/** @returns the files in which a value of `amr` (RFC 8176) is written out; `mfa` as a word of paths and pages is none */
export const placesOfAmr = (): readonly string[] =>
  productFiles.filter(({ code }) => AMR.test(code)).map(({ path }) => path);
