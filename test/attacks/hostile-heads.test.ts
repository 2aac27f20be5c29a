// Attack: request lines and headers that are too long, too many or broken, at every address, and wrong lengths.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { residentMib, type ServerProcess, startServer } from '../processes/server-process.ts';
import { isWithin } from '../support/patience.ts';
import { liftLimits } from './limits.ts';
import { pooled } from './pool.ts';
import { exchange, plainRequest, type RawAnswer, send, statusIn } from './raw-http.ts';
import { allRoutes, type Route } from './routes.ts';
import { inTurn } from './sizes.ts';

type Headers = readonly (readonly [string, string])[];

const MAX_MS = 1000;
const MAX_GROWTH_MIB = 50;

const numbered = (count: number, make: (index: number) => readonly [string, string]): Headers =>
  Array.from({ length: count }, (_, index) => make(index));

/** Too much for anyone: refused whatever the address. */
const refused: Readonly<Record<string, readonly [headers: Headers, status: number]>> = {
  'one header of 33 kB': [[['X-Long', 'a'.repeat(33_000)]], 431],
  'an Authorization of 33 kB': [[['Authorization', `Bearer ${'a'.repeat(33_000)}`]], 431],
  '500 headers': [numbered(500, (index) => [`X-${index}`, 'a']), 431],
  '500 times one header': [numbered(500, () => ['X-Same', 'a']), 431],
  '200 cookies': [[['Cookie', Array.from({ length: 200 }, (_, index) => `c${index}=1`).join('; ')]], 431],
  'a cookie of 16 kB': [[['Cookie', `latchkey_session=${'a'.repeat(16_384)}`]], 431],
  'cookies of 16 kB together': [[['Cookie', `${`a=${'a'.repeat(150)}; `.repeat(108)}b=1`]], 431],
};

/** Unusual: every address answers as it does without. */
const borne: Readonly<Record<string, Headers>> = {
  'cookies of other programs of 15 kB': [['Cookie', `${`other=${'a'.repeat(3_700)}; `.repeat(4)}b=1`]],
  'one header of 8 kB': [['X-Long', 'a'.repeat(8000)]],
  'a user agent of 8 kB': [['User-Agent', 'Mozilla/5.0 '.repeat(650)]],
  'a language list of 8 kB': [['Accept-Language', 'a-b;q=0.1,'.repeat(800)]],
  'a Referer of 8 kB': [['Referer', `https://evil.example/${'a'.repeat(7900)}`]],
  'a list of forwarders of 8 kB': [['X-Forwarded-For', '6.6.6.6, '.repeat(880)]],
  encodings: [['Accept-Encoding', 'br;q=1, gzip;q=0.1, *;q=0, identity;q=0']],
  'an If-None-Match of 8 kB': [['If-None-Match', '"a", '.repeat(1600)]],
  'bytes above ASCII': [['X-Odd', '\u00ff\u00fe\u0080']],
  'a range': [['Range', 'bytes=0-1,2-3,5-1000000']],
  'an upgrade that nobody offers': [
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
  ],
  'another method in a header': [
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Method-Override', 'DELETE'],
  ],
};

let server: ServerProcess;
let folder: string;
let routes: Route[];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-heads-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn' } });
  await liftLimits(server);
  routes = await allRoutes(server);
});
after(async () => {
  const { code } = await server.stop();
  await rm(folder, { recursive: true });
  assert.equal(code, 0);
});

async function onEveryAddress(
  headers: Headers,
  turn: number,
  check: (route: Route, answer: RawAnswer) => void,
): Promise<void> {
  const memory = await residentMib(server.pid);
  await pooled(inTurn(routes, turn), 4, async (route) => {
    const answer = await send(server.url, { method: route.method, path: route.path, headers });
    const label = `${route.method} ${route.path}`;
    assert.ok(isWithin(answer.elapsedMs, MAX_MS), `${label}: ${answer.elapsedMs} ms`);
    assert.doesNotMatch(answer.body, /node_modules|\.ts:\d+/, label);
    check(route, answer);
  });
  const growth = (await residentMib(server.pid)) - memory;
  assert.ok(growth <= MAX_GROWTH_MIB, `grew by ${growth} MiB`);
  assert.equal((await send(server.url, { path: '/readyz' })).status, 200);
}

