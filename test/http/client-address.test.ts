// The client address: the socket's, or the one that the outermost trusted proxy saw.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import type Koa from 'koa';
import { clientAddress } from '../../src/http/client-address.ts';
import { type Site, serve } from './serve.ts';

/** The two things clientAddress looks at. */
const requestFrom = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Pick<IncomingMessage, 'headers'> & {
    socket: { remoteAddress: string | undefined };
  } as IncomingMessage;

const SOCKET = '10.0.0.9';
const seen = (header: string | undefined, hops: number): string =>
  clientAddress(requestFrom(SOCKET, header), hops);

test('client address: without trusted proxies the header is ignored', () => {
  for (const header of [undefined, '', '1.2.3.4', '1.2.3.4, 5.6.7.8', 'a', '::1']) {
    assert.equal(seen(header, 0), SOCKET);
  }
});

test('client address: each trusted proxy moves one entry to the left', () => {
  const header = '6.6.6.6, 198.51.100.7, 203.0.113.5, 192.0.2.1';
  assert.equal(seen(header, 1), '192.0.2.1');
  assert.equal(seen(header, 2), '203.0.113.5');
  assert.equal(seen(header, 3), '198.51.100.7');
});

test('attack: prepended addresses do not change the result', () => {
  for (const forged of ['6.6.6.6', '6.6.6.6, 7.7.7.7', ', , ,', 'a, b, c', '127.0.0.1', 'x'.repeat(10_240)]) {
    assert.equal(seen(`${forged}, 203.0.113.5`, 1), '203.0.113.5');
    assert.equal(seen(`${forged}, 203.0.113.5, 192.0.2.1`, 2), '203.0.113.5');
  }
});

describe('client address: fails closed to the socket', () => {
  const garbage = [
    '',
    ' ',
    ',',
    'a',
    'unknown',
    '_hidden',
    '999.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3.4:',
    '1.2.3.4:port',
    '1.2.3.4:123456',
    '1.2.3.4 5.6.7.8',
    '[2001:db8::1',
    '2001:db8::1]',
    '[1.2.3.4]:80]',
    'fe80::1%eth0',
    '[fe80::1%eth0]:80',
    '::ffff:1.2.3.999',
    '1.2.3.4\u0000',
    'localhost',
    "1.2.3.4'; DROP TABLE",
    '9'.repeat(10_240),
  ];
  for (const entry of garbage) {
    test(`for ${JSON.stringify(entry.slice(0, 24))}`, () => {
      assert.equal(seen(entry, 1), SOCKET);
      assert.equal(seen(`5.6.7.8, ${entry}`, 1), SOCKET);
    });
  }
  test('when there are fewer entries than proxies, as a proxy was bypassed', () => {
    assert.equal(seen('1.2.3.4', 2), SOCKET);
    assert.equal(seen('1.2.3.4, 5.6.7.8', 3), SOCKET);
    assert.equal(seen(undefined, 1), SOCKET);
    assert.equal(seen(',1.2.3.4', 3), SOCKET);
  });
});

test('client address: one spelling per address', () => {
  assert.equal(seen('2001:DB8:0:0:0:0:0:1', 1), '2001:db8::1');
  assert.equal(seen('[2001:db8::1]:443', 1), '2001:db8::1');
  assert.equal(seen('[2001:db8::1]', 1), '2001:db8::1');
  assert.equal(seen('192.0.2.1:4711', 1), '192.0.2.1');
  assert.equal(seen('::ffff:192.0.2.1', 1), '192.0.2.1');
  assert.equal(seen('\t192.0.2.1 ', 1), '192.0.2.1');
  assert.equal(clientAddress(requestFrom('::ffff:10.0.0.9'), 0), '10.0.0.9');
  assert.equal(clientAddress(requestFrom('fe80::1%eth0'), 0), 'fe80::1');
  assert.equal(clientAddress(requestFrom(undefined), 0), '');
});

describe('client address over HTTP', () => {
  let direct: Site;
  let proxied: Site;
  before(async () => {
    const echo: Koa.Middleware = (ctx) => {
      ctx.body = { ip: ctx.ip, ips: ctx.ips };
    };
    direct = await serve(echo);
    proxied = await serve(echo, { trustProxy: 1 });
  });
  after(() => Promise.all([direct.close(), proxied.close()]));

  const ipOf = async (site: Site, forwarded: string[]): Promise<unknown> => {
    const answer = await site.send('/', {
      headers: { 'X-Forwarded-For': forwarded, Forwarded: 'for=6.6.6.6' },
    });
    return JSON.parse(answer.body);
  };

  test('several header lines count as one list', async () => {
    assert.deepEqual(await ipOf(proxied, ['6.6.6.6', '192.0.2.1']), { ip: '192.0.2.1', ips: ['192.0.2.1'] });
    assert.deepEqual(await ipOf(direct, ['6.6.6.6']), { ip: '127.0.0.1', ips: ['127.0.0.1'] });
    assert.deepEqual(await ipOf(proxied, ['6.6.6.6', 'a']), { ip: '127.0.0.1', ips: ['127.0.0.1'] });
  });

  test('the request log shows the same address', async () => {
    await ipOf(proxied, ['6.6.6.6, 192.0.2.77']);
    assert.match(proxied.lines.at(-1) ?? '', /"ip":"192\.0\.2\.77"/);
  });
});
