// What pages show of a row is in every catalogue: else it stays English in six languages, and nothing says so.
import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { modelRows } from '../../scripts/model-rows.ts';
import { Phrase } from '../../src/phrase.ts';
import { readAdminTexts } from '../../src/views/translate/catalogue.ts';
import { keyOf } from '../../src/views/translate/words.ts';

const folder = new URL('../../templates/strings/admin/', import.meta.url);
const catalogues = readdirSync(folder).map((name) => [name, readAdminTexts(new URL(name, folder))] as const);

test('rows: each is found once, those of settings among them', () => {
  const names = modelRows.map(({ name, file }) => `${file} ${name}`);
  deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
  for (const name of ['src/model/settings/limits.ts limit_login_ip', 'src/model/settings/mail.ts smtp_url'])
    ok(names.includes(name), name);
});

test('rows: label, hint, choices and problems are in every catalogue', () => {
  const texts = modelRows.flatMap(({ name, row: { label, hint, kind } }) =>
    [label, hint ?? '', ...Object.values(kind.words ?? {}), ...kind.problems]
      .map((text) => (text instanceof Phrase ? text.key : text))
      .filter((text) => /\p{L}/u.test(text))
      .map((text) => ({ name, text })),
  );
  const missing = catalogues.flatMap(([language, known]) =>
    texts
      .filter(({ text }) => !Object.hasOwn(known, keyOf(text)))
      .map(({ name, text }) => `${language}: ${name}: ${text}`),
  );
  ok(catalogues.length >= 6);
  deepEqual(missing, []);
});
