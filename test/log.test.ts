// Holds that the log tells no secret and that no value from outside breaks out of its record.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger, type LoggerOptions } from '../src/log.ts';
import { StoreUnavailable } from '../src/store/port.ts';

const CANARY = 'canary-4f1d9a7be2';
// A JWT's shape, put together here so that no scanner takes the test for a leak.
const JWT = ['eyJhbGciOiJub25lIn0', 'eyJzdWIiOiJjYW5hcnkifQ', 'c2lnbmF0dXJl'].join('.');

function record(
  act: (log: ReturnType<typeof createLogger>) => void,
  options: Partial<LoggerOptions> = {},
): string[] {
  const lines: string[] = [];
  act(createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) }, ...options }));
  return lines;
}

test('log line: JSON with level, UTC time, process and message', () => {
  const [line = '', ...more] = record((log) => log.warn({ user_id: 'u1', count: 3 }, 'something'));
  assert.deepEqual(more, []);
  assert.ok(line.endsWith('}\n'));
  const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual(rest, { level: 'warn', pid: process.pid, user_id: 'u1', count: 3, msg: 'something' });
  assert.equal(new Date(String(time)).toISOString(), time);
});

test('log level: lower lines are not written', () => {
  assert.equal(record((log) => log.info('x'), { level: 'warn' }).length, 0);
  assert.equal(record((log) => log.fatal('x'), { level: 'silent' }).length, 0);
});

describe('attack: secrets passed to the log', () => {
  const names = [
    'password',
    'new_password',
    'confirmPassword',
    'passwordHash',
    'token',
    'access_token',
    'refreshToken',
    'id_token_hint',
    'ADMIN_TOKEN',
    'secret',
    'client_secret',
    'totpSecret',
    'code',
    'user_code',
    'code_verifier',
    'recovery_codes',
    'otp',
    'cookie',
    'Set-Cookie',
    'cookies',
    'authorization',
    'Proxy-Authorization',
    'api_key',
    'x-api-key',
    'client_assertion',
    'sealedPrivateJwk',
    'csrf',
  ];
  for (const name of names) {
    test(`under the name ${name}, at any depth, are masked`, () => {
      const [line = ''] = record((log) =>
        log.info({
          [name]: CANARY,
          a: { [name]: [CANARY], b: { c: { d: { [name.toUpperCase()]: { deep: CANARY } } } } },
          list: [{ [name]: CANARY }],
        }),
      );
      assert.ok(!line.includes(CANARY), line);
      assert.equal(line.split('[redacted]').length, 5);
    });
  }

  test('harmless values with similar names stay readable', () => {
    const fields = {
      status_code: 1,
      error_code: 'x',
      password_min_length: 8,
      access_token_seconds: 900,
      is_secret: 'a',
    };
    const [line = ''] = record((log) => log.info({ ...fields, barcode: 7, tokens_removed: 2 }));
    for (const name of [
      'status_code',
      'error_code',
      'password_min_length',
      'access_token_seconds',
      'tokens_removed',
    ]) {
      assert.doesNotMatch(line, new RegExp(`"${name}":"\\[redacted\\]`));
    }
  });

  test('inside texts and messages are masked by their form', () => {
    const texts = [
      `Bearer ${CANARY}`,
      `authorization: Basic ${CANARY}==`,
      `got ${JWT}.`,
      `https://app.example/cb?code=${CANARY}&state=kept`,
      `POST /x?refresh_token=${CANARY}`,
      `called "https://app.example/?token=${CANARY}" twice`,
    ];
    for (const text of texts) {
      const lines = [
        ...record((log) => log.error({ note: text }, text)),
        ...record((log) => log.error(new Error(text, { cause: new Error(text) }))),
        ...record((log) => log.error({ err: new Error(text) }, text), { pretty: true }),
      ];
      assert.equal(lines.length, 3);
      for (const line of lines) {
        assert.ok(!line.includes(CANARY) && !line.includes(JWT), line);
        assert.match(line, /\[redacted\]/);
      }
      for (const line of lines.slice(0, 2)) assert.doesNotThrow(() => JSON.parse(line), line);
    }
  });

  test('attached to errors by libraries are not written at all', () => {
    const error = Object.assign(new TypeError('failed'), {
      code: 'EFAIL',
      request: { body: CANARY },
      response: { headers: { x: CANARY } },
      params: [CANARY],
    });
    const [line = ''] = record((log) => log.error({ err: error }, 'x'));
    assert.ok(!line.includes(CANARY), line);
    const { err } = JSON.parse(line) as { err: Record<string, string> };
    assert.deepEqual([err.type, err.message, err.code], ['TypeError', 'failed', 'EFAIL']);
    assert.match(err.stack ?? '', /^TypeError: failed\n\s+at .*log\.test\.ts/);
  });

  test('as binary data are not written', () => {
    const [line = ''] = record((log) => log.info({ key: Buffer.from(CANARY) }));
    assert.match(line, /"key":"\[binary\]"/);
  });
});

