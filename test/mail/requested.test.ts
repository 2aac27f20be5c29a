// Mail requests are processed in order, once, and a failing one blocks no other.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createTimeSortedIds } from '../../src/ids.ts';
import { createSealer } from '../../src/keys/index.ts';
import { createRequestedMails } from '../../src/mail/requested.ts';
import { mailRequests } from '../../src/store/collections.ts';

function createWorld(answer: (email: string) => Promise<void>) {
  let now = 1_800_000_000_000;
  const clock = () => now;
  const collection = createMemoryStore({ clock }).collection(mailRequests);
  const newId = createTimeSortedIds(clock);
  const requested = createRequestedMails({
    collection,
    clock,
    newId,
    sealer: createSealer(['a secret key of the tests']),
  });
  requested.on('magic_link', ({ email }) => answer(email));
  const ask = (email: string) =>
    requested.request({ kind: 'magic_link', email, ipAddress: '192.0.2.1', userAgent: '', language: 'en' });
  const advance = (ms: number) => {
    now += ms;
  };
  return { requested, ask, advance };
}

test('mail requests: more than a page of them, in order, each once', async () => {
  const answered: string[] = [];
  const { requested, ask, advance } = createWorld(async (email) => void answered.push(email));
  const emails = Array.from({ length: 120 }, (_, index) => `p${index}@example.com`);
  for (const email of emails) {
    await ask(email);
    advance(1);
  }
  equal(await requested.process(), 120);
  deepEqual(answered, emails);
  equal(await requested.process(), 0);
});

test('mail requests: a failing one waits without blocking, given up after ten minutes', async () => {
  const answered: string[] = [];
  let isBroken = true;
  const { requested, ask, advance } = createWorld(async (email) => {
    if (email === 'broken@example.com' && isBroken) throw new Error('not now');
    answered.push(email);
  });
  await ask('broken@example.com');
  await ask('fine@example.com');
  await rejects(requested.process(), /not now/);
  deepEqual(answered, ['fine@example.com']);
  isBroken = false;
  equal(await requested.process(), 1);
  deepEqual(answered, ['fine@example.com', 'broken@example.com']);

  isBroken = true;
  await ask('broken@example.com');
  await rejects(requested.process(), /not now/);
  advance(600_001);
  equal(await requested.process(), 1);
  equal(answered.length, 2);
});
