// Deliveries of logout tokens (decision 0005, OIDC Back-Channel Logout §2.5): the first attempt at once, later ones by the job of
// any process, for about an hour, and what is kept of them.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { claimsOf, type Json, tokensOf } from './support.ts';

/** What the application answers next; the last one stays. */
let statuses: number[] = [200];
const receiver = await startReceiver((_request, response) => {
  response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200).end('<p>not kept</p>');
});
const base = `http://127.0.0.1:${receiver.port}`;
const env = { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` };

let clock: () => number = Date.now;
const { store, broken } = breakable(createMemoryStore({ clock: () => clock() }));
const app = await startApp({ shared: store, env });
clock = app.now;
after(async () => {
  await app.stop();
  receiver.close();
});

const MINUTE = 60_000;
let count = 0;

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 2400; tries += 1) {
    if (await isSo()) return;
    await wait(25);
  }
  throw new Error(`not seen: ${what}`);
}

const tokenIn = (body: string): Json => claimsOf(new URLSearchParams(body).get('logout_token') ?? '');
const tokensAt = (of: Receiver, path: string): Json[] =>
  of.received.filter(({ url }) => url === path).map(({ body }) => tokenIn(body));

async function deliveriesOf(clientId: string, of: TestApp = app): Promise<Json[]> {
  const { status, body } = await of.admin('GET', `/clients/${clientId}/logout-deliveries`);
  equal(status, 200, JSON.stringify(body));
  return body.data.items ?? [];
}

const stateOf = async (clientId: string): Promise<unknown[]> => {
  const [first] = await deliveriesOf(clientId);
  return [first?.state, first?.attempts, first?.status];
};

/** A user who is signed in to an application that hears of sign-outs at a path of its own. */
async function signedIn(metadata: Record<string, unknown> = {}) {
  count += 1;
  const path = `/logout-${count}`;
  const client = await app.register({ backchannel_logout_uri: `${base}${path}`, ...metadata });
  const user = await app.createUser(`user-${count}`);
  const agent = new Agent(app);
  await tokensOf(app, client, user, {}, agent);
  return { client, user, agent, path };
}

/** Moves the time and lets the jobs of a process run. */
async function pass(ms: number, of: TestApp = app): Promise<void> {
  app.advance(ms);
  await of.app.jobs.tick();
}

test('delivery: tried at once, again after failures with a fresh token, and listed', async () => {
  const { client, user, agent, path } = await signedIn();
  statuses = [503, 500, 204];
  equal((await agent.get('/oauth2/logout')).status, 200);
  await until(async () => (await stateOf(client.id))[2] === 503, 'the first attempt');
  deepEqual(await stateOf(client.id), ['queued', 1, 503]);
  await pass(30_000);
  equal(tokensAt(receiver, path).length, 1, 'not before its time');
  await pass(31_000);
  deepEqual(await stateOf(client.id), ['queued', 2, 500]);
  await pass(4 * MINUTE);
  const [delivery] = await deliveriesOf(client.id);
  deepEqual(
    [delivery?.state, delivery?.attempts, delivery?.status, delivery?.user_id, delivery?.address],
    ['delivered', 3, 204, user.id, base],
  );
  deepEqual([delivery?.is_test, delivery?.next_attempt_at, delivery?.problem], [false, null, null]);
  const tokens = tokensAt(receiver, path);
  equal(tokens.length, 3);
  equal(new Set(tokens.map(({ jti }) => jti)).size, 3);
  deepEqual(
    tokens.map(({ sub, sid }) => [sub, sid]),
    [1, 2, 3].map(() => [user.id, delivery?.sid]),
  );
  await pass(2 * 60 * MINUTE);
  equal(tokensAt(receiver, path).length, 3, 'none after it arrived');
  ok(!JSON.stringify(await deliveriesOf(client.id)).includes('not kept'));
});

test('delivery: the application that the browser returns to gets it after the others', async () => {
  const back = 'https://rp.example/back';
  const { client, user, agent, path } = await signedIn({ post_logout_redirect_uris: [back] });
  const other = await app.register({ backchannel_logout_uri: `${base}/other` });
  const { id_token } = await tokensOf(app, client, user, {}, agent);
  await tokensOf(app, other, user, {}, agent);
  statuses = [200];
  const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: back });
  equal((await agent.get(`/oauth2/logout?${query}`)).location, back);
  await until(() => tokensAt(receiver, '/other').length === 1, 'the other application');
  await wait(100);
  deepEqual(await stateOf(client.id), ['queued', 0, null]);
  await pass(5_000);
  equal(tokensAt(receiver, path).length, 0, 'the browser may be on its way');
  await pass(6_000);
  deepEqual(await stateOf(client.id), ['delivered', 1, 200]);
  equal(tokensAt(receiver, path).length, 1);
});

test('delivery: a refusal by the application ends it at once, a missing page does not', async () => {
  for (const [status, state] of [
    [400, 'failed'],
    [403, 'failed'],
    [501, 'queued'],
    [404, 'queued'],
    [302, 'queued'],
  ] as const) {
    const { client, agent, path } = await signedIn();
    statuses = [status];
    await agent.get('/oauth2/logout');
    await until(async () => (await stateOf(client.id))[2] === status, `status ${status}`);
    deepEqual(await stateOf(client.id), [state, 1, status]);
    await app.admin('DELETE', `/clients/${client.id}`);
    equal(tokensAt(receiver, path).length, 1);
  }
});

test('delivery: given up after about an hour, and kept for a week', async () => {
  const { client, agent, path } = await signedIn();
  statuses = [500];
  await agent.get('/oauth2/logout');
  await until(async () => (await stateOf(client.id))[2] === 500, 'the first attempt');
  const startedAt = app.now();
  while ((await stateOf(client.id))[0] === 'queued') await pass(MINUTE);
  const minutes = (app.now() - startedAt) / MINUTE;
  ok(minutes > 45 && minutes < 90, `${minutes} minutes`);
  deepEqual(await stateOf(client.id), ['failed', 5, 500]);
  equal(tokensAt(receiver, path).length, 5);
  ok(app.logged.some((line) => line.includes('logout_failed') && line.includes(client.id)));
  await pass(6 * 24 * 60 * MINUTE);
  equal((await deliveriesOf(client.id)).length, 1);
  await pass(24 * 60 * MINUTE);
  deepEqual(await deliveriesOf(client.id), []);
});

test('delivery: another process makes the next attempt, and two make one', async () => {
  const { client, agent, path } = await signedIn();
  statuses = [503, 200];
  await agent.get('/oauth2/logout');
  await until(async () => (await stateOf(client.id))[2] === 503, 'the first attempt');
  const others = [await startApp({ shared: store, env }), await startApp({ shared: store, env })];
  try {
    app.advance(2 * MINUTE);
    for (const other of others) other.advance(app.now() - other.now());
    await Promise.all(others.map((other) => other.app.jobs.tick()));
    deepEqual(await stateOf(client.id), ['delivered', 2, 200]);
    equal(tokensAt(receiver, path).length, 2);
  } finally {
    for (const other of others) await other.stop();
  }
});

test('delivery: queued before the session is gone, so an interrupted ending loses none', async () => {
  const { client, user, path } = await signedIn();
  statuses = [200];
  const [session] = (await app.admin('GET', `/users/${user.id}/sessions`)).body.data.items ?? [];
  broken.add('oidc_sessions');
  equal((await app.admin('DELETE', `/sessions/${session?.id}`)).status, 503);
  broken.clear();
  deepEqual(tokensAt(receiver, path), []);
  await pass(10 * MINUTE);
  await until(async () => (await stateOf(client.id))[0] === 'delivered', 'the delivery');
  await pass(10 * MINUTE);
  equal(tokensAt(receiver, path).length, 1);
});

test('delivery: while deliveries cannot be stored, the session ends all the same', async () => {
  const { agent } = await signedIn();
  broken.add('logout_deliveries');
  equal((await agent.get('/oauth2/logout')).status, 200);
  broken.clear();
  ok(app.logged.some((line) => line.includes('back-channel logout not queued')));
});

test('delivery: a deleted user is signed out at applications, and then nothing of it is kept', async () => {
  const [heard, unheard] = [await signedIn(), await signedIn()];
  statuses = [200];
  equal((await app.admin('DELETE', `/users/${heard.user.id}`)).status, 204);
  await until(() => tokensAt(receiver, heard.path).length === 1, 'the logout token');
  await until(async () => (await deliveriesOf(heard.client.id)).length === 0, 'its removal');

  statuses = [503, 200];
  equal((await app.admin('DELETE', `/users/${unheard.user.id}`)).status, 204);
  await until(async () => (await stateOf(unheard.client.id))[2] === 503, 'the first attempt');
  await pass(2 * MINUTE);
  equal(tokensAt(receiver, unheard.path).length, 2);
  deepEqual(await deliveriesOf(unheard.client.id), []);
});

test('delivery: goes with the application; none to a deactivated one or without an address', async () => {
  const [removed, off] = [await signedIn(), await signedIn()];
  statuses = [503];
  for (const { agent, client } of [removed, off]) {
    await agent.get('/oauth2/logout');
    await until(async () => (await stateOf(client.id))[2] === 503, 'the first attempt');
  }
  equal((await app.admin('DELETE', `/clients/${removed.client.id}`)).status, 204);
  await app.admin('PATCH', `/clients/${off.client.id}`, { is_active: false });
  await pass(2 * MINUTE);
  equal(tokensAt(receiver, removed.path).length, 1);
  equal(tokensAt(receiver, off.path).length, 1);
  const [ended] = await deliveriesOf(off.client.id);
  deepEqual([ended?.state, ended?.status, ended?.problem], ['failed', null, 'application_inactive']);
  equal((await app.admin('GET', `/clients/${removed.client.id}/logout-deliveries`)).status, 404);

  const plain = await signedIn({ backchannel_logout_uri: undefined });
  await plain.agent.get('/oauth2/logout');
  deepEqual(await deliveriesOf(plain.client.id), []);
});

test('test of a sign-out: for a user that does not exist, shown with its outcome and recorded', async () => {
  const { client, path } = await signedIn();
  const press = () => app.admin('POST', `/clients/${client.id}/test-logout`);
  statuses = [200];
  const sent = (await press()).body.data;
  deepEqual(
    [sent.state, sent.status, sent.is_test, sent.message],
    ['delivered', 200, true, 'Delivered (200).'],
  );
  statuses = [400];
  const refused = (await press()).body.data;
  deepEqual([refused.state, refused.status, refused.attempts], ['failed', 400, 1]);
  match(String(refused.message), /refused/);
  const [first, second] = tokensAt(receiver, path);
  ok(first?.sub !== second?.sub && first?.sid !== second?.sid);
  equal((await app.admin('GET', `/users/${first?.sub}`)).status, 404);
  deepEqual(
    (await deliveriesOf(client.id)).map(({ id }) => id).sort(),
    [sent.id, refused.id].map(String).sort(),
  );
  await pass(2 * 60 * MINUTE);
  equal(tokensAt(receiver, path).length, 2, 'a test is not tried again');
  const { body } = await app.admin('GET', `/audit?event=client.logout_tested&target_id=${client.id}`);
  // The log tells which of them arrived.
  deepEqual(
    body.data.items?.map(({ outcome }) => outcome),
    ['failure', 'success'],
  );
});

test('test of a sign-out: limited per application', async () => {
  const { client } = await signedIn();
  const other = await signedIn();
  statuses = [200];
  await app.admin('PATCH', '/settings', { limit_logout_test_client: 2 });
  const answers: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    answers.push((await app.admin('POST', `/clients/${client.id}/test-logout`)).status);
  }
  deepEqual(answers, [200, 200, 429]);
  equal((await app.admin('POST', `/clients/${other.client.id}/test-logout`)).status, 200);
  await app.admin('PATCH', '/settings', { limit_logout_test_client: 1_000_000 });
});

test('unreachable addresses: a warning with the remedy at creation and change, not a refusal', async () => {
  const create = (metadata: object) =>
    app.admin('POST', '/clients', { redirect_uris: [REDIRECT_URI], ...metadata });
  const { status, body } = await create({ backchannel_logout_uri: 'https://10.1.2.3:8443/logout' });
  equal(status, 201);
  deepEqual(body.data.unreachable, [
    {
      name: 'backchannel_logout_uri',
      uri: 'https://10.1.2.3:8443/logout',
      is_approved: true,
      problem: 'It is not a public address, and OUTBOUND_ALLOW does not cover it.',
      remedy: 'Add 10.1.2.3:8443 to OUTBOUND_ALLOW and restart this server.',
    },
  ]);
  const path = `/clients/${body.data.client_id}`;
  const renamed = await app.admin('PATCH', path, { client_name: 'Else' });
  equal(renamed.body.data.unreachable, undefined);
  const withdrawn = await app.admin('PATCH', path, { approved_addresses: [] });
  deepEqual(withdrawn.body.data.unreachable, [
    {
      name: 'backchannel_logout_uri',
      uri: 'https://10.1.2.3:8443/logout',
      is_approved: false,
      problem: 'It is not a public address, and no administrator approved it.',
      remedy: 'Add 10.1.2.3:8443 to OUTBOUND_ALLOW and restart this server. Then approve this address.',
    },
  ]);
  const reachable = await create({ backchannel_logout_uri: `${base}/logout` });
  equal(reachable.body.data.unreachable, undefined);
  const never = await create({ backchannel_logout_uri: 'https://169.254.169.254/' });
  const [only] = Array.isArray(never.body.data.unreachable) ? never.body.data.unreachable : [];
  deepEqual([only?.remedy, typeof only?.problem], [null, 'string']);
  const shown = await app.admin('GET', `${path}/called-addresses`);
  equal(shown.body.data.items?.length, 1);
  const { body: events } = await app.admin(
    'GET',
    `/audit?event=client.created&target_id=${body.data.client_id}`,
  );
  ok(!JSON.stringify(events).includes('unreachable'));
});
