// Parsing of SMTP_URL.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSmtpUrl } from '../../src/model/smtp-url.ts';

test('SMTP_URL: scheme, host, port and credentials', () => {
  const plain = { host: 'mail.example.com', port: 587, encryption: 'offered' };
  const cases: [string, object][] = [
    ['smtp://mail.example.com', plain],
    ['SMTP://mail.example.com/', plain],
    ['smtp://mail.example.com:25', { ...plain, port: 25 }],
    ['smtp+starttls://mail.example.com', { ...plain, encryption: 'starttls' }],
    ['smtps://mail.example.com', { ...plain, port: 465, encryption: 'tls' }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525, encryption: 'offered' }],
    ['smtp://127.0.0.1:65535', { host: '127.0.0.1', port: 65_535, encryption: 'offered' }],
    [
      'smtps://robot@example.com:p%40ss%2Fw%3Ard@mail.example.com:465',
      {
        host: 'mail.example.com',
        port: 465,
        encryption: 'tls',
        credentials: { user: 'robot@example.com', password: 'p@ss/w:rd' },
      },
    ],
  ];
  for (const [text, expected] of cases) assert.deepEqual(parseSmtpUrl(text), expected, text);
});

test('SMTP_URL: everything else is refused', () => {
  const cases = [
    '',
    'mail.example.com',
    'mail.example.com:25',
    'http://mail.example.com',
    'smtp:mail.example.com',
    'smtp://',
    'smtp://:25',
    'smtp://mail.example.com:0',
    'smtp://mail.example.com:65536',
    'smtp://mail.example.com:25/path',
    'smtp://mail.example.com?tls=no',
    'smtp://mail.example.com#x',
    'smtp://robot@mail.example.com',
    'smtp://:secret@mail.example.com',
    'smtp://robot:sec/ret@mail.example.com',
    'smtp://robot:sec%zzret@mail.example.com',
    'smtp://robot:a%0d%0aQUIT@mail.example.com',
    'smtp://robot%00:secret@mail.example.com',
    'smtp://mail.exam ple.com',
    'smtp://mail.example.com\r\nQUIT',
    'smtp://mail%2eexample.com',
    'smtp://-mail.example.com',
    'smtp://mail_1.example.com',
    'smtp://m\u00e4il.example.com',
    `smtp://${'a'.repeat(254)}.com`,
    `smtp://robot:${'x'.repeat(3000)}@mail.example.com`,
  ];
  for (const text of cases) assert.equal(parseSmtpUrl(text), undefined, text);
});
