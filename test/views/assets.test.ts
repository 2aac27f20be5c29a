// Static files of pages: cached permanently, compressed, and nothing else from the disk.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { type PageServer, startPages } from '../pages/server.ts';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

let pages: PageServer;
before(async () => {
  pages = await startPages({ samples: { onboard: samples.onboard }, basePath: '/auth' });
});
after(() => pages.close());

// node:http, not fetch: it neither decompresses nor tidies the path up.
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(`${pages.origin}/`, { path, method, headers }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
    });
    asked.on('error', reject);
    asked.end();
  });

const stylesheet = async (): Promise<string> => {
  const { body } = await ask('/nothing', {}, 'POST');
  const [path] = /\/auth\/assets\/latchkey\.[\w-]{12}\.css/.exec(body.toString()) ?? [];
  return path ?? assert.fail('the page names no style sheet');
};

test('assets: cached permanently, compressed as the browser accepts', async () => {
  const path = await stylesheet();
  const plain = await ask(path);
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['content-type'], 'text/css; charset=utf-8');
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(plain.headers.vary, 'Accept-Encoding');
  assert.equal(plain.headers['content-encoding'], undefined);

  const brotli = await ask(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
  assert.equal(brotli.headers['content-encoding'], 'br');
  assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);

  const gzip = await ask(path, { 'accept-encoding': 'gzip, br;q=0' });
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(gzip.body), plain.body);
  assert.notEqual(gzip.headers.etag, brotli.headers.etag);
});

test('package scripts: whole, with licence, compressed for concurrent first requests', async () => {
  const { body } = await ask('/show/onboard');
  const [, sources = ''] = /data-scripts="([^"]+)"/.exec(body.toString()) ?? [];
  let wire = 0;
  for (const path of sources.split(' ')) {
    assert.match(path, /^\/auth\/assets\/zxcvbn-\w+\.[\w-]{12}\.js$/);
    const [plain, gzip, ...brotli] = await Promise.all([
      ask(path),
      ask(path, { 'accept-encoding': 'gzip' }),
      ask(path, { 'accept-encoding': 'br' }),
      ask(path, { 'accept-encoding': 'br' }),
    ]);
    assert.match(plain.body.toString(), /^\/\*![^*]*Permission is hereby granted[^*]*\*\/\n/);
    assert.deepEqual(gunzipSync(gzip.body), plain.body);
    for (const one of brotli) assert.deepEqual(brotliDecompressSync(one.body), plain.body);
    wire += brotli[0]?.body.length ?? 0;
  }
  assert.ok(wire > 100_000 && wire < 400_000, `${wire} bytes on the wire`);
});

test('assets: a known ETag is 304 without a body', async () => {
  const path = await stylesheet();
  const { headers } = await ask(path);
  const again = await ask(path, { 'if-none-match': String(headers.etag) });
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
  assert.equal(again.headers.etag, headers.etag);
  assert.equal(again.headers['cache-control'], headers['cache-control']);
});

test('assets: HEAD is GET without a body; other methods are refused', async () => {
  const path = await stylesheet();
  const head = await ask(path, {}, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.body.length, 0);
  assert.equal(Number(head.headers['content-length']), (await ask(path)).body.length);
  const post = await ask(path, {}, 'POST');
  assert.equal(post.status, 405);
});

test("assets: an address of another version is answered with this one's file, never cached", async () => {
  const path = await stylesheet();
  const own = await ask(path);
  const other = await ask(path.replace(/\.[\w-]{12}\./, '.AAAAAAAAAAAA.'), {
    'if-none-match': String(own.headers.etag),
  });
  assert.equal(other.status, 200);
  assert.equal(other.headers['cache-control'], 'no-store');
  assert.equal(other.headers.etag, undefined);
  assert.equal(other.headers['content-type'], own.headers['content-type']);
  assert.deepEqual(other.body, own.body);
  const head = await ask(path.replace(/\.[\w-]{12}\./, '.AAAAAAAAAAAA.'), {}, 'HEAD');
  assert.deepEqual([head.status, head.headers['cache-control'], head.body.length], [200, 'no-store', 0]);
});

test('attack: path traversal, unhashed names and what never was a hash', async () => {
  const path = await stylesheet();
  const tries = [
    '/auth/assets/latchkey.css',
    '/auth/assets/',
    '/auth/assets/../layout.njk',
    '/auth/assets/..%2flayout.njk',
    '/auth/assets/%2e%2e/%2e%2e/package.json',
    '/auth/assets/..\\layout.njk',
    '/auth/assets/__proto__',
    path.replace(/\.[\w-]{12}\./, '.AAAAAAAAAAA.'),
    path.replace(/\.[\w-]{12}\./, '.AAAAAAAAAAAA.AAAAAAAAAAAA.'),
    path.replace('latchkey', 'layout').replace(/\.[\w-]{12}\./, '.AAAAAAAAAAAA.'),
    path.replace('latchkey', '__proto__'),
    path.replace('/auth', ''),
  ];
  for (const attempt of tries) assert.equal((await ask(attempt)).status, 404, attempt);
});
