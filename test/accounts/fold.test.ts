// How names are folded for comparison.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fold, hasControlCharacter, hasHiddenCharacter } from '../../src/model/users/fold.ts';

const spellings: readonly (readonly [string, readonly string[]])[] = [
  ['straße', ['STRASSE', 'Straße', 'STRAẞE', 'strasse', ' Straße ', 'ｓｔｒａｓｓｅ']],
  ['istanbul', ['ISTANBUL', 'İSTANBUL', 'ıstanbul', 'İstanbul'.normalize('NFD'), 'istanbul\u3000']],
  ['zoë', ['ZOË', 'Zoe\u0308', 'zoë'.normalize('NFKD')]],
  ['οδυσσευς', ['ΟΔΥΣΣΕΥΣ', 'Οδυσσευς', 'οδυσσευσ']],
  ['ﬁsh', ['FISH', 'fish', 'ﬁSH']],
  ['kelvin', ['\u212aelvin', 'KELVIN']],
];

test('name folding: every spelling of a name has one key', () => {
  for (const [name, variants] of spellings) {
    for (const variant of variants) assert.equal(fold(variant), fold(name), JSON.stringify(variant));
  }
});

test('name folding: different names keep different keys', () => {
  const names = ['alice', 'alicia', 'al1ce', 'àlice', 'alice2', 'али́са'];
  assert.equal(new Set(names.map(fold)).size, names.length);
});

test('name folding: stable over repetition, letter case and Unicode normal form', () => {
  const samples: string[] = [];
  for (let code = 0; code < 0x1_0000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    samples.push(String.fromCodePoint(code), `a${String.fromCodePoint(code)}\u0307`);
  }
  for (const sample of samples) {
    const key = fold(sample);
    assert.equal(fold(key), key, JSON.stringify(sample));
    for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
      assert.equal(fold(sample.normalize(form)), key, JSON.stringify([form, sample]));
    }
  }
});

test('name folding: invisible characters are detected', () => {
  const invisible = [
    '\u200b',
    '\u200d',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\ufe0f',
    '\0',
    '\u{e0041}',
  ];
  for (const character of invisible) {
    assert.equal(hasHiddenCharacter(`ali${character}ce`), true, character.codePointAt(0)?.toString(16) ?? '');
  }
  assert.equal(hasHiddenCharacter('Zoë-Müller.李'), false);
  for (const character of ['\r', '\n', '\u202e', '\u2028', '\ud800']) {
    assert.equal(hasControlCharacter(`a${character}b`), true);
  }
  // Persian and Indic names need the joiners, which a profile may have.
  assert.equal(hasControlCharacter('می\u200cخواهم'), false);
});
