// Attacks: Mongo operators, SQL, prototype keys, catastrophic regular expressions, NUL, overlong and endless text in every
// parameter and field of every admin API route. Never a server error, more rows than the literal text
// matches, a change of other data, or a slow answer. It runs on each backend.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { IsObject, type TSchema } from 'typebox';
import type { Route } from '../../src/admin/api/route.ts';
import { searchWords } from '../../src/store/search-text.ts';
import { type Answer, type CallOptions, dataOf, itemsOf, wrongFields } from '../admin/answers.ts';
import { declaredRoutes } from '../support/api-document.ts';
import { type ApiWorld, bodyFor, sendsBody, startApiWorld } from '../support/api-world.ts';
import { isWithin } from '../support/patience.ts';

/** None of them is in anything that is stored. */
const texts: readonly string[] = [
  '{"$gt":""}',
  '{"$where":"sleep(5000)"}',
  '{"$regex":".*"}',
  '$where',
  '[$ne]',
  "' OR '1'='1",
  "'; DROP TABLE accounts; --",
  '" OR ""="',
  '1) UNION SELECT * FROM accounts --',
  '%',
  '_',
  '*',
  '\\',
  '.*',
  '^.*$',
  '(a+)+$',
  `${'a'.repeat(190)}!`,
  '(?=(((a+)+)+)+)',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u0000',
  'a\u0000b',
  '\uffff',
  '\u202eecila',
  '{{7*7}}',
  '../../../etc/passwd',
  '\r\nSet-Cookie: x=1',
  '𝕬'.repeat(90),
  '\u0301'.repeat(150),
  'x'.repeat(4000),
];
/** Bytes that are no UTF-8: overlong, half a pair, cut off. */
const noText = ['%C0%AF', '%E0%80%AF', '%ED%A0%80', '%F8%88%80%80%80', '%E0%A4', '%FF'];
const things: readonly unknown[] = [
  { $gt: '' },
  { $where: 'sleep(5000)' },
  [{ $regex: '.*' }],
  { toString: 1, length: 1e9 },
];

// On a busy machine; a regular expression that does not end takes longer by far.
const SLOW_MS = 5_000;
const isLong = process.env.LONG === '1';
const routes = declaredRoutes();

let world: ApiWorld;
let bystanders: string;
/** What no request is aimed at. */
let readBystanders: () => Promise<string>;
before(async () => {
  world = await startApiWorld({ store: 'sqlite' });
  const { app, api } = world;
  const user = await app.createUser('bystander', { email: 'bystander@example.com' });
  const client = await app.register({ client_name: 'Bystander' });
  equal((await api('POST', '/groups', { name: 'bystanders' })).status, 201);
  const paths = [`/users/${user.id}`, `/clients/${client.id}`, '/groups/bystanders', '/users?role=admin'];
  readBystanders = async () => {
    const answers = await Promise.all(paths.map((path) => api('GET', path)));
    return answers.map(({ status, text }) => `${status} ${text}`).join('\n');
  };
  bystanders = await readBystanders();
  ok(!bystanders.includes('404 '));
});
after(() => world?.app.stop());

async function attack(
  route: Route,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await (route.lines
    ? world.api(route.method, path, undefined, {
        raw: '{}\n',
        ...options,
        headers: { 'content-type': 'application/x-ndjson' },
      })
    : world.api(route.method, path, body ?? bodyFor(route), options));
  const about = `${route.method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)}`;
  ok(answer.status < 500, `${about}: ${answer.text}`);
  ok(isWithin(performance.now() - startedAt, SLOW_MS), `${about} took long`);
  ok(
    !/\bat .*\.ts:\d|SQLITE|MongoError|\bE11000\b/.test(answer.text),
    `${about} tells of the inside: ${answer.text}`,
  );
  return answer;
}

