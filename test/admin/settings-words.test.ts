// Settings in words: each has a name of its own, and durations are a number with a unit.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import {
  durationIn,
  durationOf,
  durationUnits,
  secondsIn,
  secondsOf,
} from '../../src/admin/pages/durations.ts';
import { labelOf, sentence } from '../../src/admin/resources/settings/words.ts';
import { settingKeys, settingRow } from '../../src/model/settings/settings.ts';

test('settings: each has a name in words, unlike every other, and no key in what it does', () => {
  const names = settingKeys.map(labelOf);
  equal(new Set(names).size, settingKeys.length);
  for (const key of settingKeys) {
    const named = labelOf(key);
    match(named, /^[A-Z]/);
    doesNotMatch(named, /_|\b(?:min|url|mfa|auth|signup|seconds)\b/i, key);
    ok(named.split(' ').length > 1, key);
    const told = sentence({ key, description: settingRow(key).description });
    doesNotMatch(told, /`|in seconds/, key);
    for (const other of settingKeys.filter((one) => one.includes('_')))
      ok(!told.includes(`“${other}”`), `${key} quotes ${other}`);
  }
});

test('durations: the longest unit that leaves no rest, and back', () => {
  for (const [seconds, amount, unit] of [
    ['0', '0', '1'],
    ['45', '45', '1'],
    ['90', '90', '1'],
    ['900', '15', '60'],
    ['5400', '90', '60'],
    ['14400', '4', '3600'],
    ['86400', '1', '86400'],
    ['2592000', '30', '86400'],
  ] as const) {
    deepEqual(durationOf(seconds), { amount, unit });
    equal(secondsOf({ amount, unit }), seconds);
  }
  // What is no such number stays as it is: the API names the field.
  for (const amount of ['', 'soon', '-1', '1.5', '1e3', '9999999999']) {
    equal(secondsOf({ amount, unit: '60' }), amount);
    equal(durationOf(amount).unit === '1' || amount === '9999999999', true);
  }
  equal(secondsOf({ amount: '5', unit: '7' }), '5');
  deepEqual(
    durationUnits.map(({ label }) => label),
    ['seconds', 'minutes', 'hours', 'days'],
  );
});

test('durations in forms: by their unit, in seconds where there is none, and shown as typed', () => {
  const form: Record<string, string> = { a: '15', 'unit.a': '60', b: '90', c: '', 'unit.c': '3600' };
  const textIn = (name: string) => form[name];
  deepEqual(
    ['a', 'b', 'c', 'absent'].map((name) => secondsIn(textIn, name)),
    ['900', '90', '', ''],
  );
  deepEqual(durationIn({ a: '900', 'unit.a': '1' }, 'a'), { amount: '900', unit: '1' });
  deepEqual(durationIn({ a: 900 }, 'a'), { amount: '15', unit: '60' });
  deepEqual(durationIn({ a: '' }, 'a'), { amount: '', unit: '60' });
});
