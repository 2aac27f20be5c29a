// The texts of the templates, found by the very code that translates them.
import { readdirSync, readFileSync } from 'node:fs';
import { isTranslated } from '../../src/views/translate/languages.ts';
import { createTranslator } from '../../src/views/translate/translate.ts';
import { isWordy } from '../../src/views/translate/words.ts';
import type { Found } from './sources.ts';

const FOLDERS = ['admin', 'partials'];

export function textsOfTemplates(root: URL): Found[] {
  const found: Found[] = [];
  for (const folder of FOLDERS)
    for (const file of readdirSync(new URL(`templates/${folder}/`, root))) {
      const at = `templates/${folder}/${file}`;
      if (!isTranslated(`${folder}/${file}`)) continue;
      const translate = createTranslator({
        find(text) {
          if (isWordy(text.replace(/<\/?\d+>|\{\w\}/g, ''))) found.push({ text, at });
          return undefined;
        },
      });
      translate(readFileSync(new URL(at, root), 'utf8'));
    }
  return found;
}
