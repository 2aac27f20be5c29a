// The audit log's writer and reader: actor, target, time and address; order; retention; and what happens when it cannot be
// written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createAudit } from '../../src/audit/audit.ts';
import { forgetAudit } from '../../src/audit/forget-job.ts';
import { createEvents, type EventName } from '../../src/events/index.ts';
import { createTimeSortedIds } from '../../src/ids.ts';
import { createLogger } from '../../src/log.ts';
import { eventNames } from '../../src/model/events/events.ts';
import { audit as definition } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { breakable } from '../support/broken-store.ts';

const origin = { ipAddress: '192.0.2.1', userAgent: 'Browser/1', requestId: 'request-1', language: 'en' };

function createWorld() {
  const world = { now: Date.UTC(2026, 0, 31, 12) };
  const clock = (): number => world.now;
  const inner = createMemoryStore({ clock });
  const { store, broken } = breakable(inner);
  const events = createEvents();
  const { origins } = events;
  const logged: string[] = [];
  const log = createLogger({
    level: 'info',
    pretty: false,
    destination: { write: (line) => void logged.push(line) },
  });
  const collection = store.collection(definition);
  const audit = createAudit({ collection, clock, newId: createTimeSortedIds(clock), events, log });
  const all = async () =>
    (await audit.query({ sort: 'id', order: 'asc', limit: 1000 })).items.map(({ value }) => value);
  return { world, clock, broken, origins, events, audit, all, logged, collection };
}

test('audit event: records actor, target, action, time, address and request', async () => {
  const { origins, all, world, events } = createWorld();
  await origins.run(origin, async () => {
    await events.record({ event: 'signin.failure', reason: 'wrong', target: { kind: 'user', id: 'u1' } });
    origins.setActor({ kind: 'user', id: 'admin-1' });
    await events.record({ event: 'user.updated', target: { kind: 'user', id: 'u1' }, clientId: 'c1' });
  });
  await events.record({ event: 'session.ended', target: { kind: 'session', id: 's1' } });
  const { now } = world;
  const { ipAddress, userAgent, requestId } = origin;
  const user = { targetKind: 'user', targetId: 'u1' };
  assert.deepEqual(await all(), [
    {
      at: now,
      event: 'signin.failure',
      outcome: 'failure',
      reason: 'wrong',
      actorKind: 'anonymous',
      ...user,
      ipAddress,
      userAgent,
      requestId,
    },
    {
      at: now,
      event: 'user.updated',
      outcome: 'success',
      actorKind: 'user',
      actorId: 'admin-1',
      ...user,
      clientId: 'c1',
      ipAddress,
      userAgent,
      requestId,
    },
    {
      at: now,
      event: 'session.ended',
      outcome: 'success',
      actorKind: 'system',
      targetKind: 'session',
      targetId: 's1',
    },
  ]);
});

test('audit id: sorts by time, also within a millisecond', async () => {
  const { world, all, events } = createWorld();
  const written: EventName[] = [];
  for (const [index, event] of eventNames.entries()) {
    if (index % 3 === 0) world.now += 1;
    written.push(event);
    await events.record({ event });
  }
  assert.deepEqual(
    (await all()).map(({ event }) => event),
    written,
  );
});

test('attack: endless names and addresses, or line breaks, stay one small record', async () => {
  const { origins, all, events } = createWorld();
  const evil = `\r\n{"event":"signin.success"}\u001b[2J\u2028"'${'x'.repeat(100_000)}`;
  await origins.run({ ipAddress: evil, userAgent: evil, requestId: evil, language: evil }, () =>
    events.record({
      event: 'signin.failure',
      reason: evil,
      target: { kind: 'user', id: evil },
      clientId: evil,
      details: { evil },
    }),
  );
  const [record, ...rest] = await all();
  assert.equal(rest.length, 0);
  assert.equal(record?.event, 'signin.failure');
  const text = JSON.stringify(record);
  assert.ok(text.length < 8000, String(text.length));
  assert.ok(!text.includes('\n'));
});

test('audit failure: an error for its request, logged whole and without secrets (R150)', async () => {
  const { broken, origins, logged, all, events } = createWorld();
  broken.add('audit');
  const writing = origins.run(origin, () =>
    events.record({
      event: 'signin.success',
      actor: { kind: 'user', id: 'u1' },
      details: { password: 'canary-1' },
    }),
  );
  await assert.rejects(writing, StoreUnavailable);
  const line = logged.find((text) => text.includes('audit event not written'));
  for (const part of ['signin.success', 'u1', origin.ipAddress, origin.requestId])
    assert.ok(line?.includes(part), part);
  assert.ok(!logged.join('\n').includes('canary-1'));
  broken.clear();
  assert.deepEqual(await all(), []);
});

test('audit write: awaited before the response, fails it, and is never interrupted', async () => {
  const { broken, origins, all, events } = createWorld();
  let isEnded = false;
  await origins.run(origin, async () => events.note({ event: 'session.ended' }));
  assert.equal((await all()).length, 1);
  broken.add('audit');
  const request = origins.run(origin, async () => {
    events.note({ event: 'session.ended' });
    await new Promise(setImmediate);
    isEnded = true;
  });
  await assert.rejects(request, StoreUnavailable);
  assert.equal(isEnded, true);
  // The request's own error is the answer.
  const failing = origins.run(origin, async () => {
    events.note({ event: 'session.ended' });
    throw new TypeError('its own');
  });
  await assert.rejects(failing, /its own/);
});

test('audit outside a request: a lost event is logged, with no unhandled rejection', async () => {
  const { broken, logged, events } = createWorld();
  broken.add('audit');
  events.note({ event: 'user.removed' });
  await new Promise(setImmediate);
  assert.ok(logged.some((line) => line.includes('user.removed')));
});

test('audit origin: concurrent requests do not mix addresses or actors', async () => {
  const { origins, all, events } = createWorld();
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      origins.run({ ...origin, ipAddress: `192.0.2.${index}` }, async () => {
        origins.setActor({ kind: 'user', id: `actor-${index}` });
        await new Promise(setImmediate);
        await events.record({ event: 'user.updated', reason: String(index) });
      }),
    ),
  );
  for (const { reason, ipAddress, actorId } of await all()) {
    assert.deepEqual([ipAddress, actorId], [`192.0.2.${reason}`, `actor-${reason}`]);
  }
});

test('audit retention: the job removes older events in batches, and nothing else', async () => {
  const { audit, world, clock, all, collection, events } = createWorld();
  const ids = createTimeSortedIds(clock);
  const record = { event: 'signin.success', outcome: 'success', actorKind: 'system' } as const;
  for (let index = 0; index < 1203; index += 1) await collection.insert(ids(), { ...record, at: world.now });
  world.now += 86_400_000;
  await events.record({ event: 'signin.failure' });
  const limits: number[] = [];
  const job = forgetAudit({
    forget(before, limit) {
      limits.push(limit);
      return audit.forget(before, limit);
    },
    retentionSeconds: () => 86_400,
    intervalSeconds: () => 300,
    clock,
  });
  const { signal } = new AbortController();
  assert.deepEqual(await job.run(signal), { audit_events_removed: 1203 });
  assert.ok(limits.length > 2 && limits.every((limit) => limit <= 500));
  assert.deepEqual(
    (await all()).map(({ event }) => event),
    ['signin.failure'],
  );
  assert.deepEqual(await job.run(signal), { audit_events_removed: 0 });
});
