// Kinds of values: what each takes, makes of it, and refuses. Those of texts that settings have are in test/settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kind } from '../../src/model/kind.ts';
import { choice, flag, integer, seconds } from '../../src/model/kinds.ts';
import { list } from '../../src/model/list-kinds.ts';
import { email, smtpUrl } from '../../src/model/mail-kinds.ts';
import { color, link, matching, paragraphs, phone, text, url } from '../../src/model/text-kinds.ts';
import { birthdate, locale, time, zone } from '../../src/model/time-kinds.ts';
import { domains, origins, realms } from '../../src/model/word-kinds.ts';
import { Phrase } from '../../src/phrase.ts';

/** Each with values that it takes, what it makes of them where that differs, and values that it refuses. */
const kinds: Readonly<
  Record<string, readonly [Kind<unknown>, readonly (readonly [unknown, unknown?])[], readonly unknown[]]>
> = {
  flag: [flag, [[true], [false]], ['true', 1, null]],
  integer: [integer(2, 5), [[2], [5]], [1, 6, 2.5, '3', Number.NaN]],
  seconds: [seconds(2, 5), [[2]], [1]],
  choice: [choice({ a: 'A', b: 'B' }), [['a']], ['c', 'toString', ['a'], null]],
  text: [text(1, 3), [[' a ', 'a'], ['äöü']], ['', ' ', 'abcd', 'a\nb', 'a\u202eb', 'a\ud800', 1]],
  paragraphs: [paragraphs(5), [[''], ['a\r\nb']], ['abcdef', 'a\tb', 1]],
  matching: [matching('^[a-z]+$', 3, 'Must be letters.'), [['abc']], ['abcd', 'A', '', 1]],
  url: [url, [[''], ['https://a.example/x?y#z']], ['javascript:1', 'https://u:p@a', 'https://a b', 1]],
  link: [link, [[''], [' https://ä.example ', 'https://ä.example']], ['data:1', 'https://a b', 1]],
  color: [color, [['#AABBCC', '#aabbcc']], ['#abc', 'red', 1]],
  phone: [phone, [[''], ['+41 44 123 45 67']], ['12', 'call me', 1]],
  email: [email, [[''], ['a@example.com']], ['a', 'A <a@example.com>', 1]],
  smtpUrl: [smtpUrl, [[''], ['smtps://u:p@mail.example.com:465']], ['https://a', 1]],
  domains: [domains, [[''], ['A.example, *.b.example', 'a.example *.b.example']], ['a@b', '%41.example', 1]],
  origins: [
    origins,
    [[''], ['https://a.example  https://b.example', 'https://a.example https://b.example']],
    ['http://a', 'https://a/', 1],
  ],
  realms: [realms, [[''], ['a,b a', 'a b']], ['a/b', '.', 1]],
  time: [
    time,
    [
      ['1970-01-01T00:00:01Z', 1000],
      ['1970-01-01t01:00:00.5+01:00', 500],
      ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ],
    ['2027-13-01T00:00:00Z', '2027-01-01', '2027-01-01T00:00:00Z[UTC]', 5],
  ],
  birthdate: [birthdate, [[''], ['0000-02-29'], ['1990']], ['1990-02-30', '1.2.1990', 5]],
  zone: [zone, [[''], ['Europe/Zurich']], ['Mars/Base', 5]],
  locale: [locale, [[''], ['de-CH'], ['en_US']], ['!', 5]],
  list: [
    list({
      maxItems: 2,
      maxLength: 3,
      problem: 'Must be a list of names.',
      isSet: true,
      why: (one) => (one === 'bad' ? 'must be good' : undefined),
      whys: ['must be good'],
    }),
    [[['b', 'a', 'b'].slice(1), ['a', 'b']]],
    [['a', 'b', 'c'], ['abcd'], ['bad'], 'a', [1]],
  ],
};

/** @returns whether one of the problems that the kind names says this, alone or of an entry */
const says = ({ problems }: Kind<unknown>, said: string): boolean =>
  problems.some((one) => said.includes(String(one)));

for (const [kindName, [kind, taken, refused]] of Object.entries(kinds)) {
  test(`kind ${kindName}: takes, makes and refuses`, () => {
    for (const [given, made = given] of taken) assert.deepEqual(kind.parse(given), { value: made });
    for (const given of refused) {
      const parsed = kind.parse(given);
      assert.ok('problem' in parsed, `${JSON.stringify(given)} is refused`);
      assert.ok(says(kind, parsed.problem), `${parsed.problem} is among its problems`);
    }
  });
}

test('kinds: a form gives back what it shows', () => {
  const pairs: readonly (readonly [Kind<unknown>, string, unknown])[] = [
    [flag, 'on', true],
    [flag, '', false],
    [seconds(1, 100), '60', 60],
    [seconds(1, 100), 'soon', 'soon'],
    [list({ maxItems: 3, maxLength: 9, problem: 'Must be a list.' }), ' a\r\n\r\nb ', ['a', 'b']],
  ];
  for (const [kind, typed, value] of pairs) assert.deepEqual(kind.typed?.(typed), value);
  assert.equal(choice({ a: 'An A' }).shown?.('a'), 'An A');
  assert.equal(time.sent?.(1000), '1970-01-01T00:00:01.000Z');
});

test('kinds: problems with values keep them apart from the text', () => {
  const [problem] = integer(1, 5).problems;
  assert.ok(problem instanceof Phrase && problem.key === 'Must be a whole number from {a} to {b}.');
});
