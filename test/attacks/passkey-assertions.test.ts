// Attacks on passkey sign-in: assertions that were replayed, made by another user or for another
// site, or altered on the way.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { Authenticator, type Lies } from '../support/authenticator.ts';
import { begin, enrol, finish, goOn, openSignIn, originOf, send, usePasskey } from '../support/passkeys.ts';

let app: TestApp;
let client: { id: string; secret: string };
let key: Authenticator;
let alice: { id: string; username: string };
let agent: Agent;
let page: Page;
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
  await enrol(new Agent(app), client, alice, key);
  agent = new Agent(app);
  page = await openSignIn(agent, client);
});

const isSignedIn = (last: Page): boolean => last.location?.includes('code=') === true;

async function failures(reason?: string): Promise<Record<string, unknown>[]> {
  const { body } = await app.admin('GET', `/audit?event=passkey.failure&target_id=${alice.id}`);
  return (body.data.items ?? []).filter((event) => reason === undefined || event.reason === reason);
}

test('passkey sign-in: no name, no password, two factors', async () => {
  const last = await goOn(agent, await usePasskey(agent, page, key));
  assert.ok(isSignedIn(last), last.body);
  const { body } = await app.admin('GET', `/users/${alice.id}/passkeys`);
  assert.equal(body.data.items?.length, 1);
  assert.ok(body.data.items?.[0]?.last_used_at);
});

test('attack: replayed assertion', async () => {
  const options = await begin(agent, page);
  const response = key.get(options);
  assert.ok(isSignedIn(await goOn(agent, await finish(agent, page, response))));
  for (const [browser, shown] of [
    [agent, await openSignIn(agent, client, { prompt: 'login' })],
    [new Agent(app), undefined],
  ] as const) {
    const again = shown ?? (await openSignIn(browser, client));
    const replayed = await finish(browser, again, response);
    assert.equal(replayed.status, 401);
    assert.equal(replayed.body.reason, 'passkey.refused');
  }
});

test('attack: one assertion sent fifty times at once signs in once', async () => {
  const options = await begin(agent, page);
  const response = key.get(options);
  const all = await Promise.all(Array.from({ length: 50 }, () => finish(agent, page, response)));
  assert.equal(all.filter(({ status }) => status === 200).length, 1);
});

test('attack: challenge of another session', async () => {
  const victim = new Agent(app);
  const options = await begin(victim, await openSignIn(victim, client));
  const answer = await finish(agent, page, key.get(options));
  assert.equal(answer.status, 401);
  // In the browser it was made for it is still good: a stranger cannot use it up.
  assert.equal((await failures()).length, 0);
});

test('attack: challenge of another interaction of the same browser', async () => {
  const options = await begin(agent, page);
  const second = await openSignIn(agent, client);
  assert.equal((await finish(agent, second, key.get(options))).status, 401);
});

test('attack: finishing without beginning', async () => {
  const challenge = Buffer.alloc(32, 7).toString('base64url');
  const answer = await finish(agent, page, key.get({ challenge, rpId: '127.0.0.1' }));
  assert.equal(answer.status, 401);
  for (const nothing of [undefined, null, {}, [], 'x', { id: 'x' }]) {
    assert.equal((await finish(agent, page, nothing)).status, 401, JSON.stringify(nothing));
  }
});

test('attack: a challenge older than five minutes', async () => {
  const options = await begin(agent, page);
  app.advance(301_000);
  assert.equal((await finish(agent, page, key.get(options))).status, 401);
});

test('attack: a registration challenge answered by an assertion, and the reverse', async () => {
  const bob = await app.createUser(`bob-${people}`);
  const browser = new Agent(app);
  const shown = await openSignIn(browser, client);
  const offer = await browser.submit(shown, {
    username: bob.username,
    password: 'correct horse battery staple',
    can_passkey: 'on',
  });
  const making = await send(browser, offer, '/oauth2/passkey/register/begin');
  const using = await begin(agent, page);
  const login = await finish(agent, page, key.get({ ...making.body, rpId: '127.0.0.1' }));
  assert.equal(login.status, 401);
  const made = new Authenticator({ origin: originOf(app) });
  const response = made.create({ ...making.body, challenge: using.challenge });
  const registered = await send(browser, offer, '/oauth2/passkey/register/finish', { response });
  assert.equal(registered.status, 401);
});

