// Attacks on the admin API as a whole, generated from its own OpenAPI document (checklist R124, R125, R126).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type Answer, dataOf, membersOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer } from './support.ts';

const client = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown> | undefined;
  readonly query: readonly string[];
}

/** Every route, with ids of things that exist in its path. */
async function routesOf({ api }: World, ids: Readonly<Record<string, string>>): Promise<Route[]> {
  const { paths } = membersOf((await api('GET', '/openapi.json')).body);
  return Object.entries(membersOf(paths)).flatMap(([template, methods]) =>
    Object.entries(membersOf(methods)).map(([method, described]) => {
      const { requestBody, parameters } = membersOf(described);
      ok(Array.isArray(parameters));
      const content = membersOf(requestBody ? membersOf(requestBody).content : {})['application/json'];
      const schema = content === undefined ? undefined : membersOf(membersOf(content).schema);
      const resource = template.split('/')[1] ?? '';
      return {
        method: method.toUpperCase(),
        path: template.replace(/\{\w+\}/, ids[resource] ?? 'none').replace(/\{\w+\}/, 'none'),
        body: schema ? membersOf(schema.properties ?? {}) : undefined,
        query: parameters
          .map(membersOf)
          .flatMap(({ in: where, name }) => (where === 'query' ? [String(name)] : [])),
      };
    }),
  );
}

async function prepare(world: World) {
  const { accounts, clients } = world;
  const account = await accounts.create({
    username: 'alice',
    password: goodPassword,
    email: 'a@example.com',
  });
  const created = await clients.create({ metadata: client, origin: 'admin' });
  const ids = { users: account.id, clients: created.client.id };
  const snapshot = async (): Promise<string> =>
    JSON.stringify([
      await accounts.query({ sort: 'id', order: 'asc', limit: 100 }),
      await clients.query({ sort: 'id', order: 'asc', limit: 100 }),
      dataOf(await world.api('GET', '/settings')),
    ]);
  return { ids, snapshot, routes: await routesOf(world, ids) };
}

const isRefused = ({ status }: Answer): boolean => status === 400 || status === 404;

withEachServer('NoSQL and SQL operators in every body field are 400 and change nothing', async (world) => {
  const { snapshot, routes } = await prepare(world);
  const before = await snapshot();
  const operators: readonly unknown[] = [{ $ne: 1 }, { $gt: '' }, { $where: 'sleep(1)' }, [{ $regex: '.*' }]];
  let tried = 0;
  for (const { method, path, body } of routes) {
    for (const name of Object.keys(body ?? {})) {
      // An object of keys is what jwks is; its operators are no keys, so it is refused like the others.
      for (const value of operators) {
        const answer = await world.api(method, path, { ...(path === '/clients' && client), [name]: value });
        equal(answer.status, 400, `${method} ${path} ${name} ${JSON.stringify(value)}: ${answer.text}`);
        tried += 1;
      }
    }
    if (body === undefined) continue;
    for (const name of ['$where', '$set', 'profile.name', 'address.country', 'a[$ne]', "x' OR '1'='1", '']) {
      const answer = await world.api(method, path, { [name]: 1 });
      equal(answer.status, 400, `${method} ${path} ${name}`);
    }
  }
  ok(tried > 300);
  equal(await snapshot(), before);
});

withEachServer('operators in every query parameter are 400', async (world) => {
  const { routes } = await prepare(world);
  let tried = 0;
  for (const { method, path, query } of routes.filter(({ query }) => query.length > 0)) {
    for (const name of query) {
      for (const suffix of ['[$ne]', '[$gt]', '[]', '[__proto__]', '.x']) {
        const body = method === 'GET' ? undefined : {};
        const answer = await world.api(method, `${path}?${encodeURIComponent(name + suffix)}=1`, body);
        equal(answer.status, 400, `${path} ${name}${suffix}`);
        deepEqual(wrongFields(answer), [name + suffix]);
        tried += 1;
      }
      const body = method === 'GET' ? undefined : {};
      const twice = await world.api(method, `${path}?${name}=1&${name}=2`, body);
      equal(twice.status, 400, `${path} ${name} twice`);
    }
  }
  ok(tried > 150);
});

