// The Admin UI in one language: a loader that translates its templates as they are compiled, and the functions that these use.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAdminTexts, readAdminTexts } from './catalogue.ts';
import { isTranslated } from './languages.ts';
import { scriptTexts } from './script-texts.ts';
import { createTranslator } from './translate.ts';

type Fill = (key: string, values?: Readonly<Record<string, unknown>>) => string;

/** @param templates the directory; its catalogues are read once */
export function learn(language: string, templates: URL) {
  const file = new URL(`strings/admin/${language}.json`, templates);
  const texts = createAdminTexts(existsSync(file) ? readAdminTexts(file) : {}, language);
  const translate = createTranslator(texts);
  const forScripts = JSON.stringify(scriptTexts(new URL('assets/', templates), texts.find));
  return {
    functions: { said: texts.said, numbered: texts.numbered, formOf: texts.formOf },
    loader: {
      getSource(name: string) {
        const path = new URL(name, templates);
        const source = readFileSync(path, 'utf8');
        return {
          src: isTranslated(name) ? translate(source) : source,
          path: fileURLToPath(path),
          noCache: false,
        };
      },
    },
    say: (text: string): string => String(texts.said(text)),
    texts: (fill: Fill) => ({
      scriptTexts: forScripts,
      t: (key: string, values: Readonly<Record<string, unknown>> = {}) =>
        fill(
          key,
          Object.fromEntries(Object.entries(values).map(([name, value]) => [name, texts.said(value)])),
        ),
    }),
  };
}

export type Learnt = ReturnType<typeof learn>;
