// The route layer (decision 0010): authentication first, wrong addresses, methods and bodies, and the OpenAPI document.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { request } from 'node:http';
import { dataOf, errorOf, itemsOf, membersOf, USER, wrongFields } from './answers.ts';
import { goodPassword, withServer } from './support.ts';

withServer('admin API: without a token every route, address, method and body is 401', async (world) => {
  const { api, call } = world;
  const document = membersOf((await api('GET', '/openapi.json')).body);
  const routes = Object.entries(membersOf(document.paths)).flatMap(([path, methods]) =>
    Object.keys(membersOf(methods)).map((method) => ({ method: method.toUpperCase(), path })),
  );
  ok(routes.length > 30);
  for (const { method, path } of routes) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { nonsense: true };
    const none = await api(method, path.replaceAll(/\{\w+\}/g, 'x'), body, { bearer: null });
    deepEqual([none.status, errorOf(none).reason], [401, 'auth.required'], `${method} ${path}`);
    equal(none.headers.get('www-authenticate'), 'Bearer');
    const wrong = await api(method, path.replaceAll(/\{\w+\}/g, 'x'), body, { bearer: 'wrong' });
    deepEqual([wrong.status, errorOf(wrong).reason], [401, 'auth.invalid_token'], `${method} ${path}`);
    const other = await api(method, path.replaceAll(/\{\w+\}/g, 'x'), body, { bearer: USER });
    deepEqual([other.status, errorOf(other).reason], [403, 'auth.insufficient_scope'], `${method} ${path}`);
  }
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['DELETE', '/users'],
    ['POST', ''],
  ] as const) {
    equal((await api(method, path, undefined, { bearer: null })).status, 401, `${method} ${path}`);
  }
  const text = await api('POST', '/users', undefined, {
    bearer: null,
    raw: 'x',
    headers: { 'content-type': 'text/plain' },
  });
  equal(text.status, 401);
  equal((await call('GET', '/admin/apiary', undefined, { bearer: null })).status, 404);
});

withServer('admin API: unknown addresses are 404, wrong methods 405 with Allow', async ({ api, call }) => {
  const unknown = [
    '/',
    '',
    '/user',
    '/users/',
    '/USERS',
    '/users/x/y',
    '/users/%00',
    '/users/a%2Fb',
    '/users/%E0%A4',
  ];
  for (const path of unknown) {
    const answer = await api('GET', path);
    deepEqual([answer.status, membersOf(answer.body).data], [404, null], path);
  }
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['DELETE', '/users', ['GET', 'HEAD', 'POST']],
    ['PATCH', '/users', ['GET', 'HEAD', 'POST']],
    ['POST', '/users/x', ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT']],
    ['PROPFIND', '/sessions', ['GET', 'HEAD']],
  ];
  for (const [method, path, allowed] of cases) {
    const answer = await api(method, path);
    deepEqual(
      [answer.status, errorOf(answer).reason],
      [405, 'request.method_not_allowed'],
      `${method} ${path}`,
    );
    deepEqual((answer.headers.get('allow') ?? '').split(', ').sort(), allowed, `${method} ${path}`);
  }
  const asked = await api('OPTIONS', '/settings');
  deepEqual([asked.status, asked.headers.get('allow')], [204, 'GET, HEAD, PATCH, PUT, OPTIONS']);
  const head = await call('HEAD', '/admin/api/settings');
  deepEqual([head.status, head.text], [200, '']);
});

