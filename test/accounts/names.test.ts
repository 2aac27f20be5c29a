// Usernames and e-mail addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLoginName } from '../../src/accounts/login-name.ts';
import { parseEmail } from '../../src/model/users/email-address.ts';
import { parseUsername } from '../../src/model/users/username.ts';

const isRefused = (username: string): boolean => 'problem' in parseUsername(username);

test('username: valid spellings are accepted', () => {
  for (const name of ['bob', 'Zoë', 'o.brien-2_x+y', '李小龍', 'हिन्दी', 'a'.repeat(64), 'user@example.com']) {
    assert.equal(isRefused(name), false, name);
  }
});

test('username: invalid spellings are refused', () => {
  const refused = [
    '',
    'ab',
    'a'.repeat(65),
    'a b c',
    'a/b/c',
    '<b>',
    'a\nbc',
    'ali\u200bce',
    '\u202eecila',
    '...',
    '---',
  ];
  refused.push(
    '\u0301abc',
    'a,b,c',
    "o'brien",
    'a"bc',
    'user@',
    '@user',
    'a@b@c.de',
    'a'.repeat(100_000),
    'abc\0',
  );
  for (const name of refused) assert.equal(isRefused(name), true, JSON.stringify(name.slice(0, 20)));
});

test('username: stored as typed, compared folded', () => {
  assert.deepEqual(parseUsername(' Ａlice '), { name: 'Alice', key: 'alice' });
  assert.deepEqual(parseUsername('Me@Bücher.example'), {
    name: 'Me@xn--bcher-kva.example',
    key: 'me@xn--bcher-kva.example',
  });
});

test('e-mail address: valid addresses are accepted, each with its key', () => {
  assert.deepEqual(parseEmail('Alice.B+tag@Example.COM'), {
    address: 'Alice.B+tag@example.com',
    key: 'alice.b+tag@example.com',
  });
  assert.equal(parseEmail('a@bücher.example')?.address, 'a@xn--bcher-kva.example');
  assert.equal(parseEmail('root@localhost')?.key, 'root@localhost');
});

test('attack: addresses that mail libraries could parse differently are refused (R121)', () => {
  const hostile = [
    'a@b.com\r\nBcc: x@y.z',
    'a@b.com\n',
    'a@b\t.com',
    'a\0@b.com',
    '"x@y"@b.com',
    '"a b"@c.de',
    'a(comment)@b.com',
    'a@b.com(comment)',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@0x7f.1',
    'a@2130706433',
    'a@b@c.com',
    'a＠b.com',
    'a@b.com,c@d.com',
    'a@b.com;c@d.com',
    '<a@b.com>',
    'Alice <a@b.com>',
    '.a@b.com',
    'a.@b.com',
    'a..b@c.com',
    'a@.com',
    'a@com.',
    'a@b..com',
    'a@-b.com',
    'a@b_c.com',
    'a@b.com/path',
    'a@b.com?x',
    'a@b%2ecom',
    'a@b.com#x',
    'a@b.com:25',
    'ä@b.com',
    'a@exa\u00admple.com',
    'a@b',
    '@b.com',
    'a@',
    'a',
    '',
    `${'a'.repeat(65)}@b.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${'b.'.repeat(130)}com`,
    'a'.repeat(1_000_000),
  ];
  // A blank at the end is trimmed, a line end too; inside, both are refused.
  const inside = hostile.filter((address) => address.trim() === address);
  assert.ok(inside.length >= hostile.length - 1);
  for (const address of inside)
    assert.equal(parseEmail(address), undefined, JSON.stringify(address.slice(0, 40)));
  assert.equal(parseEmail('a@b.com\n')?.address, 'a@b.com');
});

test('e-mail address: a look-alike domain is a different address and shown in ASCII', () => {
  const cyrillic = parseEmail('a@ex\u0430mple.com');
  assert.match(cyrillic?.address ?? '', /^a@xn--/);
  assert.notEqual(cyrillic?.key, parseEmail('a@example.com')?.key);
});

test('sign-in name: looked up in exactly one index', () => {
  assert.deepEqual(parseLoginName(' ALICE '), { index: 'username', key: 'alice' });
  assert.deepEqual(parseLoginName('Alice＠Example.com'), { index: 'email', key: 'alice@example.com' });
  for (const nobody of ['', '   ', 'a@', '@', 'a@b@c.de', 'x'.repeat(321)]) {
    assert.equal(parseLoginName(nobody), undefined, nobody.slice(0, 10));
  }
});
