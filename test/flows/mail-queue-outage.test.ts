// A notice that cannot be queued fails and delays nothing; the log reports it.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { subscribeNotices } from '../../src/notifications/index.ts';
import { createWorld } from '../accounts/support.ts';

test('mail queue outage: lockouts go unannounced, administrators’ changes succeed', async () => {
  const now = () => 1_800_000_000_000;
  const { accounts, events } = createWorld({ store: createMemoryStore({ clock: now }), now });
  const logged: unknown[] = [];
  const asked: string[] = [];
  subscribeNotices({
    events,
    mail: {
      async queue({ template }) {
        asked.push(template);
        throw new Error('no place to write to');
      },
    },
    accounts,
    limits: { isWithin: async () => true },
    baseUrl: 'https://id.example.com',
    clock: now,
    log: { warn: (fields: { template?: string }) => void logged.push(fields.template) },
  });
  const verified = { email: 'ann@example.com', is_email_verified: true };
  const { id } = await accounts.create({ username: 'ann', password: 'seven tall lanterns', ...verified });
  events.emit('accountLocked', { accountId: id, lockedUntil: now() + 900_000, isNoticeDue: true });
  deepEqual(asked, [], 'the attempt that locks does not wait for it');
  for (let turn = 0; turn < 3_000 && logged.length === 0; turn += 1) await sleep(10);
  const { after: changed } = await accounts.changeAccountAsAdmin(id, { password: 'eight tall lanterns' });
  equal(changed.username, 'ann');
  deepEqual(logged, ['account_locked', 'password_changed']);
});
