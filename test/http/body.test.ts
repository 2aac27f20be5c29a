// Request bodies: what is parsed, and that hostile ones are refused quickly and cheaply.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type Koa from 'koa';
import { readForm, readJson } from '../../src/http/body.ts';
import { isWithin } from '../support/patience.ts';
import { type Answer, type SendOptions, type Site, sendRaw, serve } from './serve.ts';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

let site: Site;

const readers: Koa.Middleware = async (ctx) => {
  if (ctx.path === '/form') {
    const form = await readForm(ctx);
    ctx.body = { pairs: form.keys().map((key) => [key, form.get(key)]), hasA: form.has('a') };
  } else if (ctx.path === '/json') {
    ctx.body = { json: await readJson(ctx) };
  } else if (ctx.path === '/large') {
    ctx.body = { length: JSON.stringify(await readJson(ctx, { limitBytes: 500_000 })).length };
  } else {
    ctx.body = 'ok';
  }
};

before(async () => {
  site = await serve(readers);
});
after(() => site.close());

type Body = string | Buffer;
const post = (
  path: string,
  type: string,
  body: Body,
  headers: SendOptions['headers'] = {},
): Promise<Answer> =>
  site.send(path, { method: 'POST', headers: { 'Content-Type': type, Accept: JSON_TYPE, ...headers }, body });
const form = (body: Body) => post('/form', FORM, body);
const json = (body: Body) => post('/json', JSON_TYPE, body);

async function assertRefused(answer: Promise<Answer>, status: number, message: RegExp): Promise<void> {
  const { status: got, body } = await answer;
  assert.equal(got, status, body);
  assert.match(body, message);
}

describe('forms', () => {
  const pairsOf = async (body: string): Promise<unknown> => JSON.parse((await form(body)).body).pairs;

  test('are parsed as HTML sends them', async () => {
    assert.deepEqual(await pairsOf('a=1&b=two+words&c=%C3%A9%26%3D&d=&e&&f=x=y'), [
      ['a', '1'],
      ['b', 'two words'],
      ['c', 'é&='],
      ['d', ''],
      ['e', ''],
      ['f', 'x=y'],
    ]);
    assert.deepEqual(await pairsOf('pass=%F0%9F%94%91é'), [['pass', '🔑é']]);
    assert.deepEqual(await pairsOf(''), []);
  });

  test('are UTF-8 only, declared or not', async () => {
    assert.equal((await post('/form', `${FORM}; charset=UTF-8`, 'a=1')).status, 200);
    await assertRefused(post('/form', `${FORM}; charset=iso-8859-1`, 'a=1'), 415, /UTF-8/);
  });

  test('have plain names: brackets and dots build nothing', async () => {
    assert.deepEqual(await pairsOf('a[$ne]=1&b.c=2&d[]=3'), [
      ['a[$ne]', '1'],
      ['b.c', '2'],
      ['d[]', '3'],
    ]);
  });

  test('attack: a field sent twice', async () => {
    await assertRefused(form('redirect_uri=a&redirect_uri=b'), 400, /redirect_uri.*more than once/);
    await assertRefused(form('a=1&%61=2'), 400, /more than once/);
    await assertRefused(form('a&a'), 400, /more than once/);
  });

  test('attack: broken encodings and NUL', async () => {
    await assertRefused(form(Buffer.from([0x61, 0x3d, 0xff, 0xfe])), 400, /UTF-8/);
    await assertRefused(form(Buffer.from([0x61, 0x3d, 0xc0, 0x80])), 400, /UTF-8/);
    await assertRefused(form(Buffer.from([0x61, 0x3d, 0xed, 0xa0, 0x80])), 400, /UTF-8/);
    for (const body of ['a=%FF', 'a=%', 'a=%zz', 'a=%ED%A0%80', '%C0%AE=1']) {
      await assertRefused(form(body), 400, /percent-encoding/);
    }
    await assertRefused(form('a=x%00y'), 400, /not allowed/);
    await assertRefused(form('a=x\0y'), 400, /not allowed/);
  });

  test('attack: names that reach for prototypes', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      await assertRefused(form(`${name}=1`), 400, new RegExp(name));
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });

  test('attack: 1 MiB, 100,000 keys', async () => {
    await assertRefused(form(`a=${'x'.repeat(1024 * 1024)}`), 413, /too large/);
    const keys = Array.from({ length: 100_000 }, (_, index) => `k${index}=1`).join('&');
    await assertRefused(form(keys), 413, /too large/);
    await assertRefused(form(keys.slice(0, 50_000)), 400, /Too many/);
  });
});

