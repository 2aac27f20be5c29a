// The mail server by its parts: what it becomes as one address, and that a stored password goes nowhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { changedSmtpUrl, type GivenMailServer, mailServerOf } from '../../src/settings/index.ts';

const STORED = 'smtps://robot:p%40ss%2Fword@mail.example.com:465';
const same: GivenMailServer = { host: 'mail.example.com', port: 465, encryption: 'tls', user: 'robot' };

const refusedFields = (url: string, given: GivenMailServer): string[] => {
  try {
    changedSmtpUrl(url, given);
  } catch (error) {
    assert.ok(error instanceof AppError);
    return Object.keys(error.fields ?? {});
  }
  return [];
};

test('parts become one address and come back', () => {
  for (const [given, url] of [
    [{ ...same, password: 'p@ss/word' }, STORED],
    [{ host: 'relay', port: 25, encryption: 'offered' }, 'smtp://relay:25'],
    [{ host: ' relay ', encryption: 'starttls' }, 'smtp+starttls://relay:587'],
    [{ host: 'relay', port: null, encryption: 'tls', user: ' ', password: '' }, 'smtps://relay:465'],
    [{ host: '2001:db8::1', port: 25, encryption: 'offered' }, 'smtp://[2001:db8::1]:25'],
    [{ host: '[2001:db8::1]', port: 25, encryption: 'offered' }, 'smtp://[2001:db8::1]:25'],
    [{ host: 'münchen.example', port: 25, encryption: 'offered' }, 'smtp://xn--mnchen-3ya.example:25'],
    [{ host: '', encryption: 'tls', user: 'robot', password: 'x' }, ''],
  ] satisfies readonly (readonly [GivenMailServer, string])[])
    assert.equal(changedSmtpUrl('', given), url);
  assert.deepEqual(mailServerOf(STORED), { ...same, hasPassword: true });
  assert.equal(mailServerOf(''), undefined);
});

test('the stored password stays with its server and user, and with no less encryption', () => {
  assert.equal(changedSmtpUrl(STORED, same), STORED);
  assert.equal(changedSmtpUrl(STORED, { ...same, host: 'MAIL.example.com' }).includes('p%40ss'), true);
  for (const other of [
    { host: 'mail.attacker.example' },
    { port: 2525 },
    { user: 'root' },
    { encryption: 'offered' as const },
  ])
    assert.deepEqual(refusedFields(STORED, { ...same, ...other }), ['password'], JSON.stringify(other));
  assert.deepEqual(refusedFields('', same), ['password']);
  assert.deepEqual(refusedFields('smtps://mail.example.com:465', same), ['password']);
  // No user: no password goes anywhere.
  assert.equal(changedSmtpUrl(STORED, { ...same, user: '' }), 'smtps://mail.example.com:465');
});

test('what is no host, user or password is refused by name', () => {
  for (const host of ['a b', 'x:25', 'user@host', 'host/path', 'host?q', '-x', 'a..b', '%41', 'a\nb', '[::1'])
    assert.deepEqual(refusedFields('', { host, encryption: 'tls' }), ['host'], host);
  assert.deepEqual(refusedFields('', { host: 'a', encryption: 'tls', password: 'x' }), ['user']);
  assert.deepEqual(refusedFields('', { host: 'a', encryption: 'tls', user: 'a\u0000b', password: 'x' }), [
    'user',
  ]);
  assert.deepEqual(refusedFields('', { host: 'a', encryption: 'tls', user: 'a', password: 'x\r\nMAIL' }), [
    'password',
  ]);
});