const flipped = (text: string, at: number): string => {
  const bytes = Buffer.from(text, 'base64url');
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  return bytes.toString('base64url');
};

const lies: Readonly<Record<string, () => Lies>> = {
  'wrong origin': () => ({ origin: 'https://evil.example' }),
  'origin that only ends like ours': () => ({ origin: originOf(app).replace('http://', 'http://bad') }),
  'origin with another port': () => ({ origin: 'http://127.0.0.1:1' }),
  'wrong RP id': () => ({ rpId: 'evil.example' }),
  'cross-origin frame': () => ({ clientData: { crossOrigin: true } }),
  'top origin of another site': () => ({
    clientData: { crossOrigin: true, topOrigin: 'https://evil.example' },
  }),
  'wrong type': () => ({ type: 'webauthn.create' }),
  'user not present': () => ({ flags: 4 }),
  'backup state without eligibility': () => ({ flags: 1 | 4 | 16 }),
  'backup eligibility that was not there before': () => ({ flags: 1 | 4 | 8 }),
  'user handle of another account': () => ({
    userHandle: Buffer.from('somebody-else').toString('base64url'),
  }),
  'no user handle': () => ({
    tamper: ({ userHandle: _, ...response }) => response,
  }),
  'tampered signature': () => ({
    tamper: (response) => ({ ...response, signature: flipped(response.signature ?? '', 40) }),
  }),
  'user verification claimed afterwards': () => ({
    flags: 1,
    // The byte of the flags follows the 32 of the RP id.
    tamper: (response) => ({ ...response, authenticatorData: flipped(response.authenticatorData ?? '', 32) }),
  }),
  'token binding that nobody has': () => ({ clientData: { tokenBinding: 'x' } }),
};
for (const [name, lie] of Object.entries(lies)) {
  test(`attack: ${name}`, async () => {
    const answer = await usePasskey(agent, page, key, { lies: lie() });
    assert.equal(answer.status, 401, JSON.stringify(answer.body));
    assert.equal(answer.body.reason, 'passkey.refused');
    assert.equal((await failures('refused')).length, 1);
    // Whatever was tried, the owner still comes in.
    assert.ok(isSignedIn(await goOn(agent, await usePasskey(agent, page, key))));
  });
}

test('attack: downgraded UV flag; a found key is one factor and the password is asked for', async () => {
  const found = new Authenticator({ origin: originOf(app), canVerifyUser: false });
  found.keys.push(...key.keys);
  const next = await goOn(agent, await usePasskey(agent, page, found));
  assert.equal(isSignedIn(next), false);
  assert.match(next.body, /name="password"/);
  const wrong = await agent.submit(next, { username: alice.username, password: 'not the password' });
  assert.equal(wrong.status, 401);
  // Another page of the same sign-in, or the way on, leads nowhere either.
  const mfa = await agent.follow(await agent.get(next.url.replace('/login', '/mfa')));
  assert.match(mfa.body, /name="password"/);
});

test('passkey without user verification: with the password it is two factors', async () => {
  const found = new Authenticator({ origin: originOf(app), canVerifyUser: false });
  found.keys.push(...key.keys);
  const next = await goOn(agent, await usePasskey(agent, page, found));
  const last = await agent.submit(next, {
    username: alice.username,
    password: 'correct horse battery staple',
  });
  assert.ok(isSignedIn(last), last.body);
  const { body } = await app.admin('GET', `/users/${alice.id}/sessions`);
  const proofs = (body.data.items ?? []).map(({ amr }) => JSON.stringify(amr));
  assert.ok(proofs.includes('["hwk","pwd","mfa"]'), proofs.join(' '));
});