describe('JSON', () => {
  test('is parsed whatever its top-level type', async () => {
    for (const value of [{ a: [1, null, true, 'é🔑'] }, [], 'text', 0, null]) {
      assert.deepEqual(JSON.parse((await json(JSON.stringify(value))).body), { json: value });
    }
    assert.equal((await post('/json', `${JSON_TYPE};charset="utf-8"`, '{}')).status, 200);
  });

  test('is refused when malformed', async () => {
    for (const body of ['', ' ', '{', "{'a':1}", '{"a":1,}', 'undefined', 'NaN', '{"a":1}x', '\0']) {
      await assertRefused(json(body), 400, /not valid JSON/);
    }
    await assertRefused(json(Buffer.from([0x22, 0xff, 0x22])), 400, /UTF-8/);
  });

  test('attack: other content types carrying JSON', async () => {
    const types = [
      'text/plain',
      FORM,
      'multipart/form-data; boundary=x',
      'application/json5',
      'application/ld+json',
    ];
    for (const type of [...types, 'application/jsonx', '*/*', 'json', '', 'application/json, text/plain']) {
      await assertRefused(post('/json', type, '{}'), 415, /must be application/);
    }
    await assertRefused(post('/json', `${JSON_TYPE}; charset=utf-16`, '{}'), 415, /UTF-8/);
    await assertRefused(
      post(
        '/form',
        'multipart/form-data; boundary=x',
        '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--',
      ),
      415,
      /must be application/,
    );
  });

  test('attack: keys that reach for prototypes, anywhere', async () => {
    await assertRefused(json('{"__proto__":{"polluted":1}}'), 400, /__proto__/);
    await assertRefused(json('{"a":[{"b":{"constructor":{"prototype":{}}}}]}'), 400, /a\.0\.b\.constructor/);
    await assertRefused(json('{"\\u005f_proto__":1}'), 400, /__proto__/);
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });

  test('attack: characters that do not survive storage', async () => {
    await assertRefused(json('{"username":"a\\u0000b"}'), 400, /username/);
    await assertRefused(json('{"username":"\\ud800"}'), 400, /username/);
    await assertRefused(json('{"a\\u0000":1}'), 400, /not allowed/);
  });

  test('attack: deeper than 32 levels', async () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    assert.equal((await json(nested(32))).status, 200);
    await assertRefused(json(nested(33)), 400, /nested deeper than 32/);
    await assertRefused(json(nested(49_000)), 400, /nested deeper/);
    await assertRefused(json('{"a":'.repeat(16_000)), 400, /not valid JSON/);
    await assertRefused(json(nested(100_000)), 413, /too large/);
  });

  test('has a limit that one reader may raise, exact to the byte', async () => {
    const text = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
    assert.equal((await json(text(100_000))).status, 200);
    await assertRefused(json(text(100_001)), 413, /too large/);
    assert.equal((await post('/large', JSON_TYPE, text(500_000))).status, 200);
    await assertRefused(post('/large', JSON_TYPE, text(500_001)), 413, /too large/);
  });
});

describe('attack: bodies that misstate themselves', () => {
  test('compressed bodies, bombs or not, are refused unread', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'x-gzip', 'gzip, gzip', 'GZIP']) {
      const headers = { 'Content-Encoding': encoding };
      await assertRefused(post('/json', JSON_TYPE, bomb, headers), 415, /compressed/);
      await assertRefused(post('/form', FORM, 'a=1', headers), 415, /compressed/);
    }
    assert.equal((await post('/form', FORM, 'a=1', { 'Content-Encoding': 'identity' })).status, 200);
  });

  const head = (length: string) =>
    `POST /form HTTP/1.1\r\nHost: a\r\nAccept: ${JSON_TYPE}\r\nContent-Type: ${FORM}\r\n${length}\r\nConnection: close\r\n\r\n`;

  test('wrong Content-Length', async () => {
    assert.match(await sendRaw(site.port, `${head('Content-Length: 3')}a=1&b=2`), /^HTTP\/1\.1 400/);
    for (const length of ['-1', 'x', '3, 4', '0x3', '99999999999999999999']) {
      assert.match(
        await sendRaw(site.port, `${head(`Content-Length: ${length}`)}a=1`),
        /^HTTP\/1\.1 4(00|13)/,
        length,
      );
    }
    const twice = 'Content-Length: 3\r\nContent-Length: 4';
    assert.match(await sendRaw(site.port, `${head(twice)}a=1`), /^HTTP\/1\.1 400/);
    const both = 'Content-Length: 3\r\nTransfer-Encoding: chunked';
    assert.match(await sendRaw(site.port, `${head(both)}3\r\na=1\r\n0\r\n\r\n`), /^HTTP\/1\.1 400/);
    assert.match(await sendRaw(site.port, `${head('Content-Length: 4294967296')}a=1`), /^HTTP\/1\.1 413/);
  });

  test('endless chunks are refused once over the limit', async () => {
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
    const text = await sendRaw(
      site.port,
      `${head('Transfer-Encoding: chunked')}${chunk.repeat(20)}0\r\n\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 413/);
  });

  test('a refused body leaves the connection usable', async () => {
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
    const kept = head('Transfer-Encoding: chunked').replace('Connection: close\r\n', '');
    const next = 'GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const text = await sendRaw(site.port, `${kept}${chunk.repeat(200)}0\r\n\r\n${next}`);
    assert.match(text, /^HTTP\/1\.1 413.*HTTP\/1\.1 200.*ok$/s);
  });

  test('attack: many large bodies cost neither time nor memory, and others are served', async () => {
    const body = Buffer.alloc(10 * 1024 * 1024, 0x20);
    await json(body);
    const before = process.memoryUsage.rss();
    const startedAt = performance.now();
    const large = Array.from({ length: 8 }, () => json(body));
    assert.equal((await site.send('/other')).body, 'ok');
    for (const answer of await Promise.all(large)) assert.equal(answer.status, 413);
    assert.ok(isWithin(performance.now() - startedAt, 4_000));
    assert.ok(process.memoryUsage.rss() - before < 50 * 1024 * 1024);
  });
});

test('parsed body: stored nowhere else on the request', async () => {
  const seen: unknown[] = [];
  const other = await serve(async (ctx) => {
    await readForm(ctx);
    seen.push(ctx.request.body, ctx.req.body);
    ctx.body = 'ok';
  });
  try {
    await other.send('/', { method: 'POST', headers: { 'Content-Type': FORM }, body: 'password=canary' });
    assert.deepEqual(seen, [undefined, undefined]);
    assert.ok(!other.lines.join().includes('canary'));
  } finally {
    await other.close();
  }
});
