// How templates of the Admin UI are translated: which texts they have, what a translation makes of them, what is left alone,
// and how texts with values are found when a page is rendered.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createAdminTexts, valuesIn } from '../../src/views/translate/catalogue.ts';
import { textsOf } from '../../src/views/translate/expressions.ts';
import { createTranslator } from '../../src/views/translate/translate.ts';
import { isText, type Translation } from '../../src/views/translate/words.ts';
import { isWithin } from '../support/patience.ts';

function keysOf(source: string): string[] {
  const keys: string[] = [];
  createTranslator({
    find(key) {
      keys.push(key);
      return undefined;
    },
  })(source);
  return keys;
}

const translated = (source: string, texts: Record<string, Translation>): string =>
  createTranslator({ find: (key) => texts[key] })(source);

test('translate: a sentence is one text, with numbers for what stands within it', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['<h2>Sign-in   rules</h2>', ['Sign-in rules']],
    ['<p>And {{ count(n) }} more.</p>', ['And {1} more.']],
    ['<p>None. <a href="/x">Add one</a> first.</p>', ['None. <1>Add one</1> first.']],
    ['<p>Press <kbd>/</kbd> or ask <bdi>{{ name }}</bdi>.</p>', ['Press {1} or ask {2}.']],
    ['<p>{{ icon("key") }} Add a step.</p>', ['Add a step.']],
    ['<b>One</b> <b>Two</b>', ['One', 'Two']],
    ['<p>A token{% if x %}, and a refresh token{% endif %}.</p>', ['A token<1>, and a refresh token</1>.']],
    ['<p>It is off.{% if x %} Turn it on.{% endif %}</p>', ['It is off.', 'Turn it on.']],
    ['<p>{% if x %}Here{% else %}There{% endif %}</p>', ['Here', 'There']],
    ['<a title="Open {{ name }}" class="Not this" href="/Nor this">&amp; so on</a>', ['Open {1}', '& so on']],
    ['<p data-caps="Caps Lock is on" data-into="{{ name }}"></p>', ['Caps Lock is on']],
    ['<code>Not this</code><pre>nor this</pre><option translate="no">nor this</option>', []],
    ["{{ badge('verified', 'good') }}{{ go('/users', 'All users') }}", ['verified', 'All users']],
    ["{{ drop(path ~ '/x', 'Remove from ' ~ group.label) }}", ['Remove from {a}']],
    ["{% set nothing = { icon: 'audit', title: 'No events yet' } %}", ['No events yet']],
    ["{% if kind == 'Not this' %}{% endif %}", []],
  ];
  for (const [source, expected] of cases) deepEqual(keysOf(source), expected, source);
});

test('translate: translations may reorder, and cannot add HTML or expressions', () => {
  equal(
    translated('<p>And <a href="{{ x }}">{{ n }} more</a> by {{ who }}.</p>', {
      'And <1>{2} more</1> by {3}.': '{3}: <1>noch {2}</1> & <b>{{ evil }}</b>{% evil %}',
    }),
    '<p>{{ said(who) }}: <a href="{{ x }}">noch {{ said(n) }}</a> &#38; &#60;b&#62;&#123;&#123; evil &#125;&#125;&#60;/b&#62;&#123;&#37; evil &#37;&#125;</p>',
  );
  equal(
    translated('<a title="Open">x</a>', { Open: '" onclick="x' }),
    '<a title="&#34; onclick=&#34;x">x</a>',
    'attributes stay attributes',
  );
});

test('translate: what is not translated stays as it was, and nothing is lost', () => {
  const source =
    '{% macro m(a) %}<li{% if a %} class="on"{% endif %}>{% if a %}<a href="x">{% endif %}Text {{ a }}{% if a %}</a>{% endif %}</li>{% endmacro %}';
  equal(
    translated(source, {}).replaceAll('said(a)', 'a').replaceAll('{{  ', '{{ '),
    source,
    'tags in different branches',
  );
  const clauses = '<p>One{% if a %}, two{% elif b %}, three{% else %}, four{% endif %}.</p>';
  equal(
    translated(clauses, {}),
    '<p>One{% if (a) %}, two{% endif %}{% if not (a) and (b) %}, three{% endif %}{% if not (a) and not (b) %}, four{% endif %}.</p>',
  );
});