/** Gives so many at a time, over and over, so that all are tried over all fields. */
function inTurn<T>(of: readonly T[], count: number): () => T[] {
  let at = 0;
  return () => {
    const from = at % of.length;
    at += count;
    return [...of, ...of].slice(from, from + count);
  };
}

test('attack: injection in every position of every path is 404 without effect', async () => {
  const before = await world.snapshot();
  let tried = 0;
  const encoded = inTurn(texts.map(encodeURIComponent), isLong ? texts.length : 7);
  const broken = inTurn(noText, isLong ? noText.length : 2);
  for (const route of routes) {
    for (const name of Object.keys(route.params?.properties ?? {})) {
      for (const text of [...encoded(), ...broken()]) {
        const answer = await attack(route, world.addressOf(route, { [name]: text }));
        equal(answer.status, 404, `${route.method} ${route.path} ${text.slice(0, 60)}: ${answer.text}`);
        tried += 1;
      }
    }
  }
  ok(tried > 350, String(tried));
  deepEqual(await world.snapshot(), before);
});

const hasWords = (item: object, typed: string): boolean =>
  searchWords(typed).every((word) => JSON.stringify(item).toLowerCase().includes(word));

test('attack: injection in every query parameter is refused or a literal without matches', async () => {
  const before = await world.snapshot();
  let tried = 0;
  const few = inTurn(texts, 4);
  const many = inTurn(texts, isLong ? texts.length : 12);
  for (const route of routes.filter(({ query }) => query !== undefined)) {
    for (const [name, schema] of Object.entries(route.query?.properties ?? {})) {
      const isText = Reflect.get(schema, 'type') === 'string' && Reflect.get(schema, 'enum') === undefined;
      const isFree = isText && Reflect.get(schema, 'format') === undefined;
      const values = isFree ? many() : few();
      for (const text of [...values.map(encodeURIComponent), ...noText.slice(0, isFree ? 6 : 1)]) {
        const path = `${world.addressOf(route)}?${name}=${text}`;
        const answer = await attack(route, path);
        if (answer.status === 400) deepEqual(wrongFields(answer), [name], path.slice(0, 200));
        // A short one is a part of names and digests: what is found has it, without what nobody can see.
        else if (route.path === '/audit' && name === 'search')
          ok(
            itemsOf(answer).every((item) => hasWords(item, decodeURIComponent(text))),
            path.slice(0, 200),
          );
        // What would be granted for it: never the text itself.
        else if (route.path.includes('/token-preview'))
          ok(answer.status === 200 && !String(dataOf(answer).scope).split(' ').includes(text), path);
        // The text is not looked for but judged, and comes back as it was sent.
        else if (route.path === '/redirect-uris/check')
          ok(
            answer.status === 200 && itemsOf(answer).every((item) => item.is_valid === false),
            path.slice(0, 200),
          );
        else
          deepEqual([answer.status, itemsOf(answer), dataOf(answer).total], [200, [], 0], path.slice(0, 200));
        tried += 1;
      }
      for (const key of [
        `${name}[$gt]`,
        `${name}[$regex]`,
        `${name}.$ne`,
        `${name}[__proto__]`,
        `${name}[]`,
      ]) {
        const answer = await attack(route, `${world.addressOf(route)}?${encodeURIComponent(key)}=`);
        deepEqual([answer.status, wrongFields(answer)], [400, [key]], route.path);
      }
    }
  }
  ok(tried > 700, String(tried));
  deepEqual(await world.snapshot(), before);
});

/** Every field of a body, nested ones by path. */
function fieldsOf(schema: TSchema, within: readonly string[] = []): string[][] {
  const options: unknown = Reflect.get(schema, 'anyOf');
  const object = IsObject(schema) ? schema : Array.isArray(options) ? options.find(IsObject) : undefined;
  return Object.entries(object?.properties ?? {}).flatMap(([name, of]) => [
    [...within, name],
    ...fieldsOf(of, [...within, name]),
  ]);
}

function withField(body: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  return { ...body, [name]: rest.length === 0 ? value : withField({}, rest, value) };
}

