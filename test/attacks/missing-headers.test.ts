// Attack: framing, sniffing and injection where a response lacks security headers. Every kind of
// response is requested: pages, documents, errors of this server, of the protocol core and of the HTTP server itself.
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import { afterEach, suite, test } from 'node:test';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { exchange, plainRequest, type RawAnswer, send } from './raw-http.ts';
import { allRoutes } from './routes.ts';
import { honestRequest } from './sign-in-form.ts';

let app: TestApp;
afterEach(() => app.stop());

const BEARER = ['Authorization', `Bearer ${ADMIN_TOKEN}`] as const;
const JSON_TYPE = ['Content-Type', 'application/json'] as const;
const FORM_TYPE = ['Content-Type', 'application/x-www-form-urlencoded'] as const;

/** One answer of each kind that there is; the key says which status is meant. */
async function everyKind(clientId: string, publicId: string): Promise<[name: string, answer: RawAnswer][]> {
  const ask = (path: string, rest: Omit<Parameters<typeof send>[1], 'path'> = {}) =>
    send(app.url, { path, ...rest });
  const authorize = `/oauth2/authorize?${new URLSearchParams(honestRequest(clientId))}`;
  const kinds: Record<string, Promise<RawAnswer>> = {
    '200 sign-in page': ask(authorize),
    '200 discovery': ask('/.well-known/openid-configuration'),
    '200 discovery, HEAD': ask('/.well-known/openid-configuration', { method: 'HEAD' }),
    '200 probe': ask('/healthz'),
    '200 admin API': ask('/admin/api/users', { headers: [BEARER] }),
    '200 onboarding page': ask('/onboard'),
    '201 admin API': ask('/admin/api/users', {
      method: 'POST',
      headers: [BEARER, JSON_TYPE],
      body: '{"username":"bob-the-user","password":"correct horse battery"}',
    }),
    '303 to the application': ask(`${authorize}&prompt=none`),
    '303 to sign-in': ask('/admin'),
    '400 error page': ask('/oauth2/authorize?client_id=nobody'),
    '400 expired page': ask('/oauth2/login?interaction=none'),
    '400 token error': ask('/oauth2/token', {
      method: 'POST',
      headers: [FORM_TYPE],
      body: `grant_type=none&client_id=${publicId}`,
    }),
    '400 admin API': ask('/admin/api/users', { method: 'POST', headers: [BEARER, JSON_TYPE], body: '{' }),
    '401 userinfo': ask('/oauth2/userinfo'),
    '401 admin API': ask('/admin/api/users'),
    '403 form': ask('/oauth2/login', {
      method: 'POST',
      headers: [FORM_TYPE, ['Sec-Fetch-Site', 'cross-site']],
      body: 'a=b',
    }),
    '404 page': ask('/nothing', { headers: [['Accept', 'text/html']] }),
    '404 JSON': ask('/nothing', { headers: [['Accept', 'application/json']] }),
    '404 asset': ask('/assets/nothing.js'),
    '405 protocol': ask('/oauth2/token', { method: 'PUT' }),
    '405 trace': ask('/', { method: 'TRACE' }),
    '405 unknown method': ask('/oauth2/login', { method: 'PROPFIND' }),
    '413 form': ask('/oauth2/login', { method: 'POST', headers: [FORM_TYPE], body: 'a'.repeat(100_000) }),
    '414 target': ask(`/?${'a'.repeat(25_000)}`),
    '415 form': ask('/oauth2/login', {
      method: 'POST',
      headers: [['Content-Type', 'text/plain']],
      body: 'a',
    }),
    '431 cookies': ask('/', { headers: [['Cookie', `a=${'a'.repeat(17_000)}`]] }),
    '431 fields': ask('/', { headers: Array.from({ length: 200 }, (_, index) => [`X-${index}`, 'a']) }),
  };
  return Promise.all(Object.entries(kinds).map(async ([name, answer]) => [name, await answer] as const)).then(
    (answers) => answers.map(([name, answer]) => [name, answer]),
  );
}

const policyOf = (headers: IncomingHttpHeaders): Map<string, string> =>
  new Map(
    String(headers['content-security-policy'] ?? '')
      .split(';')
      .map((directive) => directive.trim())
      .map((directive) => [directive.split(' ', 1)[0] ?? '', directive.slice(directive.indexOf(' ') + 1)]),
  );

/** The only page that others may frame: it is the same for everybody, and its sandbox keeps it apart (decision 0026). */
const FRAMED = 'GET /realms/any/protocol/openid-connect/3p-cookies/step1.html';

