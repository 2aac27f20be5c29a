// What is wrong with a field is said in the page's language, although the accounts say it in English, as the API does.
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { passwordProblems } from '../../src/accounts/passwords/password-rules.ts';
import { phone } from '../../src/model/text-kinds.ts';
import { parseUsername } from '../../src/model/users/username.ts';
import { languages, loadStrings } from '../../src/views/strings.ts';

const strings = loadStrings(new URL('../../templates/strings/', import.meta.url));

const rules = { minLength: 8, username: 'ada.lovelace', email: 'countess@ockham.example' };
const passwords = [
  'short',
  'x'.repeat(3000),
  'ada.lovelace!',
  'the countess',
  'ockham2026!',
  'abcdefgh',
  'password123',
];
const usernames = ['a', 'a'.repeat(65), 'a\u202eb', 'two words', '...', 'ada@'];

const said = (): string[] => [
  ...passwords.map((password) => passwordProblems(password, rules).join(' ')),
  passwordProblems('latchkey', { ...rules, username: 'latchkey', contextWords: ['Latchkey'] }).join(' '),
  ...usernames.map((name) => {
    const parsed = parseUsername(name);
    return 'problem' in parsed ? parsed.problem : '';
  }),
  ...[phone.parse('12')].map((parsed) => ('problem' in parsed ? parsed.problem : '')),
];

test('problems of fields: each is translated, several of one password one after the other', () => {
  deepEqual(
    said().filter((text) => text === ''),
    [],
    'each value is refused',
  );
  for (const text of said()) {
    equal(strings.problem('en', text), text);
    for (const language of languages.filter((one) => one !== 'en')) {
      const translated = strings.problem(language, text);
      notEqual(translated, undefined, `${language}: ${text}`);
      notEqual(translated, text, language);
    }
  }
  equal(strings.problem('de', 'Must have 3 to 64 characters.'), 'Nötig sind 3 bis 64 Zeichen.');
  equal(
    strings.problem('ja', 'Must not contain the username. Must not be a simple repetition or sequence.'),
    'ユーザー名を含めることはできません。単純な繰り返しや連続した文字は使えません。',
  );
});

test('problems of fields: other sentences stay as they are, also beside one that is known', () => {
  equal(strings.problem('de', 'Must be something else.'), undefined);
  equal(strings.problem('de', 'Must not contain the username. Must be something else.'), undefined);
  equal(strings.problem('de', ''), undefined);
});