test('attack: injection in every body field is refused or stored as text', async () => {
  let tried = 0;
  const some = inTurn(texts, isLong ? texts.length : process.env.TEST_STORE ? 2 : 4);
  const thing = inTurn(things, isLong ? things.length : 1);
  // What ends things, or is about all of them at once, is no field.
  for (const route of routes.filter(
    ({ path, body }) => body !== undefined && !path.startsWith('/settings'),
  )) {
    const path = world.addressOf(route);
    for (const field of fieldsOf(route.body ?? {})) {
      const name = field.join('.');
      for (const value of [...some(), ...thing()]) {
        const answer = await attack(route, path, withField(bodyFor(route) ?? {}, field, value));
        const isTaken = answer.status < 300;
        if (isTaken)
          ok(typeof value === 'string', `${route.method} ${path} took ${JSON.stringify(value)} as ${name}`);
        const [top = ''] = field;
        const shown = isTaken && field.length === 1 ? dataOf(answer)[top] : undefined;
        if (typeof shown === 'string' && typeof value === 'string') {
          equal(shown.normalize('NFKC').trim(), value.normalize('NFKC').trim(), `${path} ${name}`);
        }
        tried += 1;
      }
    }
  }
  ok(tried > 500, String(tried));
  equal(await readBystanders(), bystanders);
});

test('attack: injection in every setting is refused or stored as text', async () => {
  const settings = itemsOf(await world.api('GET', '/settings'));
  const [patch] = routes.filter(({ method, path }) => method === 'PATCH' && path === '/settings');
  ok(patch);
  const some = inTurn(texts, 3);
  for (const { key, type, default: standard } of settings) {
    for (const value of [...some(), ...things.slice(0, 2)]) {
      const answer = await attack(patch, '/settings', { [String(key)]: value });
      if (answer.status === 200) {
        const kept = itemsOf(answer).find((setting) => setting.key === key);
        // White space around a text is not kept.
        const isKept = String(kept?.value).toLowerCase() === String(value).trim().toLowerCase();
        ok(kept?.value === null || isKept, `${key} (${type}): ${JSON.stringify(kept?.value)}`);
        equal((await world.api('PATCH', '/settings', { [String(key)]: standard })).status, 200, String(key));
      } else deepEqual([answer.status, wrongFields(answer)], [400, [key]], answer.text.slice(0, 300));
    }
  }
  equal(await readBystanders(), bystanders);
});

test('attack: injection by keys and bytes of every body; no prototype changes', async () => {
  const raws = [
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"prototype":{"polluted":true}}',
    '{"address":{"__proto__":{"polluted":true}}}',
    '{"jwks":{"keys":[{"constructor":{"prototype":{"polluted":true}}}]}}',
    '{"\\u005f_proto__":{"polluted":true}}',
    '{"$where":"sleep(5000)"}',
    '{"$set":{"role":"admin"}}',
    '{"a.b":1}',
    `{"${'x'.repeat(90_000)}":1}`,
    `${'['.repeat(40_000)}${']'.repeat(40_000)}`,
    `{"x":"${'\\u0000'.repeat(1000)}"}`,
    '{"x":"\\ud800"}',
    '{"x":1e999999}',
    `{"x":${'9'.repeat(90_000)}}`,
  ];
  for (const route of routes.filter(sendsBody)) {
    for (const raw of raws) {
      const answer = await attack(route, world.addressOf(route), undefined, {
        raw: route.lines ? `${raw}\n` : raw,
      });
      if (route.lines)
        ok(answer.text.includes('"failed"'), `${route.path} ${raw.slice(0, 60)}: ${answer.text}`);
      else equal(answer.status, 400, `${route.method} ${route.path} ${raw.slice(0, 60)}: ${answer.text}`);
    }
  }
  equal(Reflect.get({}, 'polluted'), undefined);
  equal(await readBystanders(), bystanders);
});
