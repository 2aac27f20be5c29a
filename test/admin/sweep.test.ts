// Every route of the admin API over HTTP, from its declaration: permissions, unknown ids, wrong methods, stale versions, wrong
// bodies and parameters with each field named. None of it changes anything.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { IsObject, type TSchema } from 'typebox';
import { isConditional, type Route } from '../../src/admin/api/route.ts';
import { accounts } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { tokensOf } from '../flows/support.ts';
import { apiDocument, declaredRoutes } from '../support/api-document.ts';
import { type ApiWorld, bodyFor, sendsBody, startApiWorld } from '../support/api-world.ts';
import {
  type Answer,
  type CallOptions,
  dataOf,
  errorOf,
  itemsOf,
  membersOf,
  wrongFields,
} from './answers.ts';
import { wrongValues } from './wrong-values.ts';

let world: ApiWorld;
let untouched: Readonly<Record<string, string>>;
before(async () => {
  world = await startApiWorld({ store: 'sqlite' });
  untouched = await world.snapshot();
});
after(() => world?.app.stop());

const routes = declaredRoutes();
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const NDJSON = { 'content-type': 'application/x-ndjson' };

/** Calls a route with what fits, but for what the caller says. */
function call(route: Route, change: { path?: string; body?: unknown; options?: CallOptions } = {}) {
  const path = change.path ?? world.addressOf(route);
  if (route.lines) {
    const { headers, ...options } = change.options ?? {};
    return world.api(route.method, path, undefined, {
      raw: '{"username":"imported"}\n',
      ...options,
      headers: { ...NDJSON, ...headers },
    });
  }
  const right = bodyFor(route);
  const whom = right?.user_id === undefined ? {} : { user_id: world.ids.user_id };
  return world.api(route.method, path, change.body ?? (right && { ...right, ...whom }), change.options);
}

function isRefused(answer: Answer, expected: readonly [number, string], about: string): void {
  deepEqual([answer.status, errorOf(answer).reason], expected, `${about}: ${answer.text.slice(0, 200)}`);
}

async function unchanged(): Promise<void> {
  const now = await world.snapshot();
  const changed = Object.entries(untouched).flatMap(([name, shown]) =>
    now[name] === shown ? [] : [`${name}: ${now[name]?.slice(0, 300)}`],
  );
  deepEqual(changed, []);
}

/** Status and the names of the fields that an answer finds wrong. */
const refusalOf = (answer: Answer): unknown[] => [
  answer.status,
  answer.status < 400 ? answer.text.slice(0, 100) : wrongFields(answer),
];

test('OpenAPI: the served document has exactly the declared routes', async () => {
  const { paths } = membersOf((await world.api('GET', '/openapi.json')).body);
  deepEqual(paths, membersOf(apiDocument()).paths);
  ok(routes.length >= 70);
});

test('access: no bearer, a wrong one, a user, an auditor and admin:read are refused', async () => {
  const { app } = world;
  const both = await app.register({ scope: 'openid admin admin:read' });
  const mallory = await app.createUser('mallory');
  const ann = await app.createUser('ann', { role: 'auditor' });
  const tokenOf = async (who: typeof ann): Promise<string> =>
    (await tokensOf(app, both, who, { scope: 'openid admin admin:read' })).access_token;
  const user = await tokenOf(mallory);
  const made = await world.api('POST', '/api-keys', { name: 'reader', scopes: ['admin:read'] });
  const readers = [await tokenOf(ann), String(dataOf(made).api_key)];
  untouched = await world.snapshot();

  for (const route of routes) {
    const name = nameOf(route);
    const none = await call(route, { options: { bearer: null } });
    isRefused(none, [401, 'auth.required'], name);
    equal(none.headers.get('www-authenticate'), 'Bearer', name);
    isRefused(await call(route, { options: { bearer: 'wrong' } }), [401, 'auth.invalid_token'], name);
    const other = await call(route, { options: { bearer: user } });
    isRefused(other, [403, 'auth.insufficient_scope'], name);
    match(other.headers.get('www-authenticate') ?? '', /error="insufficient_scope"/, name);
    for (const bearer of readers) {
      const read = await call(route, { options: { bearer } });
      if (route.method === 'GET' && route.needs === undefined) equal(read.status, 200, name);
      else isRefused(read, [403, 'auth.insufficient_scope'], name);
    }
  }
  // The key has been used meanwhile.
  const { '/api-keys': _, ...rest } = untouched;
  untouched = { ...(await world.snapshot()), ...rest };
  await unchanged();
});

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const noIds = [
  '%00',
  'a%2Fb',
  '..%2f..',
  '%F0%9F%98%80',
  "x'%20OR%201=1",
  'x'.repeat(1500),
  '%7B%22$gt%22:%22%22%7D',
];