function assertGuarded(name: string, { headers, body }: RawAnswer, isSecure: boolean): void {
  const of = (header: string): unknown => headers[header];
  assert.equal(of('x-content-type-options'), 'nosniff', name);
  const isFramed = name === FRAMED;
  // Pages tell us, and nobody else, where a form of theirs comes from.
  const isPage = /^\s*<!doctype html>/i.test(body) && !isFramed;
  assert.equal(of('referrer-policy'), isPage ? 'same-origin' : 'no-referrer', name);
  assert.equal(of('x-frame-options'), isFramed ? undefined : 'DENY', name);
  assert.equal(of('cross-origin-opener-policy'), 'same-origin', name);
  const isOpen = of('access-control-allow-origin') !== undefined;
  assert.equal(of('cross-origin-resource-policy'), isOpen ? undefined : 'same-origin', name);
  const age = Number(/max-age=(\d+)/.exec(String(of('strict-transport-security')))?.[1] ?? 0);
  assert.ok(isSecure ? age >= 31_536_000 : age === 0, `${name}: HSTS ${age}`);
  for (const gossip of ['server', 'x-powered-by', 'via']) assert.equal(of(gossip), undefined, name);

  const policy = policyOf(headers);
  assert.equal(policy.get('default-src'), "'none'", name);
  assert.equal(policy.get('frame-ancestors'), isFramed ? 'https: http:' : "'none'", name);
  if (isFramed) assert.equal(policy.get('sandbox'), 'allow-scripts');
  assert.equal(policy.get('base-uri'), "'none'", name);
  assert.equal(policy.get('object-src'), "'none'", name);
  assert.ok(policy.has('form-action'), name);
  const whole = String(of('content-security-policy'));
  assert.doesNotMatch(whole, /unsafe-|\*|script-src[^;]*(?:http|data):/, name);

  const type = String(of('content-type') ?? '');
  if (body !== '') assert.match(type, /; charset=utf-8$/i, `${name}: ${type}`);
  assert.doesNotMatch(body, /node_modules|\.ts:\d+|at Object\.|Error: /, name);
  const isPublic = /^200 (?:discovery|asset)/.test(name);
  if (!isPublic) assert.match(String(of('cache-control')), /no-store/, name);
}

for (const [scheme, env] of [
  ['http', undefined],
  ['https', { BASE_URL: 'https://id.example' }],
] as const) {
  suite(`security headers on every response, ${scheme}`, () => {
    test('of each kind', async () => {
      app = await startApp(env === undefined ? {} : { env });
      const { id } = await app.register();
      const { id: publicId } = await app.register({ client_type: 'public' });
      const answers = await everyKind(id, publicId);
      for (const [name, answer] of answers) {
        assert.equal(answer.status, Number(name.slice(0, 3)), `${name}: ${answer.body.slice(0, 300)}`);
        // The HTTP server of the tests does not know of https; in the product it is told (src/main.ts).
        const isOfServer = /^(?:414|431)/.test(name);
        assertGuarded(name, answer, scheme === 'https' && !isOfServer);
      }
    });

    test('of each address', async () => {
      app = await startApp(env === undefined ? {} : { env });
      await liftLimits(app);
      for (const { method, path } of await allRoutes(app)) {
        const answer = await send(app.url, { method, path });
        const isPublic = /well-known|\/certs$|^\/account\/api\/openapi\.json$/.test(path);
        assertGuarded(isPublic ? `200 discovery ${path}` : `${method} ${path}`, answer, scheme === 'https');
      }
    });
  });
}

test('on responses to unparsable HTTP', async () => {
  app = await startApp();
  const broken = [
    'NOT HTTP AT ALL\r\n\r\n',
    plainRequest(app.url, 'GET / HTTP/1.1', ['Content-Length: x']),
    plainRequest(app.url, 'GET / HTTP/1.1', [`X-Long: ${'a'.repeat(33_000)}`]),
    plainRequest(app.url, 'GET / HTTP/1.1', ['Bad Header: a']),
    plainRequest(app.url, 'GET /\0 HTTP/1.1', []),
    plainRequest(app.url, 'POST / HTTP/1.1', ['Content-Length: 5', 'Transfer-Encoding: chunked']),
  ];
  for (const bytes of broken) {
    const text = await exchange(app.url, bytes);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [line = '', ...fields] = head.split('\r\n');
    const status = Number(line.split(' ')[1]);
    assert.ok(
      status >= 400 && status < 500 && STATUS_CODES[status] !== undefined,
      `${bytes.slice(0, 40)}: ${line}`,
    );
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 2),
      ]),
    );
    assertGuarded(bytes.slice(0, 40), { status, headers, body, elapsedMs: 0 }, false);
  }
});

test('store outage: 503 with security headers and no cause', async () => {
  app = await startApp();
  const { id } = await app.register();
  await app.store.close();
  const paths = [
    `/oauth2/authorize?${new URLSearchParams(honestRequest(id))}`,
    '/onboard',
    '/readyz',
    '/oauth2/nothing',
  ];
  for (const path of paths) {
    const answer = await send(app.url, { path });
    if (path === '/oauth2/nothing') continue;
    assert.equal(answer.status, 503, `${path}: ${answer.body}`);
    assertGuarded(path, answer, false);
    assert.doesNotMatch(answer.body, /closed|sqlite|StoreUnavailable/i);
    if (path !== '/readyz') assert.match(String(answer.headers['retry-after']), /^\d+$/);
  }
  assert.equal((await send(app.url, { path: '/healthz' })).status, 200);
});

test('attack: another site signs users out by an overlong address', async () => {
  app = await startApp();
  // `<img src>` and links are enough to make a browser ask for these; the answer must not empty its cookies (R065).
  for (const length of [8_000, 9_000, 17_000, 70_000]) {
    const answer = await exchange(app.url, plainRequest(app.url, `GET /?${'a'.repeat(length)} HTTP/1.1`, []));
    assert.doesNotMatch(answer, /^clear-site-data|^set-cookie: latchkey_session/im, `${length}`);
  }
  const overfull = `Cookie: ${'junk=1; '.repeat(2500)}`;
  const answer = await exchange(app.url, plainRequest(app.url, 'GET / HTTP/1.1', [overfull]));
  assert.match(answer, /^clear-site-data: "cookies"/im, 'an overfull cookie jar locks its owner out');
});
