// Texts with names in them: a name is never a text of ours, never a part of the text around it, and nothing of how it is kept
// apart leaves the server.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { Phrase, type PhraseValue, phrase } from '../../src/phrase.ts';
import { createAdminTexts } from '../../src/views/translate/catalogue.ts';
import { createEnvironment } from '../../src/views/views.ts';

const ENTRIES = {
  Settings: 'Einstellungen',
  Anonymous: 'Anonym',
  yes: 'ja',
  'Delete the group {a}?': 'Die Gruppe {a} löschen?',
  '{a} gave {b} access.': '{b} hat Zugriff von {a} erhalten.',
  '{a} signed in.': '{a} hat sich angemeldet.',
  '{a} deleted the user {b}.': '{a} hat den Benutzer {b} gelöscht.',
  '{a} users in {b}': { one: 'Ein Benutzer in {b}', other: '{a} Benutzer in {b}' },
  'Name: {a}': 'Name: {a}',
};
const german = createAdminTexts(ENTRIES, 'de');
const question = (name: PhraseValue): Phrase => phrase`Delete the group ${name}?`;

test('attack: a name that is a word, a number or a placeholder of ours stays as it is', () => {
  for (const name of [
    ...['Settings', 'yes', '3', '1,000', '{a}', '{b}', '{A}', '{1}', '<1>x</1>', '$&', '$1'],
    ...['', ' Settings ', 'Delete the group x?', '\u202eevil', 'اختبار', '__proto__'],
  ])
    equal(german.said(question(name)), `Die Gruppe ${name} löschen?`, name);
});

test('attack: a name that looks like the rest of a sentence changes nothing but its own place', () => {
  const forged = 'Eve deleted the user Bob';
  // As one plain text it would be the deletion of a user.
  equal(german.said(`${forged} signed in.`), 'Eve hat den Benutzer Bob signed in gelöscht.');
  equal(german.said(phrase`${forged} signed in.`), `${forged} hat sich angemeldet.`);
  equal(german.said(phrase`Name: ${forged}`), `Name: ${forged}`);
  equal(
    german.said(phrase`${'Ada gave Bob access. x'} gave ${'{a}'} access.`),
    '{a} hat Zugriff von Ada gave Bob access. x erhalten.',
  );
});

test('phrase: words of ours and numbers in it are the language’s; only a number chooses a form', () => {
  equal(german.said(question(new Phrase(['Settings']))), 'Die Gruppe Einstellungen löschen?');
  equal(german.said(phrase`${new Phrase(['Anonymous'])} signed in.`), 'Anonym hat sich angemeldet.');
  equal(german.said(phrase`${1} users in ${'2'}`), 'Ein Benutzer in 2');
  equal(german.said(phrase`${12_000} users in ${'1'}`), '12.000 Benutzer in 1');
  equal(german.said(phrase`Name: ${'x'} `), 'Name: x ', 'with the spaces around it');
  equal(german.said(new Phrase(['', ', ', ''], [new Phrase(['yes']), 'yes'])), 'ja, yes');
  equal(german.said(phrase`Not in the catalogue: ${'Settings'}`), 'Not in the catalogue: Settings');
});

test('phrase: in Arabic each name is isolated', () => {
  const arabic = createAdminTexts(
    { 'Delete the group {a}?': 'حذف المجموعة {a}؟', Settings: 'الإعدادات' },
    'ar',
  );
  equal(arabic.said(question('Settings')), 'حذف المجموعة \u2068Settings\u2069؟');
});

test('phrase: outside of pages it is the English text, without a mark', () => {
  const text = question('<Settings> & {a}');
  equal(String(text), 'Delete the group <Settings> & {a}?');
  equal(JSON.stringify({ text }), '{"text":"Delete the group <Settings> & {a}?"}');
  const environment = createEnvironment({ isHtml: true });
  equal(
    environment.renderString('{{ text }}|<p title="{{ text | short }}">', { text }),
    'Delete the group &lt;Settings&gt; &amp; {a}?|<p title="Delete the group &lt;Settings&gt; &amp; {a}?">',
  );
  equal(
    environment.renderString("{{ 'Remove from {a}' | about(name) }}", { name: '{a}' }),
    'Remove from {a}',
  );
});

test('phrase: a template’s text with values is found by its key; a long one is cut', () => {
  const environment = createEnvironment({ isHtml: true });
  environment.addGlobal('said', german.said);
  equal(
    environment.renderString("{{ said('{a} gave {b} access.' | about('Settings', 'yes')) }}", {}),
    'yes hat Zugriff von Settings erhalten.',
  );
  equal(
    environment.renderString('{{ said(text | short) }}', { text: question('Settings') }),
    'Die Gruppe Settings löschen?',
  );
  const long = environment.renderString('{{ said(text | short) }}', { text: question('x'.repeat(700)) });
  equal(long.length, 600);
});

test('phrase: its key has a letter for each value, in their order', () => {
  deepEqual(
    [phrase`a`.key, phrase`${1}${'b'}`.key, phrase`x ${'{a}'} y ${'z'}`.key],
    ['a', '{a}{b}', 'x {a} y {b}'],
  );
});
