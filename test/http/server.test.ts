// The server's limits against slow and oversized clients and its shutdown (R158).
import assert from 'node:assert/strict';
import { Agent, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  listen,
  stopServer,
} from '../../src/http/server.ts';
import { isWithin } from '../support/patience.ts';
import { type Answer, type SendOptions, send, sendRaw } from './serve.ts';

async function withServer(
  handler: RequestListener,
  act: (site: {
    server: HttpServer;
    port: number;
    get: typeof send extends (port: number, ...rest: infer R) => infer A ? (...rest: R) => A : never;
  }) => Promise<void>,
  options: Partial<HttpServerOptions> = {},
): Promise<void> {
  const server = createHttpServer({ handler, ...options });
  const port = await listen(server, { port: 0, host: '127.0.0.1' });
  try {
    await act({
      server,
      port,
      get: (path: string, request?: SendOptions): Promise<Answer> => send(port, path, request),
    });
  } finally {
    await stopServer(server, { graceMs: 100 });
  }
}

const ok: RequestListener = (_request, response) => response.end('ok');
/** @param begun told when a request has come */
const slow =
  (ms: number, begun: () => void): RequestListener =>
  async (_request, response) => {
    begun();
    await sleep(ms);
    response.end('ok');
  };

describe('attack: an oversized head', () => {
  test('over 32 KiB, 500 headers or a 24 KiB query is refused; others are served', async () => {
    await withServer(ok, async ({ get }) => {
      assert.equal((await get('/', { headers: { 'X-Long': 'x'.repeat(33 * 1024) } })).status, 431);
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, '1']));
      assert.equal((await get('/', { headers: many })).status, 431);
      assert.equal((await get(`/?${'q'.repeat(24 * 1024)}`)).status, 414);
      assert.equal((await get(`/?${'q'.repeat(24 * 1000)}`)).status, 200);
      assert.equal((await get('/', { headers: { 'X-Long': 'x'.repeat(31 * 1024) } })).status, 200);
    });
  });

  test('an oversized cookie header is refused and cleared, so its owner is not locked out', async () => {
    await withServer(ok, async ({ get }) => {
      const many = Array.from({ length: 200 }, (_, index) => `c${index}=1`).join('; ');
      for (const cookie of [many, `a=${'x'.repeat(16 * 1024)}`, `__Host-a=${'x'.repeat(16 * 1024)}; b=1`]) {
        const { status, headers, body } = await get('/', { headers: { Cookie: cookie } });
        assert.equal(status, 431);
        assert.equal(headers['clear-site-data'], '"cookies"');
        assert.match(body, /cleared: reload/);
        const expired = headers['set-cookie'] ?? [];
        assert.ok(expired.length > 0 && expired.every((line) => line.includes('=; Path=/; Max-Age=0')));
      }
      const { headers, status } = await get('/', { headers: { Cookie: `a=${'x'.repeat(33 * 1024)}` } });
      assert.deepEqual([status, headers['clear-site-data']], [431, '"cookies"']);
      assert.equal((await get('/', { headers: { Cookie: `a=${'x'.repeat(16_000)}` } })).status, 200);
    });
  });

  test('loopback: cookies of other programs are kept, and the text says whose to delete', async () => {
    const site = { loopbackHost: 'localhost' };
    await withServer(
      ok,
      async ({ get, port }) => {
        const cookie = `.AspNetCore.Cookies=${'x'.repeat(16 * 1024)}; latchkey_session=a; __Secure-latchkey_resume=b; other=c`;
        const { status, headers, body } = await get('/', { headers: { Cookie: cookie } });
        assert.equal(status, 431);
        assert.equal(headers['clear-site-data'], undefined);
        assert.deepEqual(headers['set-cookie'], [
          'latchkey_session=; Path=/; Max-Age=0',
          '__Secure-latchkey_resume=; Path=/; Max-Age=0; Secure',
        ]);
        assert.match(body, /other programs on this machine set for localhost\. Delete those/);
        const long = `GET / HTTP/1.1\r\nHost: a\r\nCookie: a=${'x'.repeat(33 * 1024)}\r\n\r\n`;
        const text = await sendRaw(port, long);
        assert.match(text, /^HTTP\/1\.1 431[\s\S]*other programs on this machine/);
        assert.doesNotMatch(text, /Clear-Site-Data|Set-Cookie/);
      },
      site,
    );
  });

  test('a cookie name cannot inject headers', async () => {
    await withServer(ok, async ({ port }) => {
      const cookie = `${'x'.repeat(16 * 1024)}=1; a b=1; c\u00e9=1; <d>=1`;
      const text = await sendRaw(port, `GET / HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`);
      assert.match(text, /^HTTP\/1\.1 431/);
      assert.doesNotMatch(text, /a b=|<d>/);
    });
  });
});