suite('attack: hostile headers and queries at every address', () => {
  for (const [turn, [name, [headers, status]]] of Object.entries(refused).entries()) {
    test(`${name}: ${status}`, async () => {
      await onEveryAddress(headers, turn, ({ method, path }, answer) =>
        assert.equal(answer.status, status, `${method} ${path}`),
      );
    });
  }

  for (const [turn, [name, headers]] of Object.entries(borne).entries()) {
    test(`${name}: answered as without`, async () => {
      const usual = new Map<Route, number>();
      await onEveryAddress([], turn, (route, { status }) => usual.set(route, status));
      // Without a token metrics are for local callers alone, and whoever was forwarded is none.
      const isForwarded = headers.some(([header]) => header.toLowerCase() === 'x-forwarded-for');
      await onEveryAddress(headers, turn, (route, { status }) => {
        const expected = isForwarded && route.path === '/metrics' ? 404 : usual.get(route);
        assert.equal(status, expected, `${route.method} ${route.path}`);
      });
    });
  }

  test('a query of 24 kB is refused, a slightly shorter one is served', async () => {
    await pooled(routes, 4, async ({ method, path }) => {
      const [long, shorter] = [`${path}?${'q'.repeat(24 * 1024)}`, `${path}?state=${'q'.repeat(23_000)}`];
      assert.equal((await send(server.url, { method, path: long })).status, 414, path);
      const { status } = await send(server.url, { method, path: shorter });
      assert.ok(status < 500 && status !== 414, `${method} ${path}: ${status}`);
    });
  });
});

test('attack: malformed addresses get 4xx before any handler', async () => {
  const odd = [
    '/%',
    '/%00',
    '/%E0%A4%A',
    '/%ff/%fe',
    '/oauth2/authorize/%E0%A4%A',
    '/oauth2/register/%E0%A4%A',
    '/admin/api/users/%E0%A4%A',
    '/admin/api/users/..%2f..%2fetc%2fpasswd',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/../../package.json',
    '/oauth2/../admin/api/users',
    '/oauth2//token',
    '/oauth2/token/',
    '/OAUTH2/TOKEN',
    '/oauth2/token;jsessionid=1',
    '/realms/%2e%2e/protocol/openid-connect/token/../../../../admin/api/users',
    `/realms/${'a'.repeat(5000)}/protocol/openid-connect/nothing`,
    '/constructor',
    '/__proto__',
    '/oauth2/protocol/openid-connect/constructor',
    '/oauth2/protocol/openid-connect/__proto__',
    '/oauth2/authorize/__proto__',
    `/${'a/'.repeat(3000)}`,
  ];
  for (const path of odd) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, body } = await send(server.url, { method, path });
      assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status}`);
      assert.doesNotMatch(body, /"dependencies"|root:x/);
    }
  }
});

suite('attack: bytes that are no valid HTTP request', () => {
  const close = (bytes: string): Promise<string> => exchange(server.url, bytes);

  test('Content-Length too short: the rest is no second request', async () => {
    const body = 'token=aGET /admin HTTP/1.1\r\nHost: a\r\n\r\n';
    const headers = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 7'];
    const answer = await close(plainRequest(server.url, 'POST /oauth2/revoke HTTP/1.1', headers, body));
    assert.equal(answer.match(/HTTP\/1\.1 \d{3}/g)?.length, 1, answer.slice(0, 500));
  });

  test('Content-Length too long: the connection times out', async () => {
    const head = `POST /oauth2/revoke HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
    const { hostname, port } = new URL(server.url);
    const { connect } = await import('node:net');
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => undefined);
    socket.end(`${head}Content-Length: 100\r\n\r\ntoken=a`);
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on('close', () => resolve());
    socket.resume();
    await promise;
    assert.equal((await send(server.url, { path: '/readyz' })).status, 200);
  });

  const smuggled: Readonly<Record<string, string[]>> = {
    'two lengths': ['Content-Length: 5', 'Content-Length: 6'],
    'a length and chunks': ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    'chunks that are not last': ['Transfer-Encoding: chunked, identity'],
    'a length with a sign': ['Content-Length: +5'],
    'a length that is no number': ['Content-Length: 0x5'],
    'a negative length': ['Content-Length: -1'],
    'a folded header': ['X-A: a', ' b: c'],
    'a header without a name': [': a'],
    'a space before the colon': ['Content-Length : 5'],
    'a NUL in a header': ['X-A: a\0b'],
  };
  for (const [name, headers] of Object.entries(smuggled)) {
    test(`${name}: refused, and the connection closed`, async () => {
      const type = 'Content-Type: application/x-www-form-urlencoded';
      const line = 'POST /oauth2/revoke HTTP/1.1';
      const answer = await close(plainRequest(server.url, line, [type, ...headers], 'token=a'));
      assert.equal(statusIn(answer), 400, answer.slice(0, 300));
    });
  }

  test('HTTP/0.9, HTTP/1.0, HTTP/2 and non-HTTP', async () => {
    for (const bytes of [
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01',
      '\0\0\0\0\r\n\r\n',
    ]) {
      assert.equal(statusIn(await close(bytes)), 400, JSON.stringify(bytes));
    }
    assert.equal(statusIn(await close('GET /healthz HTTP/1.0\r\n\r\n')), 200);
  });

  test('a hundred pipelined requests get a hundred answers', async () => {
    const one = `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`;
    const last = `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answer = await close(one.repeat(99) + last);
    assert.equal(answer.match(/HTTP\/1\.1 200/g)?.length, 100);
  });
});

test('attack: hostile headers and bytes cause no error in the log', () => {
  assert.deepEqual(
    server.logged.filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
  );
});
