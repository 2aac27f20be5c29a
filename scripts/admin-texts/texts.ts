// All English texts of the Admin UI: the keys of its catalogues (templates/strings/admin/).
import { fileURLToPath } from 'node:url';
import { keyOf } from '../../src/views/translate/words.ts';
import { derivedTexts } from './derived.ts';
import { textsOfRows } from './rows.ts';
import { textsOfAssets } from './scripts.ts';
import { textsOfSources } from './sources.ts';
import { textsOfTemplates } from './templates.ts';

/** @returns where each of them is used */
export function adminTexts(): ReadonlyMap<string, readonly string[]> {
  const root = new URL('../../', import.meta.url);
  const texts = new Map<string, string[]>();
  const found = [
    ...textsOfTemplates(root),
    ...textsOfSources(fileURLToPath(root)),
    ...textsOfAssets(root),
    ...textsOfRows(),
    ...derivedTexts(),
  ];
  for (const { text, at } of found) {
    const key = keyOf(text);
    const places = texts.get(key) ?? [];
    if (!places.includes(at)) places.push(at);
    texts.set(key, places);
  }
  return texts;
}