test('ids: unknown and malformed ones are 404 at every position of every route', async () => {
  for (const route of routes) {
    for (const [name] of Object.entries(route.params?.properties ?? {})) {
      for (const id of [UNKNOWN, ...noIds]) {
        const answer = await call(route, { path: world.addressOf(route, { [name]: id }) });
        equal(answer.status, 404, `${nameOf(route)} ${name}=${id}: ${answer.text.slice(0, 200)}`);
        ok(String(errorOf(answer).reason).endsWith('not_found'), answer.text);
      }
    }
  }
  await unchanged();
});

test('methods: an unsupported one is 405, and Allow lists the others', async () => {
  const paths = new Set(routes.map(({ path }) => path));
  for (const template of paths) {
    const path = world.addressOf({ path: template });
    // `/users/unlock` is not one of `/users/{id}`.
    const methods = new Set<string>(
      routes.filter((one) => one.path === template).map(({ method }) => method),
    );
    if (methods.has('GET')) methods.add('HEAD');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      if (methods.has(method)) continue;
      const answer = await world.api(method, path);
      const allowed = (answer.headers.get('allow') ?? '').split(', ').sort();
      // A question, not a request (RFC 9110 §9.3.7).
      if (method === 'OPTIONS') {
        deepEqual([answer.status, allowed], [204, [...methods, method].sort()], template);
        continue;
      }
      isRefused(answer, [405, 'request.method_not_allowed'], `${method} ${path}`);
      deepEqual(allowed, [...methods].sort(), template);
    }
  }
  await unchanged();
});

test('If-Match: a stale version is 412 at every change and nothing changes', async () => {
  const conditional = routes.filter((route) => isConditional(route) || route.isUnversioned === true);
  ok(conditional.length > 25);
  for (const route of conditional) {
    for (const tag of ['"999999"', 'W/"1"', '"nonsense"']) {
      const answer = await call(route, { options: { headers: { 'if-match': tag } } });
      equal(answer.status, 412, `${nameOf(route)} ${tag}: ${answer.text.slice(0, 200)}`);
    }
    for (const tag of ['"1", "2"', 'nonsense']) {
      const answer = await call(route, { options: { headers: { 'if-match': tag } } });
      deepEqual(refusalOf(answer), [400, ['If-Match']], nameOf(route));
    }
  }
  await unchanged();
});

test('bodies: too large is 413, another type or compressed 415, at every route with a body', async () => {
  for (const route of routes.filter(sendsBody)) {
    const name = nameOf(route);
    const raw = route.lines ? '{}\n' : JSON.stringify(bodyFor(route));
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'text/json',
      'multipart/form-data',
    ]) {
      const answer = await call(route, { options: { raw, headers: { 'content-type': type } } });
      isRefused(answer, [415, 'request.unsupported_media_type'], `${name} ${type}`);
    }
    const packed = await call(route, { options: { raw, headers: { 'content-encoding': 'gzip' } } });
    isRefused(packed, [415, 'request.unsupported_media_type'], name);
    const large = JSON.stringify({ name: 'x'.repeat(1 + Math.max(100_000, route.bodyBytes ?? 0)) });
    if (route.lines === undefined)
      isRefused(await call(route, { options: { raw: large } }), [413, 'request.too_large'], name);
  }
  await unchanged();
});

/** Every field of a body, nested ones by path, as refusals name them. */
function fieldsOf(schema: TSchema, within: readonly string[] = []): { path: string[]; schema: TSchema }[] {
  const object = objectIn(schema);
  if (object === undefined) return [];
  return Object.entries(object.properties).flatMap(([name, of]) => {
    const path = [...within, name];
    return [{ path, schema: of }, ...fieldsOf(of, path)];
  });
}

function objectIn(schema: TSchema) {
  if (IsObject(schema)) return schema;
  const options: unknown = Reflect.get(schema, 'anyOf');
  return Array.isArray(options) ? options.find(IsObject) : undefined;
}