withServer(
  'admin API: a body that is not JSON, too large or malformed is refused',
  async ({ api, accounts }) => {
    const post = (raw: string, type = 'application/json') =>
      api('POST', '/users', undefined, { raw, headers: { 'content-type': type } });
    const user = JSON.stringify({ username: 'alice', password: goodPassword });
    const refused: readonly (readonly [number, string, string?])[] = [
      [415, user, 'text/plain'],
      [415, user, 'application/x-www-form-urlencoded'],
      [415, user, 'application/json; charset=utf-16'],
      [413, JSON.stringify({ username: 'alice', password: goodPassword, name: 'x'.repeat(100_001) })],
      [400, ''],
      [400, '{'],
      [400, `${user}x`],
      [400, 'null'],
      [400, '[]'],
      [400, '"text"'],
      [400, `[${user}]`],
      [400, `{"address":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`],
      [400, `{"username":"a\\u0000b","password":"${goodPassword}"}`],
    ];
    for (const [status, raw, type] of refused) {
      equal((await post(raw, type)).status, status, raw.slice(0, 60));
    }
    equal(await accounts.findByLogin('alice'), undefined);
    equal((await post(user, 'application/json; charset=UTF-8')).status, 201);
  },
);

withServer('admin API: the Host header appears in no address of a response', async ({ api, url }) => {
  const body = JSON.stringify({ username: 'alice', password: goodPassword });
  const { port } = new URL(url);
  const location = await new Promise((resolve, reject) => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      authorization: 'Bearer the-token-of-an-administrator-in-tests',
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sent = request(
      { port, host: '127.0.0.1', path: '/admin/api/users', method: 'POST', headers },
      (answer) => {
        answer.resume();
        resolve(answer.headers.location);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
  ok(String(location).startsWith('https://id.example.com/admin/api/users/'));
  ok(!(await api('GET', '/openapi.json')).text.includes('evil'));
});

withServer('OpenAPI: describes every route with its parameters, bodies and responses', async ({ api }) => {
  const answer = await api('GET', '/openapi.json');
  const document = membersOf(answer.body);
  equal(document.openapi, '3.1.0');
  const paths = membersOf(document.paths);
  ok(Object.hasOwn(paths, '/users/{id}/reset-mfa'));
  const list = membersOf(membersOf(paths['/users']).get);
  const parameters = list.parameters;
  ok(Array.isArray(parameters));
  const names = parameters.map((parameter) => membersOf(parameter).name);
  for (const name of ['limit', 'cursor', 'sort', 'search', 'is_locked', 'created_at_from'])
    ok(names.includes(name));
  const ids = new Set<unknown>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(membersOf(methods))) {
      const operation = membersOf(described);
      ids.add(operation.operationId);
      ok(Array.isArray(operation.parameters));
      const inPath = operation.parameters.map(membersOf).filter((parameter) => parameter.in === 'path');
      deepEqual(
        inPath.map(({ name }) => `{${name}}`),
        path.match(/\{\w+\}/g) ?? [],
        `${method} ${path}`,
      );
      ok(Object.keys(membersOf(operation.responses)).includes('401'));
    }
  }
  equal(ids.size, Object.values(paths).flatMap((methods) => Object.keys(membersOf(methods))).length);
});

withServer('settings: read, change, replace, export; all or nothing', async ({ api }) => {
  const settingOf = async (key: string): Promise<unknown> =>
    itemsOf(await api('GET', '/settings')).find((setting) => setting.key === key)?.value;
  equal(await settingOf('lockout_threshold'), 5);
  const changed = await api('PATCH', '/settings', { lockout_threshold: 7, product_name: 'Acme' });
  equal(changed.status, 200);
  const setting = itemsOf(changed).find(({ key }) => key === 'lockout_threshold');
  deepEqual([setting?.value, setting?.default, setting?.updated_by], [7, 5, 'bootstrap:ADMIN_TOKEN']);
  const wrong = await api('PATCH', '/settings', {
    product_name: 'Other',
    password_min_length: 1,
    nothing: 1,
  });
  equal(wrong.status, 400);
  ok(wrongFields(wrong).includes('nothing'));
  equal(
    (await api('PATCH', '/settings', { product_name: 'Other', lockout_threshold: { $gt: 0 } })).status,
    400,
  );
  equal(await settingOf('product_name'), 'Acme');
  await api('PUT', '/settings', { product_name: 'Acme' });
  equal(await settingOf('lockout_threshold'), 5);
  const values = membersOf(dataOf(await api('GET', '/settings/export')).values);
  equal(values.product_name, 'Acme');
  equal((await api('PUT', '/settings', values)).status, 200);
});