describe('attack: slow clients', () => {
  const quick = { headersTimeoutMs: 200, requestTimeoutMs: 400 };

  test('an endless head is closed', async () => {
    await withServer(
      ok,
      async ({ port, get }) => {
        const startedAt = performance.now();
        const drips = Array.from({ length: 50 }, () =>
          sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '),
        );
        assert.equal((await get('/')).status, 200);
        for (const text of await Promise.all(drips)) assert.match(text, /^HTTP\/1\.1 408|^$/);
        assert.ok(isWithin(performance.now() - startedAt, 2_000));
      },
      quick,
    );
  });

  test('an endless body is closed, answered or not', async () => {
    const reads: RequestListener = (request, response) => {
      request.resume();
      request.on('end', () => response.end('ok'));
    };
    for (const handler of [reads, ok]) {
      await withServer(
        handler,
        async ({ port }) => {
          const startedAt = performance.now();
          await sendRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx');
          assert.ok(isWithin(performance.now() - startedAt, 2_000));
        },
        quick,
      );
    }
  });

  test('the default limits are those of the checklist', () => {
    const server = createHttpServer({ handler: ok });
    assert.ok(server.headersTimeout <= 10_000);
    assert.ok(server.requestTimeout <= 30_000);
    assert.ok(server.keepAliveTimeout > 60_000);
  });
});

test('attack: bytes after a bad request do not reach the handler', async () => {
  let handled = 0;
  await withServer(
    (_request, response) => {
      handled += 1;
      response.end('ok');
    },
    async ({ port }) => {
      for (const bytes of [
        'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET / HTTP/1.1\nHost: a\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01\x00\x01',
      ]) {
        assert.match(await sendRaw(port, bytes), /^HTTP\/1\.1 400/);
      }
    },
  );
  assert.equal(handled, 0);
});

describe('shutdown', () => {
  test('completes running requests on connections that then close, and accepts no new ones', async () => {
    const begun = Promise.withResolvers<void>();
    await withServer(slow(200, begun.resolve), async ({ server, port, get }) => {
      const agent = new Agent({ keepAlive: true });
      const running = get('/', { agent });
      await begun.promise;
      const stopped = stopServer(server, { graceMs: 5_000 });
      assert.equal(server.isDraining, true);
      // Not at once: what has arrived is accepted first.
      while (server.listening) await sleep(1);
      await assert.rejects(get('/'), /ECONNREFUSED/);
      const answer = await running;
      assert.deepEqual([answer.status, answer.body, answer.headers.connection], [200, 'ok', 'close']);
      assert.equal(await stopped, true);
      await assert.rejects(send(port, '/'), /ECONNREFUSED/);
      agent.destroy();
    });
  });

  test('closes idle connections at once', async () => {
    await withServer(ok, async ({ server, get }) => {
      const agent = new Agent({ keepAlive: true });
      assert.equal((await get('/', { agent })).headers.connection, 'keep-alive');
      const startedAt = performance.now();
      assert.equal(await stopServer(server, { graceMs: 5_000 }), true);
      assert.ok(isWithin(performance.now() - startedAt, 500));
      agent.destroy();
    });
  });

  test('also those whose response had begun before', async () => {
    const begun = Promise.withResolvers<void>();
    const streamed: RequestListener = async (_request, response) => {
      response.write('o', () => begun.resolve());
      await sleep(150);
      response.end('k');
    };
    await withServer(streamed, async ({ server, get }) => {
      const agent = new Agent({ keepAlive: true });
      const running = get('/', { agent });
      await begun.promise;
      const startedAt = performance.now();
      const stopped = stopServer(server, { graceMs: 5_000 });
      assert.equal((await running).body, 'ok');
      assert.equal(await stopped, true);
      assert.ok(isWithin(performance.now() - startedAt, 1_000));
      agent.destroy();
    });
  });

  test('cuts off requests that outlast the grace period', async () => {
    const begun = Promise.withResolvers<void>();
    await withServer(slow(10_000, begun.resolve), async ({ server, get }) => {
      const running = assert.rejects(get('/'), /hang up|ECONNRESET/);
      await begun.promise;
      const startedAt = performance.now();
      assert.equal(await stopServer(server, { graceMs: 100 }), false);
      assert.ok(isWithin(performance.now() - startedAt, 1_000));
      await running;
    });
  });

  test('keeps serving while the balancer drains, without keep-alive', async () => {
    await withServer(ok, async ({ server, get }) => {
      const agent = new Agent({ keepAlive: true });
      assert.equal((await get('/', { agent })).headers.connection, 'keep-alive');
      const stopped = stopServer(server, { graceMs: 1_000, drainMs: 2_000 });
      const late = await get('/', { agent });
      assert.deepEqual([late.status, late.headers.connection], [200, 'close']);
      assert.equal((await get('/')).status, 200);
      assert.equal(await stopped, true);
      await assert.rejects(get('/'), /ECONNREFUSED/);
      agent.destroy();
    });
  });

  test('is not delayed by a half-open request', async () => {
    await withServer(ok, async ({ server, port }) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => server.once('connection', resolve));
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Half: ');
      await sleep(50);
      assert.equal(await stopServer(server, { graceMs: 200 }), false);
      socket.destroy();
    });
  });
});

test('port in use: an error for the caller', async () => {
  await withServer(ok, async ({ port }) => {
    const other = createHttpServer({ handler: ok });
    await assert.rejects(listen(other, { port, host: '127.0.0.1' }), /EADDRINUSE/);
  });
});

test('no host given: reachable over IPv4', async () => {
  const server = createHttpServer({ handler: ok });
  const port = await listen(server, { port: 0, host: '' });
  assert.equal((await send(port, '/')).body, 'ok');
  await stopServer(server, { graceMs: 100 });
});
