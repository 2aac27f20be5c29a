// Owns the attack: bodies that are too big, too deep, too many, broken or of another kind, on every address that takes one
// (checklist R126, R134). The product runs as a process of its own, so that its memory and its life are its own.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { residentMib, type ServerProcess, startServer } from '../processes/server-process.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { pooled } from './pool.ts';
import { type RawAnswer, send } from './raw-http.ts';
import { allRoutes, type Route } from './routes.ts';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MAX_MS = 1000;
const MAX_GROWTH_MIB = 50;
const MIB = 1024 * 1024;

interface Hostile {
  readonly type?: string;
  readonly body: string | Uint8Array;
  readonly headers?: readonly (readonly [string, string])[];
}

const many = (count: number, make: (index: number) => string, between: string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(between);
const json = (body: string): Hostile => ({ type: JSON_TYPE, body });
const form = (body: string): Hostile => ({ type: FORM, body });
const bytes = (...parts: (string | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

/** None of these is anything that an address could take. */
const hopeless: Readonly<Record<'form' | 'json', Readonly<Record<string, Hostile>>>> = {
  form: {
    '1 MiB': form(`username=${'a'.repeat(MIB)}`),
    '1 MiB without a length': { ...form('a='.repeat(MIB / 2)), headers: [['Transfer-Encoding', 'chunked']] },
    '100,000 fields': form(many(100_000, (index) => `f${index}=1`, '&')),
    '5,000 fields': form(many(5000, (index) => `f${index}=1`, '&')),
    'bytes that are no UTF-8': { type: FORM, body: bytes('username=', 0xff, 0xfe, '&password=a') },
    'overlong UTF-8': { type: FORM, body: bytes('username=', 0xc0, 0xaf) },
    'percent signs that are no UTF-8': form('username=%ff%fe'),
    'half a percent sign': form('username=%4&x=%'),
    'a NUL character': form('username=al%00ice'),
    'a name of prototypes': form('__proto__=1&username=a'),
    'another name of prototypes': form('constructor=1&username=a'),
    'a name twice': form('username=a&username=b&client_id=a&client_id=b&token=a&token=b&state=a&state=b'),
    gzip: {
      ...form(''),
      body: gzipSync('username=a'.repeat(10_000)),
      headers: [['Content-Encoding', 'gzip']],
    },
    multipart: {
      type: 'multipart/form-data; boundary=x',
      body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    },
    JSON: json('{"username":"a"}'),
    'another charset': { type: `${FORM}; charset=utf-16`, body: 'username=a' },
    'no type': { body: 'username=a' },
  },
  json: {
    '10 MiB': json(`{"username":"${'a'.repeat(10 * MIB)}"}`),
    '1 MiB without a length': {
      ...json(`"${'a'.repeat(MIB)}"`),
      headers: [['Transfer-Encoding', 'chunked']],
    },
    '100,000 deep': json('['.repeat(100_000) + ']'.repeat(100_000)),
    '40,000 deep': json('['.repeat(40_000) + ']'.repeat(40_000)),
    '15,000 objects deep': json('{"a":'.repeat(15_000) + 1 + '}'.repeat(15_000)),
    '40,000 deep, never closed': json('['.repeat(40_000)),
    '100,000 keys': json(`{${many(100_000, (index) => `"k${index}":1`, ',')}}`),
    '9,000 keys': json(`{${many(9000, (index) => `"k${index}":1`, ',')}}`),
    'a list of 40,000': json(`[${many(40_000, () => '1', ',')}]`),
    'bytes that are no UTF-8': { type: JSON_TYPE, body: bytes('{"username":"', 0xff, 0xfe, '"}') },
    'half a character': json('{"username":"\\ud800","label":"\\udfff"}'),
    'a NUL character': json('{"username":"al\\u0000ice","label":"\\u0000","client_name":"\\u0000"}'),
    'a name of prototypes': json('{"__proto__":{"isAdmin":true},"username":"a"}'),
    'a nested name of prototypes': json('{"address":{"constructor":{"prototype":{"a":1}}}}'),
    'no JSON': json("{'username': undefined}"),
    'a string': json('"text"'),
    null: json('null'),
    'a number': json('1e999'),
    'a list': json('[{}]'),
    gzip: { type: JSON_TYPE, body: gzipSync('{}'), headers: [['Content-Encoding', 'gzip']] },
    'a form': form('username=a'),
    text: { type: 'text/plain', body: '{}' },
    'another charset': { type: `${JSON_TYPE}; charset=utf-16`, body: '{}' },
    'no type': { body: '{}' },
  },
};

const LONG = 'x'.repeat(10_000);
const FORM_NAMES = [
  'username',
  'password',
  'interaction',
  'csrf',
  'client_id',
  'token',
  'code',
  'user_code',
  'xsrf',
];

/** Readable, so an address may take them; but nothing may break. */
const long: Readonly<Record<'form' | 'json', readonly Hostile[]>> = {
  form: [
    ...FORM_NAMES.map((name) => form(`${name}=${LONG}&client_id_=a`)),
    ...['grant_type', 'refresh_token', 'scope', 'redirect_uri', 'claims', 'request', 'client_assertion'].map(
      (name) => form(`client_id=latchkey-admin&${name}=${LONG}`),
    ),
    form(`${LONG}=a`),
    form(`username=${encodeURIComponent('𝔘'.repeat(2500))}&password=${encodeURIComponent('ﷺ'.repeat(1000))}`),
  ],
  json: [
    ...['username', 'password', 'email', 'client_name', 'label', 'product_name', 'user_id'].map((name) =>
      json(`{"${name}":"${LONG}"}`),
    ),
    json(`{"${LONG}":1}`),
    json(`{"username":"${'𝔘'.repeat(5000)}","password":"${'ﷺ'.repeat(5000)}"}`),
    json(`{"redirect_uris":["https://${'a.'.repeat(5000)}example/"],"client_name":"a"}`),
    json('{"username":{"$ne":1},"password":{"$gt":""}}'),
  ],
};

// Where a request without a type is one without parameters, as a request without a body is.
const UNTYPED = /\/(?:logout|revoke)$/;

let server: ServerProcess;
let folder: string;
let routes: Route[];
let cookies: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-bodies-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn' } });
  const browser = new Agent(server);
  const page = await browser.get('/onboard');
  const person = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
  await browser.post('/oauth2/onboard', { ...hiddenFields(page.body), ...person });
  cookies = browser.cookiesFor('/');
  await liftLimits(server);
  routes = (await allRoutes(server)).filter(({ body }) => body !== undefined);
  assert.ok(routes.length > 30);
});
after(async () => {
  const { code } = await server.stop();
  await rm(folder, { recursive: true });
  assert.equal(code, 0);
});

function attack(route: Route, hostile: Hostile): Promise<RawAnswer> {
  return send(server.url, {
    method: route.method,
    path: route.path,
    body: hostile.body,
    headers: [
      ['Cookie', cookies],
      ['Accept', route.path.startsWith('/admin/api') ? '*/*' : 'text/html'],
      ...(route.isAdmin === true ? [['Authorization', `Bearer ${ADMIN_TOKEN}`] as const] : []),
      ...(hostile.type === undefined ? [] : [['Content-Type', hostile.type] as const]),
      ...(hostile.headers ?? []),
    ],
  });
}

/** Clear: a page with a heading, or an error with a sentence. */
function assertClear(label: string, { body }: RawAnswer): void {
  assert.doesNotMatch(
    body,
    /\bat [\w.<>]+ \(|node_modules|\.[jt]s:\d+|RangeError|SyntaxError|TypeError/,
    label,
  );
  const isPage = body.trimStart().startsWith('<!doctype');
  const { error, error_description: description } = isPage ? {} : JSON.parse(body);
  const sentence = isPage ? /<h1>([^<]*)<\/h1>/.exec(body)?.[1] : (description ?? error?.message);
  assert.ok(String(sentence ?? '').length > 5, `${label}: ${body}`);
}

async function assertHealthy(): Promise<void> {
  const answer = await send(server.url, { path: '/readyz' });
  assert.equal(answer.status, 200);
  assert.ok(answer.elapsedMs < MAX_MS);
}

for (const kind of ['form', 'json'] as const) {
  suite(`every address that takes a ${kind}`, () => {
    for (const [name, hostile] of Object.entries(hopeless[kind])) {
      test(`refuses: ${name}`, async () => {
        const targets = routes.filter(
          ({ body, path }) => body === kind && (hostile.type !== undefined || !UNTYPED.test(path)),
        );
        const before = await residentMib(server.pid);
        await pooled(targets, 4, async (route) => {
          const label = `${route.method} ${route.path}: ${name}`;
          const answer = await attack(route, hostile);
          assert.ok(
            answer.status >= 400 && answer.status < 500,
            `${label}: ${answer.status} ${answer.body.slice(0, 500)}`,
          );
          assert.ok(answer.elapsedMs <= MAX_MS, `${label}: ${answer.elapsedMs} ms`);
          assertClear(label, answer);
        });
        await assertHealthy();
        const growth = (await residentMib(server.pid)) - before;
        assert.ok(growth <= MAX_GROWTH_MIB, `grew by ${growth} MiB`);
      });
    }

    test('bears fields of 10,000 characters and odd values', async () => {
      for (const hostile of long[kind]) {
        await pooled(
          routes.filter(({ body }) => body === kind),
          4,
          async (route) => {
            const label = `${route.method} ${route.path}: ${String(hostile.body).slice(0, 60)}`;
            const answer = await attack(route, hostile);
            assert.ok(
              answer.status > 0 && answer.status < 500,
              `${label}: ${answer.status} ${answer.body.slice(0, 500)}`,
            );
            assert.ok(answer.elapsedMs <= MAX_MS, `${label}: ${answer.elapsedMs} ms`);
          },
        );
      }
      await assertHealthy();
    });
  });
}

test('nothing of all that is in the store, in prototypes or in the log', async () => {
  const { body } = await server.admin('GET', '/users?limit=1000');
  assert.deepEqual(
    body.data.items?.map(({ username }) => username),
    ['root-admin'],
  );
  const { status } = await server.admin('POST', '/users', { username: 'after-all', password: PASSWORD });
  assert.equal(status, 201);
  assert.deepEqual(
    server.logged.filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
  );
});
