// Reads the Markdown documents of the repository: their headings' anchors and their links.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const notOurs = /(?:^|\/)(?:node_modules|\.git|data|test-results)(?:\/|$)/;

/** Relative to the repository, with forward slashes, sorted. */
export const markdownFiles: readonly string[] = [
  '',
  'docs',
  'test',
  'scripts',
  'src',
  'adapters',
  'templates',
]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== '', withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
  )
  .filter((path) => !notOurs.test(path))
  .sort();

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** As GitHub makes them: lower case, without punctuation, blanks to hyphens, repetitions numbered. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const withoutCode = markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '');
  for (const [, heading = ''] of withoutCode.matchAll(/^#{1,6} (.+)$/gm)) {
    const base = heading
      .trim()
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

export interface Link {
  readonly text: string;
  readonly target: string;
}

export const linksOf = (markdown: string): Link[] =>
  // Not in fenced code.
  [...markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/(?<!`)\[([^\]\n]*)\]\(([^()\s]+)\)/g)].map(
    ([, text = '', target = '']) => ({ text, target }),
  );
