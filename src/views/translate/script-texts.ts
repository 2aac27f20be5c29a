// The texts of the Admin UI's scripts: `say('Live view paused')`, with values as `say('{a} new events', count)`.
import { readFileSync } from 'node:fs';
import type { Translation } from './words.ts';

/** The scripts that only the Admin UI loads. */
const FILES = [
  'admin.js',
  'admin-branding.js',
  'admin-files.js',
  'admin-uris.js',
  'audit.js',
  'comfort.js',
  'import.js',
];
const SAID = /\bsay\(\s*'((?:[^'\\\n]|\\.)+)'/g;

/** @param assets the directory */
export const textsOfScripts = (assets: URL): { readonly text: string; readonly file: string }[] =>
  FILES.flatMap((file) =>
    [...readFileSync(new URL(file, assets), 'utf8').matchAll(SAID)].map(([, text = '']) => ({
      text: text.replace(/\\(.)/g, '$1'),
      file,
    })),
  );

/** @returns what is translated of them */
export const scriptTexts = (
  assets: URL,
  find: (key: string) => Translation | undefined,
): Readonly<Record<string, Translation>> =>
  Object.fromEntries(
    textsOfScripts(assets).flatMap(({ text }) => {
      const found = find(text);
      return found === undefined ? [] : [[text, found]];
    }),
  );
