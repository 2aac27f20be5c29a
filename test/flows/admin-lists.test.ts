// Every list of the admin API: sorting by every declared field, both ways, with ties and missing values, and every declared
// filter, compared with the same rows sorted and filtered here.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { IsEnum, type TSchema } from 'typebox';
import type { Route } from '../../src/admin/api/route.ts';
import { fold } from '../../src/model/users/fold.ts';
import { foldForSearch, profileName, searchedText, searchWords } from '../../src/store/search-text.ts';
import { dataOf, itemsOf, type Members } from '../admin/answers.ts';
import { declaredRoutes } from '../support/api-document.ts';
import { addRows } from '../support/api-rows.ts';
import { type ApiWorld, startApiWorld } from '../support/api-world.ts';

// How storages sort is in their contract (test/store/contract-pages.ts); here it is tried on the embedded one, and with LONG=1.
const sortsHere = !process.env.TEST_STORE || process.env.LONG === '1';

let world: ApiWorld;
before(async () => {
  world = await startApiWorld({ store: 'sqlite' });
  await addRows(world);
});
after(() => world?.app.stop());

const lists = declaredRoutes().filter(({ query }) => query?.properties.cursor !== undefined);

/** What `search` looks into. */
const names = [
  'username',
  'email',
  'other_emails',
  'name',
  'given_name',
  'middle_name',
  'family_name',
  'nickname',
];
const searched: Readonly<Record<string, readonly string[]>> = {
  '/users': names,
  '/groups/{id}/members': names,
  '/clients': ['client_name'],
  '/groups': ['name', 'display_name'],
  '/audit': ['event', 'reason', 'ip_address', 'actor_id', 'target_id', 'client_id', 'request_id'],
  '/resources': ['name', 'identifier'],
  '/api-keys': ['name'],
  '/sessions': ['ip_address'],
  '/users/{id}/sessions': ['ip_address'],
  '/mails': ['to'],
  '/invitations': ['email'],
};

type Value = string | number | undefined;

const given = (row: Members): Members =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** What is found how: test/store/search-text.test.ts. */
const searchedIn = (row: Members, fields: readonly string[]): string =>
  `${textsIn(row.details).join(' ').toLowerCase()} ` +
  searchedText(
    fields.flatMap((name) => {
      const text = row[name];
      return typeof text === 'string' ? [text, text.replaceAll(/[._]/g, ' ')] : [];
    }),
  );

const idOf = (row: Members): string => String(row.id ?? row.client_id);

/** The value that a list sorts and filters by, as a row shows it. */
function keyOf(list: string, field: string, row: Members): Value {
  if (field === 'id') return idOf(row);
  const shown = row[field] ?? undefined;
  const isUser = list === '/users' || list === '/groups/{id}/members';
  if (isUser && field === 'name') return foldForSearch(profileName(given(row)) ?? String(row.username));
  if (list === '/clients' && field === 'client_name') return String(shown ?? row.client_id);
  if (shown === undefined) return undefined;
  const isFolded = field === 'username' || (field === 'email' && list !== '/invitations');
  if (isFolded) return fold(String(shown));
  if (typeof shown === 'boolean') return Number(shown);
  if (field === 'at' || field.endsWith('_at')) return Date.parse(String(shown));
  return String(shown);
}

/** What has no value first, text by code point. */
function compare(a: Value, b: Value): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

const sorted = (list: string, rows: readonly Members[], field: string, order: string): string[] => {
  const ascending = rows.toSorted(
    (a, b) => compare(keyOf(list, field, a), keyOf(list, field, b)) || compare(idOf(a), idOf(b)),
  );
  return (order === 'asc' ? ascending : ascending.toReversed()).map(idOf);
};

const enumOf = (schema: TSchema | undefined): unknown[] => (IsEnum(schema) ? [...schema.enum] : []);

async function read(route: Route, query: Readonly<Record<string, string>>) {
  const answer = await world.api('GET', `${world.addressOf(route)}?${new URLSearchParams(query)}`);
  equal(answer.status, 200, `${route.path} ${JSON.stringify(query)}: ${answer.text.slice(0, 300)}`);
  const { total, next } = dataOf(answer);
  return { rows: itemsOf(answer), total, next };
}

const everything = (route: Route): Promise<{ rows: Members[] }> => read(route, { limit: '1000' });

test('lists: each sorts by every declared field both ways and pages in that order', async () => {
  let tried = 0;
  for (const route of sortsHere ? lists : lists.slice(0, 1)) {
    const { path, query } = route;
    const { rows } = await everything(route);
    ok(rows.length >= 3, `${path} has ${rows.length} rows`);
    const sorts = enumOf(query?.properties.sort).map(String);
    ok(sorts.length > 0, path);
    for (const sort of sorts) {
      for (const order of ['asc', 'desc']) {
        const expected = sorted(path, rows, sort, order);
        const whole = await read(route, { sort, order, limit: '1000' });
        deepEqual(whole.rows.map(idOf), expected, `${path} ${sort} ${order}`);
        tried += 1;
        if (order === 'asc') continue;
        const paged: string[] = [];
        let cursor: unknown = '';
        while (cursor !== null) {
          const page = await read(route, {
            sort,
            order,
            limit: '9',
            ...(cursor !== '' && { cursor: String(cursor) }),
          });
          paged.push(...page.rows.map(idOf));
          equal(page.total, expected.length, path);
          cursor = page.next;
        }
        deepEqual(paged, expected, `${path} ${sort} ${order} by cursor`);
        const middle = await read(route, { sort, order, limit: '5', offset: '3' });
        deepEqual(middle.rows.map(idOf), expected.slice(3, 8), `${path} ${sort} ${order} by offset`);
      }
    }
  }
  ok(tried > (sortsHere ? 90 : 10), String(tried));
});

