// Attacks on passkey registration: for another user, with other responses than
// requested, and at steps where none is allowed.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator, type Lies } from '../support/authenticator.ts';
import {
  beginRegistration,
  enrol,
  goOn,
  makePasskey,
  openSignIn,
  originOf,
  send,
  toOffer,
  usePasskey,
} from '../support/passkeys.ts';

const FINISH = '/oauth2/passkey/register/finish';

let app: TestApp;
let client: { id: string; secret: string };
let key: Authenticator;
let alice: { id: string; username: string };
let agent: Agent;
let offer: Page;
let people = 0;

before(async () => {
  app = await startApp();
  client = await app.register();
});
after(() => app.stop());
beforeEach(async () => {
  people += 1;
  alice = await app.createUser(`alice-${people}`);
  key = new Authenticator({ origin: originOf(app) });
  agent = new Agent(app);
  offer = await toOffer(agent, client, alice);
});

async function passkeysOf(user: { id: string }): Promise<Record<string, unknown>[]> {
  return (await app.admin('GET', `/users/${user.id}/passkeys`)).body.data.items ?? [];
}

test('passkey registration: one press after the password, then the sign-in continues', async () => {
  const last = await goOn(agent, await makePasskey(agent, offer, key));
  assert.match(last.location ?? '', /code=/);
  const [made] = await passkeysOf(alice);
  assert.equal(made?.is_user_verified, true);
  assert.equal((await app.admin('GET', `/users/${alice.id}`)).body.data.passkey_count, 1);
  const { body } = await app.admin('GET', `/audit?event=passkey.added&target_id=${alice.id}`);
  assert.equal(body.data.items?.length, 1);
});

test('attack: registration for another user', async () => {
  const mallory = new Agent(app);
  const bob = await app.createUser(`bob-${people}`);
  const theirs = await toOffer(mallory, client, bob);
  const begun = await beginRegistration(agent, offer);
  // Alice's challenge, answered in Bob's sign-in; and Alice's options with Bob as whom it is for.
  const response = key.create(begun.body);
  assert.equal((await send(mallory, theirs, FINISH, { response })).status, 401);
  const asBob = await beginRegistration(mallory, theirs, { account_id: alice.id, username: alice.username });
  assert.equal(Buffer.from(asBob.body.user?.id ?? '', 'base64url').toString(), bob.id);
  assert.equal((await passkeysOf(alice)).length, 0);
  assert.equal((await passkeysOf(bob)).length, 0);
});

/** What a user is told about the registration of a passkey with this id, and about it afterwards; without what is theirs alone. */
async function toldAbout(id: string) {
  people += 1;
  const user = await app.createUser(`mallory-${people}`);
  const browser = new Agent(app);
  const page = await toOffer(browser, client, user);
  const mine = new Authenticator({ origin: originOf(app) });
  const answer = await makePasskey(browser, page, mine, { id });
  const [{ created_at: _at, ...listed } = {}] = await passkeysOf(user);
  const again = new Agent(app);
  const signedIn = await goOn(again, await usePasskey(again, await openSignIn(again, client), mine));
  const body = JSON.stringify(answer.body).replaceAll(/interaction=[\w-]+|authorize\/[\w-]+/g, '');
  const told = { status: answer.status, body, listed: { ...listed, id: '' }, listedId: listed.id === id };
  return { user, mine, told, isSignedIn: /code=/.test(signedIn.location ?? '') };
}

test('attack: credential id of another user is answered as an unknown one, and takes nothing', async () => {
  await goOn(agent, await makePasskey(agent, offer, key));
  const id = key.keys[0]?.id ?? '';
  const theirs = await toldAbout(id);
  const unknown = await toldAbout(Buffer.alloc(16, people).toString('base64url'));
  assert.deepEqual(theirs.told, unknown.told);
  assert.deepEqual([theirs.told.status, theirs.told.listedId, theirs.isSignedIn], [200, true, true]);
  assert.equal(unknown.isSignedIn, true);
  // Each signs in its own account, and neither the other one's.
  const browser = new Agent(app);
  const page = await openSignIn(browser, client);
  const swapped = await usePasskey(browser, page, theirs.mine, { lies: { userHandle: handleOf(alice) } });
  assert.deepEqual([swapped.status, swapped.body.reason], [401, 'passkey.refused']);
  const reversed = await usePasskey(browser, page, key, { lies: { userHandle: handleOf(theirs.user) } });
  assert.deepEqual([reversed.status, reversed.body.reason], [401, 'passkey.refused']);
  assert.match((await goOn(browser, await usePasskey(browser, page, key))).location ?? '', /code=/);
  // One that is removed leaves the other.
  assert.equal((await app.admin('DELETE', `/users/${theirs.user.id}/passkeys/${id}`)).status, 204);
  assert.deepEqual([(await passkeysOf(theirs.user)).length, (await passkeysOf(alice)).length], [0, 1]);
  const last = new Agent(app);
  const home = await goOn(last, await usePasskey(last, await openSignIn(last, client), key));
  assert.match(home.location ?? '', /code=/);
});

const handleOf = ({ id }: { id: string }): string => Buffer.from(id).toString('base64url');

test('attack: replayed registration, and fifty of one at once', async () => {
  const begun = await beginRegistration(agent, offer);
  const response = key.create(begun.body);
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => send(agent, offer, FINISH, { response })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.notEqual((await send(agent, offer, FINISH, { response })).status, 200);
  assert.equal((await passkeysOf(alice)).length, 1);
});

test('attack: finishing without beginning', async () => {
  const options = { challenge: Buffer.alloc(32, 7).toString('base64url'), rp: { id: '127.0.0.1' } };
  const response = key.create({ ...options, user: { id: '' } });
  assert.equal((await send(agent, offer, FINISH, { response })).status, 401);
  for (const nothing of [undefined, null, {}, [], 'x', { id: 'x', rawId: 'x', type: 'public-key' }])
    assert.equal((await send(agent, offer, FINISH, { response: nothing })).status, 401);
});

