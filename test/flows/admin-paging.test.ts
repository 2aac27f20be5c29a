// Thousands of users (ten with LONG=1), page by page over HTTP, while others are created and deleted: none appears twice, none
// that existed throughout is missing, and the order holds for every sort field (decision 0010, storage rule C13).
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { accounts } from '../../src/store/collections.ts';
import { type Answer, dataOf, itemsOf, type Members, send } from '../admin/answers.ts';
import { ADMIN_TOKEN, PASSWORD, startApp } from '../support/app.ts';

// The MongoDB-compatible server that the tests bring takes minutes for more; a real one can be given with PAGED_USERS=10000.
const isEmbedded = !process.env.TEST_STORE;
const embeddedUsers = process.env.LONG === '1' ? 10_000 : 3_000;
const otherwise = process.env.LONG === '1' ? 600 : 60;
const USERS = Number(process.env.PAGED_USERS ?? (isEmbedded ? embeddedUsers : otherwise));
const LIMIT = Math.max(6, Math.ceil(USERS / 40));
const AT_ONCE = isEmbedded ? 250 : 16;

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

const api = (method: string, path: string, body?: unknown): Promise<Answer> =>
  send(`${app.url}/admin/api${path}`, method, body, { bearer: ADMIN_TOKEN });

/** Everyone but those who come and go; every sort field has ties, and some have no value. */
async function populate(): Promise<{ staying: Set<string>; going: string[] }> {
  const first = await app.createUser('first');
  const collection = app.store.collection(accounts);
  const template = await collection.find(first.id);
  ok(template);
  const { value } = template;
  const insert = async (at: number): Promise<void> => {
    // Neither in the order of the names nor of the times.
    const mixed = (at * 7919) % USERS;
    const username = `user-${String(mixed).padStart(5, '0')}`;
    const email = `${String((at * 31) % USERS).padStart(5, '0')}@example.com`;
    await collection.insert(`id-${at}`, {
      ...value,
      username,
      usernameKey: username,
      ...(at % 3 === 0 && { email, emailKey: email }),
      ...(at % 4 === 0 && { lastLoginAt: value.createdAt + (at % 50) }),
      createdAt: value.createdAt + (mixed % 100),
    });
  };
  const all = Array.from({ length: USERS }, (_, at) => at);
  for (let from = 0; from < USERS; from += AT_ONCE) {
    await Promise.all(all.slice(from, from + AT_ONCE).map(insert));
  }
  const isGoing = (at: number): boolean => at % 37 === 5;
  return {
    staying: new Set([first.id, ...all.filter((at) => !isGoing(at)).map((at) => `id-${at}`)]),
    going: all.filter(isGoing).map((at) => `id-${at}`),
  };
}

/** The field as it is sorted by: what has no value comes first. */
const keyOf = (field: string, item: Members): string => {
  const value = item[field] ?? null;
  return value === null ? '0' : `1${String(value)}`;
};

/** @param change resolves when someone has come or gone since */
async function everybody(sort: string, order: string, change: () => Promise<void>): Promise<Members[]> {
  const seen: Members[] = [];
  let cursor = '';
  for (let page = 0; page < 1000; page += 1) {
    const answer = await api('GET', `/users?limit=${LIMIT}&sort=${sort}&order=${order}${cursor}`);
    equal(answer.status, 200, answer.text.slice(0, 300));
    seen.push(...itemsOf(answer));
    const { next } = dataOf(answer);
    if (next === null) return seen;
    await change();
    cursor = `&cursor=${encodeURIComponent(String(next))}`;
  }
  throw new Error('the pages have no end');
}

test(`paging: ${USERS} users while others come and go: no duplicate, no gap, in order`, async () => {
  const { staying, going } = await populate();
  let isOver = false;
  let changes = 0;
  let done = 0;
  /** New ones come in before, between and behind, and some of the old ones go. */
  async function comeAndGo(): Promise<void> {
    while (!isOver) {
      const mine = changes;
      changes += 1;
      const username = `${'auz'[mine % 3]}ser-${mine}-new`;
      const made = await api('POST', '/users', {
        username,
        password: PASSWORD,
        email: `${username}@example.com`,
      });
      equal(made.status, 201, made.text);
      const victim = mine % 2 === 0 ? going.pop() : String(dataOf(made).id);
      if (victim !== undefined) equal((await api('DELETE', `/users/${victim}`)).status, 204);
      done += 1;
    }
  }
  const changing = Promise.all(Array.from({ length: isEmbedded ? 4 : 1 }, comeAndGo));
  async function nextChange(): Promise<void> {
    const before = done;
    while (done === before) await Promise.race([sleep(1), changing]);
  }
  try {
    for (const [sort, order] of [
      ['username', 'asc'],
      ['email', 'desc'],
      ['last_login_at', 'asc'],
    ] as const) {
      const before = done;
      const seen = await everybody(sort, order, nextChange);
      ok(done >= before + 8, `only ${done - before} changes`);
      const ids = seen.map(({ id }) => String(id));
      equal(new Set(ids).size, ids.length, `${sort}: somebody is there twice`);
      const there = new Set(ids);
      deepEqual(
        [...staying].filter((id) => !there.has(id)),
        [],
        `${sort}: somebody is missing`,
      );
      const keys = seen.map((item) => keyOf(sort, item));
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      deepEqual(keys, order === 'asc' ? sorted : sorted.toReversed(), sort);
    }
  } finally {
    isOver = true;
    await changing;
  }
});
