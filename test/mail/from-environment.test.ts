// SMTP_URL is only the initial value of the setting: a changed one stays.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { startApp } from '../support/app.ts';
import { startMailServer } from './support.ts';

test('SMTP_URL: the initial mail server; a changed setting survives restarts', async (t) => {
  const [first, second] = [await startMailServer(), await startMailServer()];
  const shared = createMemoryStore({ clock: Date.now });
  t.after(async () => Promise.all([first.close(), second.close(), shared.close()]));
  const start = () => startApp({ shared, env: { SMTP_URL: first.url() } });
  const sendTest = async (app: Awaited<ReturnType<typeof start>>) => {
    const { body } = await app.admin('POST', '/settings/test-email', { to: 'ann@example.com' });
    equal(body.data.state, 'sent');
  };

  const before = await start();
  await sendTest(before);
  deepEqual([first.received.length, second.received.length], [1, 0]);
  equal((await before.admin('PATCH', '/settings', { smtp_url: second.url() })).status, 200);
  await before.stop();

  const after = await start();
  await sendTest(after);
  deepEqual([first.received.length, second.received.length], [1, 1]);
  await after.stop();
});
