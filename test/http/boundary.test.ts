// Error responses in each of the three shapes, which never contain more than the public message
// (decision 0010).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Koa from 'koa';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { errorBoundary, logLateErrors } from '../../src/http/boundary.ts';
import { errorRows } from '../../src/model/errors/errors.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { type Answer, recordingLog, type SendOptions, type Site, serve } from './serve.ts';

const CANARY = 'canary-in-a-private-message';
const UUID = /^[0-9a-f-]{36}$/;

const failures: Readonly<Record<string, (ctx: Koa.Context) => unknown>> = {
  fields: () => new AppError('request.invalid', { fields: { username: 'is too short' } }),
  taken: () => new AppError('account.username_taken', { cause: new Error(CANARY) }),
  required: () => new AppError('auth.required'),
  token: () => new AppError('auth.invalid_token'),
  scope: () => new AppError('auth.insufficient_scope'),
  account: () => new AppError('auth.insufficient_scope', { scope: 'account' }),
  csrf: () => new AppError('request.csrf'),
  client: () =>
    new AppError('client.invalid_metadata', { message: 'The "redirect_uris" are not né right\\.' }),
  busy: () => new AppError('server.busy', { retryAfterSeconds: 1 }),
  store: () => new StoreUnavailable(CANARY),
  bug: () => new TypeError(CANARY),
  text: () => CANARY,
  nothing: () => undefined,
  hidden: () => Object.assign(new Error(CANARY), { status: 403 }),
  unexposed: () => Object.assign(new Error(CANARY), { status: 403, expose: false }),
  exposed: () => Object.assign(new Error('Only on Tuesdays'), { status: 422, expose: true }),
  teapot: () => Object.assign(new Error(CANARY), { status: 999, expose: true }),
};

const handle: Koa.Middleware = (ctx) => {
  const name = String(ctx.query.fail ?? '');
  const fail = failures[name];
  if (fail !== undefined) {
    ctx.set('ETag', '"of the page that failed"');
    ctx.set('Location', 'https://elsewhere.example');
    ctx.type = 'image/png';
    throw fail(ctx);
  }
  if (name === 'thrown') ctx.throw(404);
  if (name === 'not-allowed') {
    ctx.set('Allow', 'GET, HEAD');
    ctx.status = 405;
  }
  if (name === 'ok') ctx.body = 'ok';
};

let site: Site;
before(async () => {
  site = await serve(handle);
});
after(() => site.close());

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = (path: string, accept?: string, options: SendOptions = {}): Promise<Answer> =>
  site.send(path, { ...options, headers: accept === undefined ? {} : { Accept: accept } });

interface Envelope {
  readonly data: null;
  readonly error: { code: number; message: string; reason: string; fields?: object; request_id: string };
}
const envelope = async (fail: string): Promise<Envelope> =>
  JSON.parse((await get(`/admin/api/users?fail=${fail}`)).body);

describe('the API envelope', () => {
  test('has status, message, code, fields and request id', async () => {
    const answer = await get('/admin/api/users?fail=fields', HTML);
    const { data, error } = JSON.parse(answer.body) as Envelope;
    assert.equal(answer.status, 400);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
    assert.equal(data, null);
    assert.match(error.request_id, UUID);
    assert.equal(error.request_id, answer.headers['x-request-id']);
    assert.deepEqual(
      { ...error, request_id: '' },
      {
        code: 400,
        message: errorRows['request.invalid'].message,
        reason: 'request.invalid',
        fields: { username: 'is too short' },
        request_id: '',
      },
    );
  });

  test('serves both APIs and nothing that resembles their addresses', async () => {
    for (const path of ['/admin/api', '/admin/api/', '/account/api/me']) {
      assert.equal((JSON.parse((await get(path)).body) as Envelope).error.reason, 'request.not_found', path);
    }
    assert.match((await get('/admin/apidocs', HTML)).body, /^<p>/);
  });

  test('has a catalogue code for whatever was thrown', async () => {
    const expected: Record<string, [number, ErrorCode]> = {
      taken: [409, 'account.username_taken'],
      store: [503, 'server.unavailable'],
      bug: [500, 'server.error'],
      text: [500, 'server.error'],
      nothing: [500, 'server.error'],
      hidden: [500, 'server.error'],
      unexposed: [500, 'server.error'],
      exposed: [422, 'request.malformed'],
      teapot: [500, 'server.error'],
      thrown: [404, 'request.not_found'],
      '': [404, 'request.not_found'],
      'not-allowed': [405, 'request.method_not_allowed'],
    };
    for (const [fail, [status, reason]] of Object.entries(expected)) {
      const { error } = await envelope(fail);
      assert.deepEqual([error.code, error.reason], [status, reason], fail);
    }
  });
});

