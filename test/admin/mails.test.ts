// Outbound mails, the test mail and trusted devices over HTTP (decisions 0010 and 0014).
import { deepEqual, equal, match } from 'node:assert/strict';
import { startMailServer } from '../mail/support.ts';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const queueCode = ({ mail }: World, to: string, code: string) =>
  mail.queue({ to, template: 'sign_in_code', values: { code, expiresSeconds: 600 } });

withEachServer('outbox: without a mail server mails are kept, listed and readable', async (world) => {
  const { api, advance } = world;
  await queueCode(world, 'ann@example.com', '111111');
  advance(1000);
  await queueCode(world, 'ben@example.com', '222222');
  const all = await api('GET', '/mails');
  deepEqual(
    itemsOf(all).map(({ to, state }) => [to, state]),
    [
      ['ben@example.com', 'kept'],
      ['ann@example.com', 'kept'],
    ],
  );
  const [ann] = itemsOf(await api('GET', '/mails?to=ann@example.com&state=kept'));
  match(String(ann?.text), /111111/);
  const one = dataOf(await api('GET', `/mails/${ann?.id}`));
  deepEqual(one, ann);
  match(String(one.html), /111111/);

  const first = await api('GET', '/mails?limit=1&sort=to&order=asc');
  equal(itemsOf(first)[0]?.to, 'ann@example.com');
  const next = await api('GET', `/mails?limit=1&sort=to&order=asc&cursor=${dataOf(first).next}`);
  equal(itemsOf(next)[0]?.to, 'ben@example.com');
  equal(dataOf(next).next, null);
  equal(itemsOf(await api('GET', '/mails?search=ben')).length, 1);
  deepEqual(wrongFields(await api('GET', '/mails?state=lost')), ['state']);
  deepEqual(
    [(await api('GET', '/mails/nothing')).status, (await api('DELETE', '/mails')).status],
    [404, 405],
  );
});

