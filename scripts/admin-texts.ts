// `node scripts/admin-texts.ts`: the English texts of the Admin UI as JSON, each with the files that use it. With a language, those
// that its catalogue (templates/strings/admin/) lacks; with `--tidy` behind it, the catalogue is written anew, in the order of the
// texts and without those that are not used any more. How they are translated: docs/decisions/0036-admin-languages.md.
import { existsSync, writeFileSync } from 'node:fs';
import { readAdminTexts } from '../src/views/translate/catalogue.ts';
import { adminTexts } from './admin-texts/texts.ts';

const [, , language = 'en', option] = process.argv;
const file = new URL(`../templates/strings/admin/${language}.json`, import.meta.url);
const known = existsSync(file) ? readAdminTexts(file) : {};
const texts = [...adminTexts()];
if (option === '--tidy') {
  const kept = texts.flatMap(([text]) => (Object.hasOwn(known, text) ? [[text, known[text]]] : []));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
} else {
  const wanted = texts.filter(([text]) => !Object.hasOwn(known, text));
  console.log(JSON.stringify(Object.fromEntries(wanted), null, 2));
}
