// The mail queue: durable, sealed, without hostile addresses or values; administrators can read unsent mails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simpleParser } from 'mailparser';
import { AppError } from '../../src/errors.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import { compose } from '../../src/mail/compose.ts';
import { isWithin } from '../support/patience.ts';
import { baseUrl, secretKey, start, testMail } from './support.ts';

const everything = { sort: 'id', order: 'asc', limit: 100 } as const;
const reset = `${baseUrl}/oauth2/reset?token=A1b2C3d4E5f6`;

test('without a server: the mail is kept, administrators can read it, logged once', async () => {
  const { mail, queueCode, run, events } = testMail();
  await queueCode('ann@example.com', '111111');
  await queueCode('bob@example.com', '222222');
  assert.deepEqual(events, ['mail_kept']);
  assert.deepEqual(await run(), { sent: 0, postponed: 0, failed: 0, kept: 0 });
  const { items, total } = await mail.list(everything);
  assert.equal(total, 2);
  assert.deepEqual(
    items.map(({ to, state, template }) => [to, state, template]),
    [
      ['ann@example.com', 'kept', 'sign_in_code'],
      ['bob@example.com', 'kept', 'sign_in_code'],
    ],
  );
  assert.match(items[0]?.text ?? '', /111111/);
  assert.match((await mail.find(items[1]?.id ?? ''))?.html ?? '', /222222/);
  assert.equal(await mail.find('none'), undefined);
});

test('kept mails: removed after their retention', async () => {
  const { mail, queueCode, settings, time } = testMail();
  settings.retention_mails_seconds = 3600;
  await queueCode('ann@example.com');
  time.now += 3_599_999;
  assert.equal((await mail.list(everything)).total, 1);
  time.now += 1;
  assert.equal((await mail.list(everything)).total, 0);
});

test('mail queue: codes and links are not stored in clear (R141)', async () => {
  const { mail, queueCode, records } = testMail();
  await queueCode('ann@example.com', '987654');
  const values = { url: reset, expiresSeconds: 1800 };
  await mail.queue({ to: 'ann@example.com', template: 'password_reset', values });
  const stored = JSON.stringify(await records());
  assert.doesNotMatch(stored, /987654|A1b2C3d4E5f6|token=/);
  const [first, second] = await records();
  assert.ok(first && second);
  const sealer = createSealer([secretKey]);
  assert.match(sealer.open(`mail ${first.id} text`, first.value.sealedText), /987654/);
  assert.throws(() => sealer.open(`mail ${second.id} text`, first.value.sealedText), 'not for another mail');
});

test('with a server: administrators cannot read mails to users', async () => {
  const { mail, queueCode } = testMail({ smtpUrl: 'smtp://127.0.0.1:1' });
  await queueCode('ann@example.com');
  const [item] = (await mail.list(everything)).items;
  assert.equal(item?.state, 'queued');
  assert.ok(item && !('text' in item) && !('html' in item) && !('sealedText' in item));
});

test('kept mail without its SECRET_KEY: listed without its text', async () => {
  const { mail, queueCode, collection, records } = testMail();
  await queueCode('ann@example.com');
  const [record] = await records();
  assert.ok(record);
  const sealedText = createSealer(['another-secret-key-0123456789-0123']).seal(`mail ${record.id} text`, 'x');
  await collection.put(record.id, { ...record.value, sealedText });
  assert.equal((await mail.list(everything)).items[0]?.text, undefined);
});

test('removed user: their mails are removed, and those of no account to their mailboxes', async () => {
  const { mail, queueCode } = testMail();
  const values = { code: '123456', expiresSeconds: 600 };
  const queueFor = (accountId: string, to: string) =>
    mail.queue({ to, accountId, template: 'sign_in_code', values });
  for (let n = 0; n < 120; n += 1) await queueCode('ann@example.com');
  await queueFor('ann', 'ann@elsewhere.example');
  await queueFor('bob', 'ann@example.com');
  await queueCode('bob@example.com');
  await queueCode('ann@elsewhere.example');
  assert.equal(await mail.removeAllOf('ann', ['ann@example.com']), 121);
  assert.deepEqual(
    (await mail.list(everything)).items.map(({ to }) => to),
    ['ann@example.com', 'bob@example.com', 'ann@elsewhere.example'],
    'of bob, to his mailbox, and to one that ann had not verified',
  );
});

const hostileAddresses = [
  '',
  ' ',
  'ann',
  'ann@',
  '@example.com',
  'ann@example.com\r\nBcc: eve@evil.example',
  'ann@example.com\nRCPT TO:<eve@evil.example>',
  'ann@example.com\0',
  'ann@example.com,eve@evil.example',
  'ann@example.com;eve@evil.example',
  'ann@example.com eve@evil.example',
  'ann@example.com ',
  'Ann <ann@example.com>',
  '<ann@example.com>',
  'ann@example.com>SIZE=1',
  '"ann@evil.example"@example.com',
  '"ann\\" <eve@evil.example>"@example.com',
  'ann(comment)@example.com',
  'ann@(comment)example.com',
  '@relay.example:ann@example.com',
  'ann%evil.example@',
  'group: ann@example.com, eve@evil.example;',
  'ann@[127.0.0.1]',
  'ann@127.0.0.1',
  'ann@example.com.127',
  'ann@example',
  'ann@@example.com',
  'a@b@example.com',
  '.ann@example.com',
  'ann.@example.com',
  'ann..b@example.com',
  'ann@-example.com',
  'ann@example..com',
  'ann@exam_ple.com',
  'ann@ex\u0430mple.com', // Cyrillic а
  'ann@example.com\u200b',
  'ann\uff20example.com',
  '\u00e4nn@example.com',
  'ann@m\u00fcller.example',
  '=?utf-8?q?ann=40evil.example?=@example.com ',
  `${'a'.repeat(65)}@example.com`,
  `ann@${'a'.repeat(250)}.com`,
  `${'a@'.repeat(20_000)}b.com`,
];