/** The body with one field set, and `more` beside. */
function withField(body: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const inner: unknown = Reflect.get(body, name);
  const within = typeof inner === 'object' && inner !== null ? inner : {};
  return { ...body, [name]: rest.length === 0 ? value : withField(within, rest, value) };
}

test('bodies: each field of a wrong type, length, size or name is 400 and named', async () => {
  let tried = 0;
  for (const route of routes) {
    const { body } = route;
    if (body === undefined) continue;
    const right = bodyFor(route) ?? {};
    for (const { path, schema } of fieldsOf(body)) {
      // PATCH takes the same fields with the same rules: of PUT each field is tried once or twice.
      const wrong = wrongValues(schema);
      for (const value of route.method === 'PUT' ? wrong.slice(-2) : wrong) {
        const answer = await call(route, { body: withField(right, path, value) });
        const about = `${nameOf(route)} ${path.join('.')}=${JSON.stringify(value)?.slice(0, 80)}: ${answer.text.slice(0, 200)}`;
        deepEqual(refusalOf(answer), [400, [path.join('.')]], about);
        tried += 1;
      }
    }
    // Of settings the keys are not the schema's: below.
    if (!IsObject(body)) continue;
    for (const name of ['nonsense', 'id', 'is_admin', '$set', 'constructor.name']) {
      const answer = await call(route, { body: { ...right, [name]: 1 } });
      deepEqual(refusalOf(answer), [400, [name]], `${nameOf(route)} ${name}: ${answer.text.slice(0, 200)}`);
    }
    for (const name of body.required ?? []) {
      const { [name]: _, ...rest } = right;
      const answer = await call(route, { body: rest });
      deepEqual(refusalOf(answer), [400, [name]], `${nameOf(route)} without ${name}`);
    }
    for (const raw of ['null', '[]', '1', '"x"', '', '{']) {
      if (raw === '' && route.isBodyOptional === true) continue;
      equal((await call(route, { options: { raw } })).status, 400, `${nameOf(route)} ${raw}`);
    }
  }
  ok(tried > 600, String(tried));
  await unchanged();
});

test('settings: each one of a wrong type or out of bounds is 400 and named', async () => {
  const settings = itemsOf(await world.api('GET', '/settings'));
  ok(settings.length > 40);
  const writes = [
    ['PATCH', '/settings', (values: object) => values],
    ['PUT', '/settings', (values: object) => values],
    ['POST', '/settings/import', (values: object) => ({ values })],
    ['POST', '/settings/import?dry_run=true', (values: object) => ({ values })],
  ] as const;
  for (const { key, default: standard, min, max } of settings) {
    const wrong: unknown[] = [{ $gt: '' }, []];
    if (typeof standard === 'number') wrong.push('x', 1.5, 1e15);
    if (typeof standard === 'boolean') wrong.push('true', 0);
    if (typeof standard === 'string') wrong.push(1, 'x'.repeat(60_000));
    if (typeof standard === 'number' && typeof min === 'number') wrong.push(min - 1);
    if (typeof standard === 'number' && typeof max === 'number') wrong.push(max + 1);
    for (const [at, value] of wrong.entries()) {
      // All go through one check of values: the first is tried everywhere.
      for (const [method, path, wrap] of at === 0 ? writes : writes.slice(0, 1)) {
        const answer = await world.api(method, path, wrap({ [String(key)]: value }));
        deepEqual(refusalOf(answer), [400, [key]], `${method} ${path} ${key}: ${answer.text.slice(0, 200)}`);
      }
    }
  }
  for (const [method, path, wrap] of writes) {
    const answer = await world.api(method, path, wrap({ nonsense: 1 }));
    deepEqual(refusalOf(answer), [400, ['nonsense']], `${method} ${path}`);
  }
  await unchanged();
});