describe('the OAuth error', () => {
  const oauth = async (fail: string): Promise<unknown[]> => {
    const { status, headers, body } = await get(`/oauth2/token?fail=${fail}`);
    const { error, error_description, ...more } = JSON.parse(body) as Record<string, string>;
    assert.deepEqual(more, {});
    assert.match(error_description ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, 'RFC 6749 §5.2');
    return [status, error, headers['www-authenticate'], headers['retry-after']];
  };

  test('has the codes of RFC 6749, 6750 and 7591', async () => {
    assert.deepEqual(await oauth('fields'), [400, 'invalid_request', undefined, undefined]);
    assert.deepEqual(await oauth('required'), [401, 'invalid_token', 'Bearer', undefined]);
    assert.deepEqual(await oauth('token'), [
      401,
      'invalid_token',
      'Bearer error="invalid_token", error_description="The bearer token is not valid."',
      undefined,
    ]);
    const [status, error, challenge] = await oauth('scope');
    assert.deepEqual([status, error], [403, 'insufficient_scope']);
    assert.match(String(challenge), /^Bearer error="insufficient_scope", error_description="[^"]+"$/);
    const [, , named] = await oauth('account');
    assert.match(
      String(named),
      /^Bearer error="insufficient_scope", error_description="[^"]+", scope="account"$/,
    );
    assert.deepEqual(await oauth('client'), [400, 'invalid_client_metadata', undefined, undefined]);
    assert.deepEqual(await oauth('csrf'), [403, 'access_denied', undefined, undefined]);
    assert.deepEqual(await oauth('busy'), [503, 'temporarily_unavailable', undefined, '1']);
    assert.deepEqual(await oauth('store'), [503, 'temporarily_unavailable', undefined, '2']);
    assert.deepEqual(await oauth('bug'), [500, 'server_error', undefined, undefined]);
    assert.deepEqual(await oauth(''), [404, 'invalid_request', undefined, undefined]);
    assert.deepEqual(await oauth('not-allowed'), [405, 'invalid_request', undefined, undefined]);
  });

  test('goes to endpoints that programs call, and to callers that accept no HTML', async () => {
    const programs = [
      '/oauth2/token',
      '/oauth2/introspect',
      '/oauth2/passkey/login/begin',
      '/oauth2/protocol/openid-connect/token',
      '/realms/any/protocol/openid-connect/userinfo',
      '/.well-known/none',
      '/oauth2',
      '/oauth2/authorized',
    ];
    for (const path of programs) {
      assert.match((await get(`${path}?fail=bug`, HTML)).body, /"error":"server_error"/, path);
    }
    for (const accept of ['application/json', 'image/*', 'text/plain', 'text/html;q=0, */*;q=0', '\u00e9']) {
      assert.match((await get('/oauth2/login?fail=bug', accept)).body, /"error":"server_error"/, accept);
    }
  });
});

describe('the page', () => {
  test('goes to browsers', async () => {
    const pages = [
      '/',
      '/oauth2/login',
      '/oauth2/authorize',
      '/oauth2/authorize/some-interaction',
      '/oauth2/mfa/email',
      '/oauth2/protocol/openid-connect/auth',
      '/realms/any/protocol/openid-connect/logout',
      '/admin',
      '/account/security',
      '/nowhere',
    ];
    for (const path of pages) {
      for (const accept of [HTML, '*/*', undefined]) {
        const { status, headers, body } = await get(`${path}?fail=bug`, accept);
        assert.equal(status, 500);
        assert.equal(
          body,
          `<p>${errorRows['server.error'].message}</p><p>${headers['x-request-id']}</p>`,
          path,
        );
      }
    }
  });

  test('becomes a line of text and a log entry when it fails itself', async () => {
    const broken = await serve(handle, {
      sendErrorPage: () => {
        throw new Error(CANARY);
      },
    });
    try {
      const answer = await broken.send('/nowhere', { headers: { Accept: HTML } });
      assert.equal(answer.status, 404);
      assert.match(answer.headers['content-type'] ?? '', /^text\/plain/);
      assert.ok(answer.body.startsWith(errorRows['request.not_found'].message));
      assert.ok(!answer.body.includes(CANARY));
      assert.match(broken.lines.join(''), /the error page failed/);
    } finally {
      await broken.close();
    }
  });
});

