// The server's own address never comes from a request.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import Koa from 'koa';
import { pinOrigin } from '../../src/http/origin.ts';
import { listen } from '../../src/http/server.ts';
import { sendRaw, serve, testKeys } from './serve.ts';

const echo: Koa.Middleware = (ctx) => {
  const { protocol, secure, host, hostname, href, path, url, subdomains } = ctx;
  ctx.body = {
    protocol,
    secure,
    host,
    hostname,
    href,
    path,
    url,
    subdomains,
    origin: ctx.request.origin,
    URL: ctx.URL.href,
  };
};

const ours = {
  protocol: 'https',
  secure: true,
  host: 'id.example.com:8443',
  hostname: 'id.example.com',
  href: 'https://id.example.com:8443/a/b?c=d',
  path: '/a/b',
  url: '/a/b?c=d',
  subdomains: ['id'],
  origin: 'https://id.example.com:8443',
  URL: 'https://id.example.com:8443/a/b?c=d',
};

describe('attack: a request that claims another host', () => {
  const claims: Record<string, string>[] = [
    { Host: 'evil.example' },
    { Host: 'evil.example', 'X-Forwarded-Host': 'worse.example' },
    { 'X-Forwarded-Host': 'evil.example, id.example.com' },
    { 'X-Forwarded-Proto': 'http' },
    { 'X-Forwarded-Proto': 'javascript' },
    { 'X-Forwarded-Port': '1' },
    { Forwarded: 'host=evil.example;proto=http;for=6.6.6.6' },
    { 'X-Original-Host': 'evil.example', 'X-Host': 'evil.example' },
    { Host: 'id.example.com@evil.example' },
    { Host: 'id.example.com:8443.evil.example' },
    { Host: '[::1]:80' },
    { Origin: 'https://evil.example' },
  ];
  for (const trustProxy of [0, 1]) {
    for (const headers of claims) {
      test(`TRUST_PROXY=${trustProxy} ${JSON.stringify(headers)} changes nothing`, async () => {
        const site = await serve(echo, { baseUrl: 'https://id.example.com:8443', trustProxy });
        try {
          const answer = await site.send('/a/b?c=d', { headers });
          assert.deepEqual(JSON.parse(answer.body), ours);
        } finally {
          await site.close();
        }
      });
    }
  }

  test('an absolute request target is read as its path', async () => {
    const site = await serve(echo, { baseUrl: 'https://id.example.com:8443' });
    try {
      const text = await sendRaw(
        site.port,
        'GET http://evil.example/a/b?c=d HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      );
      assert.match(text, /^HTTP\/1\.1 200/);
      assert.deepEqual(JSON.parse(text.split('\r\n\r\n')[1] ?? ''), ours);
    } finally {
      await site.close();
    }
  });

  test('no Host, two Hosts, or a target that is no path: refused', async () => {
    const site = await serve(echo);
    try {
      for (const head of [
        'GET / HTTP/1.1\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n',
        'OPTIONS * HTTP/1.1\r\nHost: a\r\n',
        'GET evil HTTP/1.1\r\nHost: a\r\n',
      ]) {
        assert.match(await sendRaw(site.port, `${head}Connection: close\r\n\r\n`), /^HTTP\/1\.1 400/, head);
      }
    } finally {
      await site.close();
    }
  });
});

test('absolute request target: read as its path by the app alone, behind any server', async () => {
  const app = new Koa();
  pinOrigin(app, { baseUrl: 'https://id.example.com:8443', trustProxy: 0, keys: testKeys });
  app.use((ctx) => {
    ctx.body = { href: ctx.href, URL: ctx.URL.href };
  });
  const server = createServer(app.callback());
  const port = await listen(server, { port: 0, host: '127.0.0.1' });
  try {
    for (const target of ['http://evil.example/a?b', 'HTTPS://u@evil.example/a?b', '/a?b']) {
      const text = await sendRaw(
        port,
        `GET ${target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      );
      const href = 'https://id.example.com:8443/a?b';
      assert.deepEqual(JSON.parse(text.split('\r\n\r\n')[1] ?? ''), { href, URL: href }, target);
    }
  } finally {
    server.close();
  }
});

test('origin: only the given app is changed', () => {
  const pinned = new Koa();
  const other = new Koa();
  pinOrigin(pinned, { baseUrl: 'https://id.example.com', trustProxy: 0, keys: testKeys });
  assert.equal(pinned.request.host, 'id.example.com');
  assert.deepEqual(pinned.keys, testKeys);
  assert.equal(Object.hasOwn(other.request, 'host'), false);
});

test('secure cookies: can be set behind a proxy that speaks plain http to the server', async () => {
  const site = await serve(
    (ctx) => {
      ctx.cookies.set('a', 'b', { secure: true });
      ctx.body = 'ok';
    },
    { baseUrl: 'https://id.example.com' },
  );
  try {
    const { headers } = await site.send('/');
    assert.match(String(headers['set-cookie']), /a=b; path=\/; secure; httponly/);
  } finally {
    await site.close();
  }
});