const positional = new Set(['limit', 'offset', 'cursor', 'sort', 'order']);
type Case = readonly [value: string, fits: (row: Members) => boolean];

const special: Readonly<Record<string, (row: Members, value: string) => boolean>> = {
  group: ({ groups }, value) => Array.isArray(groups) && groups.includes(value),
  scope_group: ({ scopes }, value) => JSON.stringify(scopes).includes(`"${value}"`),
  is_quarantined: (row, value) => (row.quarantine !== null) === (value === 'true'),
  is_locked: (row, value) => (row.locked_until !== null) === (value === 'true'),
  has_signed_in: (row, value) => (row.last_login_at !== null) === (value === 'true'),
  has_second_factor: (row, value) =>
    (row.totp_verified === true || Number(row.passkey_count) > 0) === (value === 'true'),
};

/** Values for a filter, with what they should leave. */
function casesOf(list: string, name: string, schema: TSchema, rows: readonly Members[]): Case[] {
  if (name === 'search') {
    const fields = searched[list] ?? [];
    ok(fields.length > 0, `${list}: what is searched?`);
    const texts = rows.flatMap((row) => fields.map((field) => String(keyOf(list, field, row) ?? '')));
    const some = new Set(['', '%', '_', '.*', 'zzz', ...texts.map((text) => text.slice(1, 4).toUpperCase())]);
    const holds = (row: Members, text: string): boolean =>
      fields === names || list === '/audit'
        ? searchWords(text).every((word) => searchedIn(row, fields).includes(word))
        : fields.some((field) => fold(String(keyOf(list, field, row) ?? '')).includes(fold(text)));
    return [...some].slice(0, 16).map((text) => [text, (row) => text === '' || holds(row, text)]);
  }
  const bound = /^(.+)_(from|to)$/.exec(name);
  if (bound) {
    const [, field = '', end] = bound;
    const times = [...new Set(rows.map((row) => keyOf(list, field, row)))].filter(
      (value) => typeof value === 'number',
    );
    const some = [
      0,
      Date.now() + 10 ** 9,
      ...times.slice(0, 3),
      ...times.slice(0, 1).map((time) => time + 1),
    ];
    return some.map((time) => [
      new Date(time).toISOString(),
      (row) => {
        const value = keyOf(list, field, row);
        return typeof value === 'number' && (end === 'from' ? value >= time : value <= time);
      },
    ]);
  }
  const own = special[name];
  const values = new Set([
    ...enumOf(schema).map(String),
    ...(Reflect.get(schema, 'type') === 'boolean' ? ['true', 'false'] : []),
    ...(enumOf(schema).length === 0 && Reflect.get(schema, 'type') === 'string'
      ? ['nothing', ...rows.map((row) => String(row[name] ?? 'nothing')), ...(own ? ['staff', 'ops'] : [])]
      : []),
  ]);
  return [...values]
    .slice(0, 8)
    .map((value) => [
      value,
      (row) => (own ? own(row, value) : row[name] !== null && String(row[name]) === value),
    ]);
}

test('lists: every filter returns exactly the matches, alone and combined', async () => {
  let tried = 0;
  for (const route of lists) {
    const { path, query } = route;
    const { rows } = await everything(route);
    const filters = Object.entries(query?.properties ?? {}).flatMap(([name, schema]) =>
      positional.has(name)
        ? []
        : casesOf(path, name, schema, rows).map(([value, fits]) => ({ name, value, fits })),
    );
    // Of tokens in the ephemeral store, which are found by their owner alone: tokens.test.ts.
    // Another class of events is another list: test/audit/token-events.test.ts.
    const asked = filters.filter(
      ({ name, value }) => !(name === 'kind' && value !== 'refresh_token') && name !== 'class',
    );
    const owned = path === '/tokens' ? { kind: 'refresh_token' } : {};
    const [sort = 'id'] = enumOf(query?.properties.sort).map(String);
    for (const [at, { name, value, fits }] of asked.entries()) {
      const other = asked.slice(at + 1).find((one) => one.name !== name);
      for (const more of [undefined, other]) {
        const expected = rows.filter((row) => fits(row) && (more?.fits(row) ?? true));
        const filtered = await read(route, {
          ...owned,
          sort,
          order: 'asc',
          limit: '100',
          [name]: value,
          ...(more && { [more.name]: more.value }),
        });
        const about = `${path} ${name}=${value} ${more ? `${more.name}=${more.value}` : ''}`;
        deepEqual(filtered.rows.map(idOf), sorted(path, expected, sort, 'asc'), about);
        equal(filtered.total, expected.length, about);
        tried += 1;
      }
    }
  }
  ok(tried > 250, String(tried));
});