test('attack: swapped credential id', async () => {
  const mallory = await app.createUser(`mallory-${people}`);
  const theirs = new Authenticator({ origin: originOf(app) });
  await enrol(new Agent(app), client, mallory, theirs);
  const answer = await usePasskey(agent, page, theirs, { lies: { id: key.keys[0]?.id ?? '' } });
  assert.equal(answer.status, 401);
  assert.equal((await failures('refused')).length, 1);
});

test('attack: counter rollback is refused, flagged and audited; a forged one raises no alarm', async () => {
  await goOn(agent, await usePasskey(agent, page, key, { lies: { counter: 9 } }));
  const again = await openSignIn(agent, client, { prompt: 'login' });
  const forged: Lies = {
    counter: 3,
    tamper: (response) => ({ ...response, signature: flipped(response.signature ?? '', 40) }),
  };
  assert.equal((await usePasskey(agent, again, key, { lies: forged })).status, 401);
  assert.equal((await failures('counter_went_back')).length, 0);
  for (const counter of [9, 3, 0]) {
    const answer = await usePasskey(agent, again, key, { lies: { counter } });
    assert.equal(answer.status, 401, String(counter));
  }
  assert.equal((await failures('counter_went_back')).length, 3);
  const { body } = await app.admin('GET', `/users/${alice.id}/passkeys`);
  assert.ok(body.data.items?.[0]?.counter_went_back_at);
});

test('attack: two copies of a key with the same counter at once: one signs in', async () => {
  const other = new Agent(app);
  const shown = await openSignIn(other, client);
  const [one, two] = [await begin(agent, page), await begin(other, shown)];
  const answers = await Promise.all([
    finish(agent, page, key.get(one, { counter: 5 })),
    finish(other, shown, key.get(two, { counter: 5 })),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
});

test('attack: unknown and removed passkeys reveal nothing about accounts', async () => {
  const stranger = new Authenticator({ origin: originOf(app) });
  stranger.create({ challenge: 'x', user: { id: 'eA' } });
  const unknown = await usePasskey(agent, page, stranger);
  assert.deepEqual([unknown.status, unknown.body.reason], [401, 'passkey.unknown']);
  const removed = await app.admin('DELETE', `/users/${alice.id}/passkeys/${key.keys[0]?.id}`);
  assert.equal(removed.status, 204);
  const gone = await usePasskey(agent, page, key);
  assert.deepEqual([gone.status, gone.body], [unknown.status, unknown.body]);
  // What a name is typed for is never looked up: the same options for everyone.
  assert.equal((await begin(agent, page)).challenge.length, 43);
});

test('attack: passkey of a deactivated or deleted account; a password lock stops none', async () => {
  await app.admin('POST', `/users/${alice.id}/deactivate`);
  assert.equal((await usePasskey(agent, page, key)).status, 401);
  await app.admin('POST', `/users/${alice.id}/reactivate`);
  const locker = new Agent(app);
  let shown = await openSignIn(locker, client);
  for (let attempt = 0; attempt < 5; attempt += 1)
    shown = await locker.submit(shown, { username: alice.username, password: 'wrong' });
  const { body } = await app.admin('GET', `/users/${alice.id}`);
  assert.notEqual(body.data.locked_until, null);
  const other = new Agent(app);
  assert.equal((await usePasskey(other, await openSignIn(other, client), key)).status, 200);
  assert.equal((await app.admin('DELETE', `/users/${alice.id}`)).status, 204);
  assert.equal((await usePasskey(agent, page, key)).body.reason, 'passkey.unknown');
});

test('attack: ceremonies from another site, without cookie or token, or with a form', async () => {
  const path = '/oauth2/passkey/login/begin';
  const foreign = await agent.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
    body: JSON.stringify({ csrf: 'x', interaction: 'y' }),
  });
  assert.equal(foreign.status, 403);
  assert.equal((await send(new Agent(app), page, path)).status, 400);
  assert.equal((await send(agent, page, path, { csrf: 'wrong' })).status, 403);
  const form = await agent.post(path, { csrf: 'x' });
  assert.equal(form.status, 415);
  assert.equal((await send(agent, page, path, { purpose: 'second_factor' })).status, 400);
});