test('attack: addresses with line breaks, lists, comments, routes, look-alikes and NUL (R121)', async () => {
  const { mail, queueCode, records } = testMail();
  for (const to of hostileAddresses) {
    for (const attempt of [() => queueCode(to), () => mail.sendTest(to)]) {
      await assert.rejects(
        attempt(),
        (error) => error instanceof AppError && error.code === 'request.invalid',
        to,
      );
    }
    const one = { id: 'x', to, createdAt: start, subject: 's', text: 't', html: 'h' };
    assert.throws(() => compose(one, { name: 'x', address: 'robot@example.com', replyTo: '' }), AppError);
  }
  assert.deepEqual(await records(), []);
  for (const to of ["o'brien+tag=x@mail.example.co.uk", 'a@localhost', 'ann@xn--mller-kva.example'])
    await queueCode(to);
});

test('address validation: fast for any input (R137)', async () => {
  const { queueCode } = testMail();
  const began = performance.now();
  for (const part of ['a', '.', '@', '-', 'a.', '-a', '\r', 'é'])
    await assert.rejects(queueCode(part.repeat(50_000)));
  assert.ok(isWithin(performance.now() - began, 500));
});

test('attack: a link that leads elsewhere than BASE_URL (R006)', async () => {
  const { mail, records } = testMail();
  const links = [
    'https://evil.example/oauth2/reset',
    'https://id.example.com.evil.example/auth/reset',
    'https://id.example.com/authentic',
    'https://id.example.com/other',
    'https://id.example.com@evil.example/auth',
    'http://id.example.com/auth/reset',
    '//id.example.com/auth/reset',
    'javascript:alert(1)//https://id.example.com/auth/',
    `${reset}"onclick="x`,
    `${reset}\r\nBcc: eve@evil.example`,
    `${reset} https://evil.example`,
    `${reset}${'a'.repeat(2000)}`,
    '',
  ];
  for (const url of links) {
    const values = { url, expiresSeconds: 1800 };
    await assert.rejects(
      mail.queue({ to: 'ann@example.com', template: 'password_reset', values }),
      TypeError,
      url,
    );
  }
  assert.deepEqual(await records(), []);
});

test('mail template: missing values are an error', async () => {
  const { mail } = testMail();
  const queue = (values: Record<string, string | number>) =>
    mail.queue({ to: 'ann@example.com', template: 'sign_in_code', values });
  await assert.rejects(queue({}), /needs code, expiresSeconds/);
  await assert.rejects(queue({ code: '123456', expiresSeconds: Number.NaN }), /finite/);
  await assert.rejects(queue({ code: '12 <b>', expiresSeconds: 1 }), TypeError);
});

test('attack: names, User-Agents and addresses chosen by strangers rewrite a mail', async () => {
  const { mail } = testMail();
  const values = {
    url: reset,
    expiresSeconds: 1800,
    username:
      'ann\r\n\r\nCall +1 555 0100\u202e\u200b <img src=x onerror=alert(1)> {product}{{ 7*7331 }}'.padEnd(
        500,
        'x',
      ),
    device: 'Visit https://evil.example now',
    ipAddress: 'evil.example',
  };
  await mail.queue({ to: 'ann@example.com', template: 'password_reset', values });
  const [item] = (await mail.list(everything)).items;
  assert.ok(item?.text && item.html);
  assert.doesNotMatch(item.html, /<img|evil\.example|51317/);
  assert.doesNotMatch(item.text, /evil\.example|51317|\u202e|\u200b/);
  const account = item.text.split('\n').filter((line) => line.startsWith('Account:'));
  assert.match(account.join(), /^Account: annCall \+1 555 0100 <img .*\{product\}\{\{ 7\*7331 \}\}x*$/);
  assert.ok((account[0]?.length ?? 999) <= 110);
  assert.doesNotMatch(item.subject, /ann/);
});

test('attack: the product name breaks out of the headers', async () => {
  const names = [
    'Latch"key" <eve@evil.example>',
    'a, eve@evil.example',
    'x\r\nBcc: eve@evil.example',
    '=?utf-8?q?x?=',
    'Zürich 🦊',
  ];
  for (const name of names) {
    const raw = (
      await compose(
        {
          id: 'abc',
          to: 'ann@example.com',
          createdAt: start,
          subject: `About ${name}`,
          text: 't',
          html: 'h',
        },
        { name, address: 'robot@example.com', replyTo: 'help@example.com' },
      )
    ).toString('latin1');
    const parsed = await simpleParser(raw);
    assert.deepEqual(
      parsed.from?.value.map(({ address }) => address),
      ['robot@example.com'],
      name,
    );
    const shown = name.replace('\r\n', '  ').replace('=?', '= ?');
    assert.equal(parsed.from?.value[0]?.name, shown);
    assert.equal(parsed.subject, `About ${shown}`);
    assert.deepEqual([parsed.bcc, parsed.cc], [undefined, undefined]);
    assert.equal(parsed.messageId, '<abc@example.com>');
    assert.equal(parsed.headers.get('auto-submitted'), 'auto-generated');
  }
});