test('queries: each parameter that is wrong, too long, repeated or unknown is 400 and named', async () => {
  let tried = 0;
  for (const route of routes) {
    const path = world.addressOf(route);
    const name = nameOf(route);
    for (const unknown of ['nonsense', 'limit[]', '$where', 'LIMIT']) {
      if (route.isBare) continue;
      const answer = await call(route, { path: `${path}?${encodeURIComponent(unknown)}=1` });
      deepEqual(refusalOf(answer), [400, [unknown]], `${name} ${unknown}: ${answer.text.slice(0, 200)}`);
    }
    for (const [parameter, schema] of Object.entries(route.query?.properties ?? {})) {
      const readable = Reflect.get(schema, 'type') === 'boolean' ? ['true'] : [];
      const texts = wrongValues(schema).filter(
        (value): value is string => typeof value === 'string' && !readable.includes(value),
      );
      const isText = Reflect.get(schema, 'type') === 'string' && Reflect.get(schema, 'enum') === undefined;
      const wrong = isText ? texts : [...texts, '', 'x', '1.5', '-1', 'null'];
      for (const value of wrong) {
        const answer = await call(route, {
          path: `${path}?${parameter}=${encodeURIComponent(value)}`,
        });
        deepEqual(
          refusalOf(answer),
          [400, [parameter]],
          `${name} ${parameter}=${value}: ${answer.text.slice(0, 200)}`,
        );
        tried += 1;
      }
      const twice = await call(route, { path: `${path}?${parameter}=1&${parameter}=2` });
      deepEqual(refusalOf(twice), [400, [parameter]], `${name} ${parameter} twice`);
    }
  }
  ok(tried > 300, String(tried));
  await unchanged();
});

// Last: these make what they clash with.
test('conflicts: each is 409 with its reason and field, and changes nothing', async () => {
  const { app, ids, api } = world;
  const other = await app.createUser('carol', { email: 'carol@example.com' });
  const [keeper] = itemsOf(await api('GET', '/users?role=admin'));
  const crowd = await app.createUser('crowd');
  const names = Array.from({ length: 200 }, (_, at) => `group-${at}`);
  await update(app.store.collection(accounts), crowd.id, (value) => ({ value: { ...value, groups: names } }));
  const restricted = await api('PATCH', `/clients/${ids.clients}`, { allowed_groups: ['staff'] });
  equal(restricted.status, 200);
  untouched = await world.snapshot();
  const user = { username: 'dave', password: 'seven tall lanterns' };
  const admin = `/users/${keeper?.id}`;
  const clashes: readonly (readonly [string, string, object | undefined, string, ...string[]])[] = [
    ['POST', '/users', { ...user, username: 'Alice' }, 'account.username_taken', 'username'],
    ['POST', '/users', { ...user, email: 'ALICE@example.com' }, 'account.email_taken', 'email'],
    ['PUT', `/users/${other.id}`, { username: 'alice' }, 'account.username_taken', 'username'],
    ['PATCH', `/users/${other.id}`, { username: 'ＡＬＩＣＥ' }, 'account.username_taken', 'username'],
    ['PUT', `/users/${other.id}`, { email: 'alice@example.com' }, 'account.email_taken', 'email'],
    ['PATCH', `/users/${other.id}`, { email: 'alice@EXAMPLE.com' }, 'account.email_taken', 'email'],
    ['PUT', admin, { role: 'user' }, 'account.last_admin'],
    ['PATCH', admin, { role: 'auditor' }, 'account.last_admin'],
    ['PATCH', admin, { is_active: false }, 'account.last_admin'],
    ['POST', `${admin}/deactivate`, undefined, 'account.last_admin'],
    ['DELETE', admin, undefined, 'account.last_admin'],
    ['POST', '/groups', { name: 'staff' }, 'group.name_taken', 'name'],
    ['DELETE', '/groups/staff', undefined, 'group.in_use'],
    ['POST', '/groups/staff/members', { user_id: crowd.id }, 'group.too_many'],
    ['POST', '/invitations', { email: 'alice@example.com' }, 'account.email_taken', 'email'],
  ];
  for (const [method, path, body, reason, ...fields] of clashes) {
    const answer = await api(method, path, body);
    isRefused(answer, [409, reason], `${method} ${path}`);
    deepEqual(wrongFields(answer), fields, `${method} ${path} ${reason}`);
  }
  const line = await api('POST', '/users/import', undefined, {
    raw: '{"username":"alice"}\n{"username":"erin","email":"alice@example.com"}\n',
    headers: NDJSON,
  });
  const reasons = line.text
    .trim()
    .split('\n')
    .map((text) => membersOf(membersOf(JSON.parse(text)).error).reason);
  deepEqual(reasons, ['account.username_taken', 'account.email_taken']);
  await unchanged();
});
