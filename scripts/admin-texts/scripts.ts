// The texts of the scripts of the Admin UI.
import { textsOfScripts } from '../../src/views/translate/script-texts.ts';
import type { Found } from './sources.ts';

export const textsOfAssets = (root: URL): Found[] =>
  textsOfScripts(new URL('templates/assets/', root)).map(({ text, file }) => ({
    text,
    at: `templates/assets/${file}`,
  }));