describe('attack: log injection', () => {
  const hostile = [
    'a\nb',
    'a\r\n{"level":"fatal","msg":"forged"}',
    '\u001b[2J\u001b[31m',
    '\u009b31m',
    '\u2028\u2029',
    '\u0000\u007f\u0085',
    '","level":"fatal","x":"',
  ];
  for (const value of hostile) {
    test(`${JSON.stringify(value)} stays inside its record`, () => {
      const lines = record((log) => {
        log.info({ username: value, [value]: 1 }, value);
        log.error(new Error(value));
      });
      assert.equal(lines.length, 2);
      for (const line of lines) {
        assert.equal(line.indexOf('\n'), line.length - 1);
        assert.doesNotMatch(line.slice(0, -1), /[^\x20-\x7e\u00a0-\u2027\u202a-\uffff]/);
      }
      const fields = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
      assert.equal(fields.level, 'info');
      assert.equal(fields.username, value);
    });

    test(`${JSON.stringify(value)} controls no terminal and forges no line there`, () => {
      const [info = '', error = ''] = record(
        (log) => {
          log.info({ username: value }, value);
          log.error(new Error(value));
        },
        { pretty: true },
      );
      assert.doesNotMatch(info + error, /[^\n\x20-\x7e\u00a0-\u2027\u202a-\uffff]/);
      assert.equal(info.split('\n').length, 2);
      for (const line of error.split('\n').slice(1, -1)) assert.match(line, /^\s{4}/);
    });
  }
});

describe('log in a terminal', () => {
  const request = { request_id: 'r1', method: 'GET', path: '/admin', status: 200, ms: 12.3, ip: '::1' };
  const shown = (fields: object, message = 'request'): string =>
    record((log) => log.info(fields, message), { pretty: true })
      .join('')
      .replace(/^\d\d:\d\d:\d\d /, '');

  test('a request is its method, path, status and time; a failed one says how to find it', () => {
    assert.equal(shown(request), 'GET /admin 200 12 ms\n');
    assert.equal(
      shown({ ...request, status: 403, reason: 'request.csrf' }),
      'GET /admin 403 12 ms request.csrf\n',
    );
    assert.equal(shown({ ...request, status: 500 }), 'GET /admin 500 12 ms request_id=r1\n');
    assert.equal(shown({ ...request, is_aborted: true }), 'GET /admin 200 12 ms closed by the client\n');
  });

  test('a served asset is no line, a missing one is; JSON has both', () => {
    const asset = { ...request, path: '/assets/a.css' };
    assert.equal(shown(asset), '');
    assert.equal(shown({ ...asset, path: '/base/assets/a.css' }), '');
    assert.match(shown({ ...asset, status: 404 }), /^GET \/assets\/a\.css 404/);
    assert.equal(record((log) => log.info(asset, 'request')).length, 1);
    assert.match(shown({ path: '/assets/a.css' }, 'something else'), /^something else/);
  });

  test('an unavailable store is its message, a bug its stack', () => {
    const text = (err: Error): string =>
      record((log) => log.error({ err }, 'request failed'), { pretty: true }).join('');
    assert.match(
      text(new StoreUnavailable('SQLite: disk full')),
      /error request failed: SQLite: disk full\n$/,
    );
    assert.match(text(new TypeError('a bug')), /error request failed *\n[\s\S]*\n\s+at /);
  });

  test('attack: a path or a field with control characters controls nothing', () => {
    for (const path of ['/\u001b[2J', '/a\r\n00:00:00 GET /forged 200', '/\u009b31m'])
      assert.doesNotMatch(shown({ ...request, path, reason: path }), /[^\n\x20-\x7e]|\n./);
  });
});

test('log: values that cannot be written whole are truncated, not refused', () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const lines = record((log) => {
    log.info({
      circular,
      big: 10n ** 20n,
      fn: () => 1,
      when: new Date(0),
      url: new URL('https://a.example/'),
    });
    log.info({ long: 'x'.repeat(100_000), many: Array.from({ length: 10_000 }, (_, index) => index) });
  });
  assert.equal(lines.length, 2);
  for (const line of lines) assert.ok(line.length < 6_000, String(line.length));
  assert.match(lines[0] ?? '', /"big":"100000000000000000000".*"when":"1970-01-01T00:00:00\.000Z"/);
});