test('translate: a macro that makes an address stays as it is', () => {
  const source =
    '{% macro at(a, b) %}{{ home }}/sample?of={{ a }}{% if b %}&in={{ b }}{% endif %}{% endmacro %}';
  equal(translated(source, {}), source);
});

test('translate: one and many take the forms of the language', () => {
  equal(
    translated("{{ n }} {{ 'user' if list.n == 1 else 'users' }}", {}),
    "{{ said(n) }} {{ said(numbered(list.n, 'user', 'users')) }}",
  );
  const texts = createAdminTexts(
    {
      user: 'مستخدم',
      users: { one: 'مستخدم', two: 'مستخدمان', few: 'مستخدمين', many: 'مستخدمًا', other: 'مستخدم' },
      '{a} sign-ins failed': { one: 'فشل واحد', few: 'فشلت {a} مرات', other: 'فشلت {a} مرة' },
    },
    'ar',
  );
  deepEqual(
    [1, 2, 5, 11, 100, '1,003'].map((count) => texts.numbered(count, 'user', 'users')),
    ['مستخدم', 'مستخدمان', 'مستخدمين', 'مستخدمًا', 'مستخدم', 'مستخدمين'],
  );
  equal(texts.said('5 sign-ins failed'), 'فشلت \u20685\u2069 مرات');
  equal(texts.said('users'), 'مستخدم', 'without a number');
  ok(
    translated('<p>{{ count(n) }} created</p>', {
      '{1} created': { one: 'Einer', other: '{1} angelegt' },
    }).includes("{% if formOf(n) == 'one' %}Einer{% else %}{{ said(count(n)) }} angelegt{% endif %}"),
  );
});

test('translate: texts with values are found by what stands around these', () => {
  const texts = createAdminTexts(
    {
      Audit: 'Protokoll',
      'Must be {A}.': 'Muss {A} sein.',
      'Must be a whole number from {a} to {b}.': 'Muss eine ganze Zahl von {a} bis {b} sein.',
      'By {a}': 'Von {a}',
      'true or false': 'wahr oder falsch',
      'must be an absolute URI': 'muss ein absoluter URI sein',
      'must only contain {a}': 'darf nur {a} enthalten',
    },
    'de',
  );
  const cases: readonly (readonly [string, string])[] = [
    ['Must be a whole number from 1 to 1,000.', 'Muss eine ganze Zahl von 1 bis 1.000 sein.'],
    ['Must be true or false.', 'Muss wahr oder falsch sein.'],
    // A predicate that stands alone is a sentence.
    ['Must be an absolute URI.', 'muss ein absoluter URI sein.'],
    ['Must only contain code.', 'darf nur code enthalten.'],
    ['  Audit ', '  Protokoll '],
    ['By Ada {a}', 'Von Ada {a}'],
    // Only what the code says is a text of ours is one within another.
    ['By Audit', 'Von Audit'],
    ['Ada', 'Ada'],
    ['By ', 'By '],
  ];
  for (const [english, german] of cases) equal(texts.said(english), german);
  equal(texts.said(5), 5);
  equal(texts.find('__proto__'), undefined);
});

test('attack: a long text with many parts costs no more than its length', () => {
  const started = performance.now();
  equal(
    valuesIn({ parts: ['', 'a', 'a', 'a', 'b'], names: ['a', 'b', 'c', 'd'] }, 'a'.repeat(200_000)),
    undefined,
  );
  const texts = createAdminTexts({ '{a}x{b}x{c}x{d}y word': 'y' }, 'de');
  const long = 'x'.repeat(100_000);
  equal(texts.said(long), long);
  ok(isWithin(performance.now() - started, 500));
});

test('translate: words for people are told from codes', () => {
  const yes = ['Members', 'Not signed in', 'of {a}', 'E-mail', 'Must be {a}.', 'Set-up', 'APIs'];
  const no = [
    'redirect_uris',
    '/users/',
    'autocomplete="off"',
    'GET',
    'PKCE',
    'equal',
    'isActive',
    '{a} · {b}',
    'Cache-Control',
  ];
  deepEqual(
    yes.filter((text) => !isText(text)),
    [],
  );
  deepEqual(no.filter(isText), []);
  deepEqual(textsOf("'None' if a else b", true), ['None']);
});