test('attack: oversized attestation, oversized id, endless transports', async () => {
  const begun = await beginRegistration(agent, offer);
  const response = key.create(begun.body);
  const inner = Object.assign({}, response.response);
  const huge = { ...response, response: { ...inner, attestationObject: 'A'.repeat(20_000) } };
  assert.equal((await send(agent, offer, FINISH, { response: huge })).status, 401);
  const vast = { ...response, response: { ...inner, attestationObject: 'A'.repeat(200_000) } };
  assert.equal((await send(agent, offer, FINISH, { response: vast })).status, 413);
  const longId = 'A'.repeat(1400);
  assert.equal(
    (await send(agent, offer, FINISH, { response: { ...response, id: longId, rawId: longId } })).status,
    401,
  );
  const transports = Array.from({ length: 500 }, () => '<script>');
  const loud = { ...response, response: { ...inner, transports } };
  assert.equal((await send(agent, offer, FINISH, { response: loud })).status, 200);
  assert.deepEqual((await passkeysOf(alice))[0]?.transports, []);
});

const lies: Readonly<Record<string, () => Lies>> = {
  'wrong origin': () => ({ origin: 'https://evil.example' }),
  'wrong RP id': () => ({ rpId: 'evil.example' }),
  'cross-origin frame': () => ({ clientData: { crossOrigin: true } }),
  'wrong type': () => ({ type: 'webauthn.get' }),
  'another challenge': () => ({ challenge: Buffer.alloc(32, 9).toString('base64url') }),
  'user not present': () => ({ flags: 4 | 64 }),
  'attestation cut short': () => ({
    tamper: (response) => ({
      ...response,
      attestationObject: response.attestationObject?.slice(0, 120) ?? '',
    }),
  }),
};
for (const [name, lie] of Object.entries(lies)) {
  test(`attack: registration with ${name}`, async () => {
    const answer = await makePasskey(agent, offer, key, lie());
    assert.deepEqual([answer.status, answer.body.reason], [401, 'passkey.refused']);
    assert.equal((await passkeysOf(alice)).length, 0);
    const { body } = await app.admin('GET', `/audit?event=passkey.failure`);
    assert.ok((body.data.items ?? []).length > 0);
  });
}

test('attack: registration before the password, before a required second step, and afterwards', async () => {
  const fresh = new Agent(app);
  const page = await openSignIn(fresh, client);
  assert.equal((await beginRegistration(fresh, page)).status, 400);
  // R098: the password alone adds no factor to an account that has one.
  const bob = await app.createUser(`bob-${people}`);
  await enrol(new Agent(app), client, bob, new Authenticator({ origin: originOf(app) }));
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const thief = new Agent(app);
  const asked = await thief.submit(await openSignIn(thief, client), {
    username: bob.username,
    password: PASSWORD,
    can_passkey: 'on',
  });
  assert.match(asked.body, /data-passkey="second_factor"/);
  assert.equal((await beginRegistration(thief, asked)).status, 400);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  // The sign-in is over: its offer is, too.
  const done = await agent.submit(offer, { action: 'later' });
  assert.match(done.location ?? '', /code=/);
  assert.equal((await beginRegistration(agent, offer)).status, 400);
});

test('passkey offer: "Not now" is remembered for this user in this browser', async () => {
  await agent.submit(offer, { action: 'later' });
  const again = await openSignIn(agent, client, { prompt: 'login' });
  const last = await agent.submit(again, { username: alice.username, password: PASSWORD, can_passkey: 'on' });
  assert.match(last.location ?? '', /code=/);
  const bob = await app.createUser(`bob-${people}`);
  await toOffer(new Agent(app), client, bob);
  await toOffer(new Agent(app), client, alice);
});

test('passkey offer: none for a browser that does not report support', async () => {
  const silent = new Agent(app);
  const last = await silent.submit(await openSignIn(silent, client), {
    username: alice.username,
    password: PASSWORD,
  });
  assert.match(last.location ?? '', /code=/);
});

test('passkey upgrade: automatic beside the password, only where it was begun that way', async () => {
  const silent = 8 | 16 | 64;
  assert.equal((await makePasskey(agent, offer, key, { flags: silent })).status, 401);
  const begun = await beginRegistration(agent, offer, { mediation: 'conditional' });
  const response = key.create(begun.body, { flags: silent });
  const last = await goOn(agent, await send(agent, offer, FINISH, { response }));
  assert.match(last.location ?? '', /code=/);
  const [made] = await passkeysOf(alice);
  assert.deepEqual([made?.is_synced, made?.is_second_factor_only], [true, false]);
});

test('attack: a key that was never touched, registered as a way in by calling it automatic', async () => {
  const begun = await beginRegistration(agent, offer, { mediation: 'conditional' });
  const response = key.create(begun.body, { flags: 64 });
  await goOn(agent, await send(agent, offer, FINISH, { response }));
  assert.equal((await passkeysOf(alice))[0]?.is_second_factor_only, true);
});

test('attack: automatic creation by a request, where the sign-in offers none', async () => {
  const fresh = new Agent(app);
  const page = await openSignIn(fresh, client);
  const quiet = { mediation: 'conditional' };
  assert.equal((await beginRegistration(fresh, page, quiet)).status, 400);
  const last = await fresh.submit(page, { username: alice.username, password: PASSWORD });
  assert.match(last.location ?? '', /code=/);
  assert.equal((await beginRegistration(fresh, page, quiet)).status, 400);
  assert.equal((await passkeysOf(alice)).length, 0);
});