withServer('outbox: mails queued for users are not readable by administrators', async (world) => {
  const { api } = world;
  await api('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  await queueCode(world, 'ann@example.com', '111111');
  const [ann] = itemsOf(await api('GET', '/mails'));
  deepEqual([ann?.state, ann?.text, ann?.html], ['queued', null, null]);
});

withServer('test mail: kept without a server, sent to one address, failure reported', async (world) => {
  const { api, advance } = world;
  const test = (to: string) => api('POST', '/settings/test-email', { to });
  const kept = dataOf(await test('ann@example.com'));
  const [stored] = itemsOf(await api('GET', '/mails'));
  deepEqual(kept, { state: 'kept', problem: null, mail_id: stored?.id });
  const shown = async () => dataOf(await api('GET', '/settings/mail-server'));
  const acceptedAt = async () => (await shown()).accepted_at;
  const failure = async () => {
    const { failed_at, last_error } = await shown();
    return [/^2/.test(String(failed_at)), last_error];
  };
  const server = await startMailServer();
  await api('PATCH', '/settings', { smtp_url: server.url() });
  equal(await acceptedAt(), null);
  deepEqual(dataOf(await test('ann@example.com')), { state: 'sent', problem: null, mail_id: null });
  match(String(await acceptedAt()), /^2/);
  deepEqual(server.received[0]?.to, ['ann@example.com']);
  await server.close();
  const failed = dataOf(await test('ann@example.com'));
  equal(failed.state, 'failed');
  match(String(failed.problem), /./);
  match(String(await acceptedAt()), /^2/);
  deepEqual(await failure(), [true, failed.problem], 'told later, too');
  await api('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  equal(await acceptedAt(), null, 'another server has shown nothing yet');
  deepEqual(await failure(), [false, null]);
  await api('PATCH', '/settings', { smtp_url: server.url() });
  const back = await startMailServer({ port: server.port });
  advance(1000);
  equal(dataOf(await test('ann@example.com')).state, 'sent');
  await back.close();
  deepEqual(await failure(), [false, null], 'it has accepted one since');
  // The log tells a mail that left from one that did not (names are for good, so the others have one of their own).
  const events = itemsOf(await api('GET', '/audit')).filter(({ event }) => /^mail\./.test(String(event)));
  deepEqual(
    events.map(({ event, outcome, reason }) => [event, outcome, reason]),
    [
      ['mail.test_sent', 'success', null],
      ['mail.test_failed', 'failure', 'refused'],
      ['mail.test_sent', 'success', null],
      ['mail.test_failed', 'failure', 'no_mail_server'],
    ],
  );
  for (const to of ['nobody', 'a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com']) {
    const refused = await test(to);
    deepEqual([refused.status, wrongFields(refused)], [400, ['to']], to);
  }
  deepEqual(wrongFields(await api('POST', '/settings/test-email', {})), ['to']);
});

withEachServer('trusted devices: listed in pages, revoked only under their own user', async (world) => {
  const { api, accounts, trustedDevices, advance } = world;
  const alice = await accounts.create({ username: 'alice', password: goodPassword });
  const bob = await accounts.create({ username: 'bob', password: goodPassword });
  for (const label of ['one', 'two', 'three']) {
    await trustedDevices.create({ account: alice, ipAddress: '192.0.2.7', userAgent: 'Browser/7', label });
    advance(1000);
  }
  const path = `/users/${alice.id}/trusted-devices`;
  const first = await api('GET', `${path}?limit=2`);
  deepEqual(
    itemsOf(first).map(({ device }) => device),
    ['three', 'two'],
  );
  equal(dataOf(first).total, 3);
  const rest = await api('GET', `${path}?limit=2&cursor=${dataOf(first).next}`);
  deepEqual([itemsOf(rest).map(({ device }) => device), dataOf(rest).next], [['one'], null]);
  const ascending = itemsOf(await api('GET', `${path}?sort=created_at&order=asc&offset=1`));
  deepEqual(
    ascending.map(({ device }) => device),
    ['two', 'three'],
  );
  const foreign = await api('GET', `/users/${bob.id}/trusted-devices?limit=2&cursor=${dataOf(first).next}`);
  deepEqual(wrongFields(foreign), ['cursor']);

  const id = itemsOf(rest)[0]?.id;
  equal((await api('DELETE', `/users/${bob.id}/trusted-devices/${id}`)).status, 404);
  equal((await api('DELETE', `${path}/${id}`)).status, 204);
  equal((await api('DELETE', `${path}/${id}`)).status, 404);
  equal(dataOf(await api('GET', path)).total, 2);
  const [event] = itemsOf(await api('GET', '/audit?event=device.revoked'));
  deepEqual([event?.target_kind, event?.target_id, Object(event?.details).device_id], ['user', alice.id, id]);
  equal(errorOf(await api('GET', '/users/nobody/trusted-devices')).reason, 'account.not_found');
});

withServer(
  'mail server by its parts: shown without its password, which goes to no other server',
  async ({ api }) => {
    const path = '/settings/mail-server';
    const none = { host: '', port: null, encryption: null, user: '', has_password: false };
    const untried = { accepted_at: null, failed_at: null, last_error: null };
    deepEqual(dataOf(await api('GET', path)), { ...none, ...untried });
    const given = { host: 'mail.example.com', port: 465, encryption: 'tls', user: 'robot' };
    const set = await api('PUT', path, { ...given, password: 'hunter2 canary' });
    deepEqual(dataOf(set), { ...given, has_password: true, ...untried });
    for (const shown of [set, await api('GET', path), await api('GET', '/audit')])
      equal(JSON.stringify(shown).includes('canary'), false);
    // Kept for the same server; sent to no other.
    deepEqual(dataOf(await api('PUT', path, given)), { ...given, has_password: true, ...untried });
    deepEqual(wrongFields(await api('PUT', path, { ...given, host: 'mail.attacker.example' })), ['password']);
    deepEqual(wrongFields(await api('PUT', path, { ...given, encryption: 'none' })), ['encryption']);
    deepEqual(wrongFields(await api('PUT', path, { ...given, port: 70_000 })), ['port']);
    deepEqual(dataOf(await api('PUT', path, { host: '', encryption: 'tls' })), { ...none, ...untried });
  },
);