withEachServer('prototype keys in bodies, queries and paths change no prototype', async (world) => {
  const { snapshot, routes } = await prepare(world);
  const before = await snapshot();
  const bodies = [
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"prototype":{"polluted":true}}',
    '{"address":{"__proto__":{"polluted":true}}}',
    '{"jwks":{"keys":[{"constructor":{"prototype":{"polluted":true}}}]}}',
    '{"\\u005f_proto__":{"polluted":true}}',
  ];
  for (const { method, path, body } of routes) {
    if (body !== undefined) {
      for (const raw of bodies) {
        const answer = await world.api(method, path, undefined, { raw });
        equal(answer.status, 400, `${method} ${path} ${raw}`);
      }
    }
    for (const name of [
      '__proto__',
      'constructor',
      '__proto__[polluted]',
      'constructor.prototype.polluted',
    ]) {
      if (method !== 'GET') continue;
      const answer = await world.api('GET', `${path}?${encodeURIComponent(name)}=true`);
      ok(isRefused(answer), `${path}?${name}`);
    }
  }
  for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    for (const kind of ['users', 'clients', 'sessions']) {
      equal((await world.api('GET', `/${kind}/${id}`)).status, 404, `${kind}/${id}`);
    }
  }
  equal(Reflect.get({}, 'polluted'), undefined);
  equal(await snapshot(), before);
});

withEachServer('mass assignment: fields that are not for giving are 400 and never stored', async (world) => {
  const { ids, snapshot } = await prepare(world);
  const before = await snapshot();
  const ofUsers = {
    id: 'mine',
    sub: 'mine',
    admin: true,
    isAdmin: true,
    is_admin: true,
    passwordHash: '$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA',
    password_hash: 'x',
    locked_until: null,
    failed_login_attempts: 0,
    mfa: false,
    groups: ['admins'],
    created_at: '2020-01-01T00:00:00Z',
    createdAt: 1,
    deletingAt: 1,
    usernameKey: 'bob',
    isActive: true,
    version: 9,
  };
  const user = { username: 'mallory', password: goodPassword };
  for (const [name, value] of Object.entries(ofUsers)) {
    for (const [method, path, body] of [
      ['POST', '/users', { ...user, [name]: value }],
      ['PUT', `/users/${ids.users}`, { [name]: value }],
      ['PATCH', `/users/${ids.users}`, { name: 'x', [name]: value }],
      ['POST', '/users/unlock', { user_id: ids.users, [name]: value }],
    ] as const) {
      const answer = await world.api(method, path, body);
      deepEqual([answer.status, wrongFields(answer)], [400, [name]], `${method} ${path} ${name}`);
    }
  }
  const ofClients = {
    client_id: 'mine',
    client_secret: 'mine',
    secrets: [],
    origin: 'seed',
    created_at: '2020-01-01T00:00:00Z',
    registrationTokenDigest: 'x',
    registration_access_token: 'x',
    skipConsent: true,
    metadata: {},
  };
  for (const [name, value] of Object.entries(ofClients)) {
    for (const [method, path] of [
      ['POST', '/clients'],
      ['PUT', `/clients/${ids.clients}`],
      ['PATCH', `/clients/${ids.clients}`],
    ] as const) {
      const answer = await world.api(method, path, { ...client, [name]: value });
      deepEqual([answer.status, wrongFields(answer)], [400, [name]], `${method} ${path} ${name}`);
    }
  }
  equal(await snapshot(), before);
});

withEachServer('no answer of any route is a server error, whatever comes in', async (world) => {
  const { routes } = await prepare(world);
  const values: readonly unknown[] = [null, '', 0, -1, true, [], {}, 'x'.repeat(5000), '\ud800', '￿', 1e308];
  for (const { method, path, body } of routes) {
    for (const value of values) {
      const members = Object.fromEntries(Object.keys(body ?? {}).map((name) => [name, value]));
      const answer = await world.api(method, path, body && members);
      ok(answer.status < 500, `${method} ${path} ${JSON.stringify(value)}: ${answer.text}`);
      ok(!/at .*\.ts:\d/.test(answer.text), 'no stack');
    }
  }
  match((await world.api('GET', '/users')).headers.get('content-type') ?? '', /^application\/json/);
});