test('error response: carries nothing of the response that failed', async () => {
  for (const path of ['/admin/api/x', '/oauth2/token', '/oauth2/login']) {
    const { headers } = await get(`${path}?fail=bug`, HTML);
    assert.equal(headers.etag, undefined);
    assert.equal(headers.location, undefined);
    assert.doesNotMatch(headers['content-type'] ?? '', /png/);
    assert.equal(headers['cache-control'], 'no-store');
  }
});

test('attack: no message, stack or class of an internal error is disclosed', async () => {
  for (const fail of ['taken', 'store', 'bug', 'text', 'nothing', 'hidden', 'unexposed', 'teapot']) {
    for (const path of ['/admin/api/x', '/oauth2/token', '/oauth2/login']) {
      const { headers, body } = await get(`${path}?fail=${fail}`, HTML);
      const text = JSON.stringify(headers) + body;
      assert.ok(!text.includes(CANARY), `${path} ${fail}: ${text}`);
      assert.doesNotMatch(text, /TypeError|node_modules|\.ts:|Koa|at .*\(/);
      assert.equal(headers['x-powered-by'], undefined);
      assert.equal(headers.server, undefined);
    }
  }
});

test('attack: TRACE and unknown methods echo nothing', async () => {
  const answer = await get('/oauth2/login?fail=ok', HTML, { method: 'TRACE' });
  assert.equal(answer.status, 405);
  assert.match(answer.headers.allow ?? '', /^GET, HEAD, POST/);
  assert.doesNotMatch(answer.body, /text\/html,/);
});

test('HEAD: status without a body', async () => {
  const answer = await get('/admin/api/x?fail=taken', HTML, { method: 'HEAD' });
  assert.deepEqual([answer.status, answer.body], [409, '']);
});

test('405: keeps the Allow header', async () => {
  assert.equal((await get('/admin/api/x?fail=not-allowed')).headers.allow, 'GET, HEAD');
});

describe('the log', () => {
  const linesOf = async (fail: string): Promise<Record<string, unknown>[]> => {
    const answer = await get(`/admin/api/x?fail=${fail}`);
    const id = String(answer.headers['x-request-id']);
    return site.lines.filter((line) => line.includes(id)).map((line) => JSON.parse(line));
  };

  test('has server faults once, with stack and request id', async () => {
    const [fault, request, ...more] = await linesOf('bug');
    assert.deepEqual(more, []);
    assert.equal(fault?.level, 'error');
    assert.match(JSON.stringify(fault?.err), new RegExp(`TypeError.*${CANARY}.*boundary\\.test\\.ts`));
    assert.equal(request?.msg, 'request');
    assert.equal(request?.reason, 'server.error');
  });

  test('has caller faults in the request line only', async () => {
    for (const fail of ['fields', 'taken', 'required', 'exposed', '']) {
      assert.equal((await linesOf(fail)).length, 1, fail);
    }
  });

  test('has expected states as warnings without a stack', async () => {
    const [busy] = await linesOf('busy');
    assert.equal(busy?.level, 'warn');
    assert.equal(busy?.err, undefined);
  });
});

test('BASE_URL with a path: the response kind is decided below it', async () => {
  const { log } = recordingLog();
  const boundary = errorBoundary({ log, basePath: '/auth', sendErrorPage: (ctx) => assert.fail(ctx.path) });
  const other = await serve(boundary);
  try {
    assert.match((await other.send('/auth/admin/api/x')).body, /"data":null/);
    assert.match((await other.send('/auth/oauth2/token')).body, /"error":"invalid_request"/);
  } finally {
    await other.close();
  }
});

test('partial response: cut off, not completed', async () => {
  const other = await serve((ctx) => {
    ctx.res.write('half');
    throw new Error(CANARY);
  });
  try {
    await assert.rejects(other.send('/'), /aborted|socket hang up/);
    assert.match(other.lines.join(''), /request failed/);
  } finally {
    await other.close();
  }
});

test('late errors: logged unless the caller just disconnected', () => {
  const { log, lines } = recordingLog();
  const app = new Koa();
  logLateErrors(app, log);
  app.emit('error', Object.assign(new Error('gone'), { code: 'ECONNRESET' }));
  assert.equal(lines.length, 0);
  app.emit('error', new Error('stream broke'));
  assert.match(lines.join(''), /stream broke/);
});
