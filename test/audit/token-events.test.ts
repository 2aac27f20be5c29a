// Token events in a class of their own: first issues, refusals, reuse and revocations as events, refreshes and client
// credentials as counts, without addresses or values, and without letting strangers fill the store.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, redeem, refresh, requestTokens } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string; secret: string };
before(async () => {
  app = await startApp({ store: 'sqlite' });
  client = await app.register({ rotate_refresh_tokens: 'always' });
});
after(() => app.stop());

type Shown = Record<string, unknown>;

async function events(query: Record<string, string>): Promise<Shown[]> {
  const parameters = new URLSearchParams({ limit: '1000', order: 'asc', ...query });
  const { status, body } = await app.admin('GET', `/audit?${parameters}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.items ?? [];
}

const detailsOf = (event: Shown | undefined): Shown => Object(event?.details);
const counted = (found: readonly Shown[]): number =>
  found.reduce((sum, event) => sum + Number(detailsOf(event).count), 0);

async function signedIn(username: string) {
  const user = await app.createUser(username);
  const authorization = await new Agent(app).signIn(client.id, user);
  return { user, authorization, ...(await redeem(app, client, authorization)) };
}

test('first issue: an event with client, user, grant and request, without an address', async () => {
  const { user } = await signedIn('issued');
  const [issued, ...more] = await events({ event: 'token.issued', target_id: user.id });
  assert.equal(more.length, 0);
  assert.deepEqual(
    [issued?.class, issued?.outcome, issued?.actor_kind, issued?.actor_id, issued?.client_id],
    ['tokens', 'success', 'client', client.id, client.id],
  );
  assert.deepEqual([issued?.target_kind, issued?.ip_address, issued?.user_agent], ['user', null, null]);
  assert.match(String(issued?.request_id), /^[\w-]{10,}$/);
  assert.deepEqual(Object.keys(detailsOf(issued)), ['grant_type', 'grant', 'scope']);
  assert.deepEqual((await app.admin('GET', `/audit/${issued?.id}`)).body.data, issued);
});

test('refreshes and machine tokens: counted per client and hour, not one event each', async () => {
  let { body } = await signedIn('refreshing');
  for (let index = 0; index < 3; index += 1) ({ body } = await refresh(app, client, body.refresh_token));
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  for (let index = 0; index < 4; index += 1) {
    assert.equal((await requestTokens(app, machine, { grant_type: 'client_credentials' })).status, 200);
    // Written in between: the same counter grows.
    if (index === 1) await events({ class: 'tokens' });
  }
  const refreshed = await events({ event: 'token.refreshed', client_id: client.id });
  assert.equal(counted(refreshed), 3);
  const machines = await events({ event: 'token.machine_issued', client_id: machine.id });
  assert.equal(counted(machines), 4);
  // Two, when the hour turned meanwhile.
  assert.ok(refreshed.length <= 2 && machines.length <= 2);
  for (const { at, details } of machines) {
    assert.equal(Date.parse(String(at)) % 3_600_000, 0);
    assert.equal(detailsOf({ details }).per, 'hour');
  }
});

test('attack: reuse of a refresh token is logged at once with its address; the grant ends', async () => {
  const { user, body } = await signedIn('robbed');
  await refresh(app, client, body.refresh_token);
  app.advance(60_000);
  await app.admin('PATCH', '/settings', { refresh_token_grace_seconds: 0 });
  const { status } = await refresh(app, client, body.refresh_token);
  assert.equal(status, 400);
  const [reused, ...more] = (await events({ event: 'token.reused', client_id: client.id })).filter(
    (event) => detailsOf(event).user_id === user.id,
  );
  assert.equal(more.length, 0);
  assert.deepEqual(
    [reused?.class, reused?.outcome, reused?.target_kind, reused?.ip_address, detailsOf(reused).grant_type],
    ['general', 'failure', 'grant', '127.0.0.1', 'refresh_token'],
  );
});

test('attack: reuse of a code is logged at once with the grant it had created', async () => {
  const { user, authorization } = await signedIn('overheard');
  assert.equal((await redeem(app, client, authorization)).body.error, 'invalid_grant');
  const [issued] = await events({ event: 'token.issued', target_id: user.id });
  const reused = await events({ event: 'token.reused', target_id: String(detailsOf(issued).grant) });
  assert.equal(reused.length, 1);
  assert.deepEqual(
    [detailsOf(reused[0]).grant_type, reused[0]?.actor_id, reused[0]?.ip_address],
    ['authorization_code', client.id, '127.0.0.1'],
  );
});

test('refusals: counted per client, reason and minute, without repeating input', async () => {
  const canary = 'canary-4711-as-a-client-id';
  for (let index = 0; index < 5; index += 1) {
    await requestTokens(app, { id: client.id, secret: 'wrong' }, { grant_type: 'client_credentials' });
    await requestTokens(app, client, { grant_type: canary });
    await requestTokens(app, { id: canary, secret: '' }, { grant_type: 'authorization_code', code: canary });
  }
  const refused = await events({ event: 'token.refused' });
  const of = (reason: string, clientId: string | null) =>
    refused.filter((event) => event.reason === reason && event.client_id === clientId);
  assert.equal(counted(of('invalid_client', client.id)), 5);
  assert.ok(counted(of('invalid_client', null)) >= 5);
  assert.ok(of('invalid_client', null).length <= 3, 'the minute may have turned');
  assert.ok(refused.every(({ outcome, ip_address: ip }) => outcome === 'failure' && ip === null));
  assert.ok(!JSON.stringify(refused).includes(canary));
});

test('refusals: an invalid bearer at userinfo and at the admin API counts', async () => {
  for (const path of ['/oauth2/userinfo', '/admin/api/users'])
    await fetch(app.url + path, { headers: { authorization: 'Bearer canary-0815-bearer' } });
  const refused = await events({ event: 'token.refused' });
  const endpoints = refused.map((event) => detailsOf(event).endpoint);
  for (const endpoint of ['userinfo', 'admin']) assert.ok(endpoints.includes(endpoint), endpoint);
  assert.ok(!JSON.stringify(refused).includes('canary-0815'));
});

test('event classes: general by default, tokens or all on request, paged in order', async () => {
  await signedIn('classes');
  const general = await events({});
  const tokens = await events({ class: 'tokens' });
  assert.ok(general.length > 0 && general.every((event) => event.class === 'general'));
  assert.ok(tokens.length > 3 && tokens.every((event) => event.class === 'tokens'));
  const all = await events({ class: 'all' });
  assert.deepEqual(new Set(all.map(({ class: name }) => name)), new Set(['general', 'tokens']));
  const times = all.map(({ at }) => String(at));
  assert.deepEqual(times, times.toSorted());
  const walked: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await app.admin('GET', `/audit?class=all&order=asc&limit=5${cursor}`);
    walked.push(...(body.data.items ?? []).map(({ id }) => String(id)));
    if (body.data.next === null) break;
    cursor = `&cursor=${body.data.next}`;
  }
  assert.deepEqual(
    walked.slice(0, all.length),
    all.map(({ id }) => id),
  );
  assert.equal((await app.admin('GET', '/audit?class=some')).status, 400);
});
