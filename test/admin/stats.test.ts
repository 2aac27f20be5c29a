// The figures of the dashboard (decision 0010): correct over aggregated and recent hours, and cheap.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createStatistics } from '../../src/audit/statistics.ts';
import { createTimeSortedIds } from '../../src/ids.ts';
import { eventHours } from '../../src/store/administration.ts';
import { audit } from '../../src/store/collections.ts';
import { dataOf, membersOf } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const HOUR = 3_600_000;

/** Writes events into the log as they come about at the clock's time. */
function recorder({ store, now }: World) {
  const collection = store.collection(audit);
  const newId = createTimeSortedIds(now);
  return async (event: string, times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      const record = { at: now(), event, outcome: 'success', actorKind: 'system' } as const;
      await collection.insert(newId(), record);
    }
  };
}

const statsOf = async ({ api, advance }: World) => {
  advance(10_001);
  const data = dataOf(await api('GET', '/stats'));
  const points = (name: string) => {
    const value = data[name];
    ok(Array.isArray(value));
    return value.map(membersOf);
  };
  return { counts: membersOf(data.counts), hours: points('hours'), days: points('days') };
};

const valuesOf = (points: readonly Record<string, unknown>[], name: string): unknown[] =>
  points.map((point) => point[name]).filter((value) => value !== 0);

withEachServer('stats: events of recent hours and days, before and after aggregation', async (world) => {
  const { advance, now, store } = world;
  const record = recorder(world);
  const statistics = createStatistics({
    audit: store.collection(audit),
    collection: store.collection(eventHours),
    clock: now,
  });
  await record('signin.success', 3);
  advance(2 * 24 * HOUR);
  await record('signin.success', 2);
  await record('signin.failure', 1);
  advance(HOUR);
  await record('signin.success', 1100);

  const isNever = () => false;
  const before = await statsOf(world);
  deepEqual(valuesOf(before.hours, 'sign_ins'), [2, 1100]);
  deepEqual([before.hours.length, before.days.length], [24, 30]);
  equal(before.hours.at(-1)?.sign_ins, 1100);

  advance(50_000);
  equal(await statistics.rollUp(isNever), 49, 'every hour that is over, once');
  equal(await statistics.rollUp(isNever), 0);
  const after = await statsOf(world);
  deepEqual(valuesOf(after.hours, 'sign_ins'), [2, 1100]);
  deepEqual(valuesOf(after.hours, 'failed_sign_ins'), [1]);
  deepEqual(valuesOf(after.days, 'sign_ins'), [3, 1102]);

  await record('signin.success', 5);
  deepEqual(valuesOf((await statsOf(world)).hours, 'sign_ins'), [2, 1105]);
  advance(HOUR);
  await record('user.created', 4);
  await statistics.rollUp(isNever);
  const later = await statsOf(world);
  deepEqual(valuesOf(later.hours, 'sign_ins'), [2, 1105]);
  deepEqual(valuesOf(later.hours, 'users_created'), [4]);
  advance(29 * 24 * HOUR);
  deepEqual(valuesOf((await statsOf(world)).days, 'sign_ins'), [1107]);
  advance(5 * 24 * HOUR);
  const old = await statsOf(world);
  deepEqual([valuesOf(old.days, 'sign_ins'), valuesOf(old.hours, 'sign_ins')], [[], []]);
});

withEachServer('stats: an hour is not aggregated while its events may still arrive', async (world) => {
  const { advance, now, store } = world;
  const record = recorder(world);
  const parts = { audit: store.collection(audit), collection: store.collection(eventHours), clock: now };
  await record('signin.success', 1);
  advance(HOUR + 59_000);
  equal(await createStatistics(parts).rollUp(() => false), 0);
  advance(1000);
  equal(await createStatistics(parts).rollUp(() => true), 0, 'the process stops');
  equal(await createStatistics(parts).rollUp(() => false), 1);
});

withEachServer(
  'stats: running sessions are recorded for the past hour, unknown for earlier ones',
  async (world) => {
    const { advance, now, store } = world;
    const record = recorder(world);
    const statistics = createStatistics({
      audit: store.collection(audit),
      collection: store.collection(eventHours),
      clock: now,
      countSessions: async () => 17,
    });
    await record('signin.success', 1);
    advance(3 * HOUR + 60_000);
    await statistics.rollUp(() => false);
    const { hours, days } = await statsOf(world);
    deepEqual(
      hours.slice(-4).map(({ sessions_active: active }) => active),
      [null, null, 17, 0],
      'the running hour tells what is now',
    );
    equal(days.at(-1)?.sessions_active, 17, 'the most of a day');
  },
);

withEachServer('stats: counts of users, clients and sessions', async (world) => {
  const { accounts, clients, sessions, now } = world;
  const user = (username: string, more: object) =>
    accounts.create({ username, password: goodPassword, ...more });
  const alice = await user('alice', { role: 'admin' });
  await user('ann', { role: 'auditor' });
  await user('old', { is_active: false });
  await clients.create({
    metadata: { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] },
    origin: 'admin',
  });
  for (const [uid, expiresAt] of [
    ['s1', now() + HOUR],
    ['s2', now() + 1000],
  ] as const) {
    await sessions.note({
      uid,
      isNew: true,
      accountId: alice.id,
      ipAddress: '192.0.2.7',
      userAgent: '',
      amr: ['pwd'],
      clientIds: [],
      createdAt: now(),
      expiresAt,
    });
  }
  deepEqual((await statsOf(world)).counts, {
    users: 3,
    users_inactive: 1,
    users_locked: 0,
    users_with_second_factor: 0,
    users_with_passkey: 0,
    administrators: 1,
    auditors: 1,
    groups: 0,
    clients: 1,
    sessions_active: 1,
    mails_queued: 0,
    mails_failed: 0,
    mails_kept: 0,
  });
});

withServer('stats: concurrent requests share one computation, cached for ten seconds', async (world) => {
  const { api, advance, accounts } = world;
  const answers = await Promise.all(Array.from({ length: 20 }, () => api('GET', '/stats')));
  equal(new Set(answers.map(({ text }) => text)).size, 1);
  await accounts.create({ username: 'alice', password: goodPassword });
  advance(9_000);
  equal(membersOf(dataOf(await api('GET', '/stats')).counts).users, 0);
  advance(1_001);
  equal(membersOf(dataOf(await api('GET', '/stats')).counts).users, 1);
  equal((await api('POST', '/stats')).status, 405);
  equal((await api('GET', '/stats?days=1000000')).status, 400);
});
