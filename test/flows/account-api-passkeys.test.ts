// Adding a passkey by the account API: the rules of the page (account-passkeys.test.ts), by bearer, in two calls.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Agent, redeem, refresh, VERIFIER } from '../support/agent.ts';
import type { TestApp } from '../support/app.ts';
import { Authenticator, type Lies, type Options } from '../support/authenticator.ts';
import { openMailbox } from '../support/mailbox.ts';
import { goOn, openSignIn, originOf, send, usePasskey } from '../support/passkeys.ts';
import { eachWithPerson, eventsOf, newPerson, open, STALE_MS } from './account-support.ts';
import { bearer, call, change, isActive, tokensOf, type User } from './support.ts';

const BEGIN = 'passkeys/register/begin';
const FINISH = 'passkeys/register/finish';
/** Of the application's redirect URIs, and where its pages are. */
const HOME = 'https://rp.example';

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;
let token: string;
let key: Authenticator;

eachWithPerson(
  (given) => {
    ({ app, client, user, browser } = given);
  },
  { fields: { name: 'Grace Hopper' }, settings: { passkey_extra_origins: '' } },
);
beforeEach(async () => {
  token = await tokenOf(user);
  key = new Authenticator({ origin: originOf(app) });
});

const tokenOf = async (who: User, agent: Agent = new Agent(app)): Promise<string> =>
  String((await tokensOf(app, client, who, {}, agent)).access_token);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Options & Record<string, unknown>;
  readonly reason: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

async function api(
  path: string,
  {
    body,
    by = token,
    origin,
    method = 'POST',
  }: Partial<Record<'by' | 'origin' | 'method', string>> & {
    body?: unknown;
  } = {},
): Promise<Answer> {
  const { status, headers, text } = await call(app, method, `/account/api/${path}`, {
    headers: {
      ...bearer(by),
      ...(origin !== undefined && { origin }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { data = {}, error = {} } = text === '' ? {} : JSON.parse(text);
  return { status, headers, data, reason: error.reason, fields: error.fields ?? {} };
}

async function begin(by = token): Promise<Options> {
  const begun = await api(BEGIN, { by });
  assert.equal(begun.status, 200, begun.reason);
  return begun.data;
}

const finish = (response: unknown, by = token): Promise<Answer> => api(FINISH, { by, body: { response } });

const count = async (who: User = user): Promise<unknown> =>
  (await app.admin('GET', `/users/${who.id}`)).body.data.passkey_count;

async function isRefused(answer: Answer, about: string): Promise<void> {
  assert.deepEqual(
    [answer.status, answer.reason, Object.keys(answer.fields)],
    [400, 'request.invalid', ['response']],
    about,
  );
  assert.equal(await count(), 0, about);
}

test('account API: a passkey is added in two calls, recorded, mailed, and signs in', async () => {
  const mailbox = await openMailbox(app);
  const options = await api(BEGIN);
  assert.equal(options.headers.get('cache-control'), 'no-store');
  assert.deepEqual(options.data.user, {
    id: Buffer.from(user.id).toString('base64url'),
    name: user.username,
    displayName: 'Grace Hopper',
  });
  const added = await finish(key.create(options.data));
  assert.equal(added.status, 200, JSON.stringify(added));
  const id = key.keys[0]?.id ?? '';
  const { passkey, signals } = added.data;
  assert.equal(Object(passkey).id, id);
  assert.deepEqual(signals, {
    rp_id: new URL(app.url).hostname,
    user_id: Buffer.from(user.id).toString('base64url'),
    accepted_ids: [id],
    name: user.username,
    display_name: 'Grace Hopper',
  });
  const all = await api('passkeys', { method: 'GET' });
  assert.deepEqual([all.data.items, all.data.total, all.data.signals], [[passkey], 1, signals]);
  assert.equal((await eventsOf(app, 'passkey.added', user)).length, 1);
  await mailbox.deliver();
  const mails = mailbox.received.filter(({ to }) => to.includes(user.email));
  await mailbox.close();
  assert.ok(mails.some(({ mail }) => /passkey was added/.test(mail.subject ?? '')));
  await goOn(browser, await usePasskey(browser, await openSignIn(browser, client), key));
  // R098: what the account has now is stronger than what this token's session proved.
  assert.equal((await api(BEGIN)).reason, 'auth.stale');
  assert.equal((await api(`passkeys/${id}`, { method: 'DELETE' })).reason, 'auth.stale');
});

test('account API: adding a passkey ends every other session with its tokens, not its own', async () => {
  const thief = new Agent(app);
  const parameters = { scope: 'openid offline_access', prompt: 'consent' };
  const stolen = await redeem(app, client, await thief.signIn(client.id, user, parameters));
  assert.equal((await finish(key.create(await begin()))).status, 200);
  assert.equal((await refresh(app, client, stolen.body.refresh_token ?? '')).status, 400);
  assert.equal((await thief.get('/account')).status, 303);
  assert.equal(await isActive(app, token), true);
});

test('account API: another origin adds passkeys once it is one of passkey_extra_origins', async () => {
  const away = new Authenticator({ origin: HOME });
  await isRefused(await finish(away.create(await begin())), 'not listed');
  await change(app, { passkey_extra_origins: HOME });
  const options = await api(BEGIN, { origin: HOME });
  assert.equal(options.headers.get('access-control-allow-origin'), HOME);
  assert.equal((await finish(away.create(options.data))).status, 200);
});

test('attack: options and answers read by an origin that the application has not registered', async () => {
  for (const origin of ['https://evil.example', `${HOME}.evil.example`, 'null', 'http://rp.example']) {
    const options = await api(BEGIN, { origin });
    const made = await api(FINISH, { origin, body: { response: 'x' } });
    for (const { headers } of [options, made])
      for (const name of ['access-control-allow-origin', 'access-control-allow-credentials'])
        assert.equal(headers.get(name), null, `${origin} ${name}`);
  }
  // A browser's cookie opens nothing here, so another site can't begin in the name of who is signed in.
  await browser.signIn(client.id, user);
  assert.equal((await browser.request(`/account/api/${BEGIN}`, { method: 'POST' })).status, 401);
});

test('attack: a passkey of another origin, of another relying party, or made in a frame', async () => {
  const lies: Readonly<Record<string, Lies>> = {
    'another origin': { origin: 'https://evil.example' },
    'a longer host': { origin: `${originOf(app)}.evil.example` },
    'another relying party': { rpId: 'evil.example' },
    'a sign-in': { type: 'webauthn.get' },
    'a frame': { clientData: { crossOrigin: true } },
    'nobody present': { flags: 64 },
    'a challenge of its own': { challenge: Buffer.alloc(32, 7).toString('base64url') },
    'another attestation': { tamper: (response) => ({ ...response, attestationObject: 'oA' }) },
  };
  for (const [about, lie] of Object.entries(lies))
    await isRefused(await finish(key.create(await begin(), lie)), about);
  assert.equal((await eventsOf(app, 'passkey.failure', user)).length, Object.keys(lies).length);
  assert.equal((await eventsOf(app, 'passkey.added', user)).length, 0);
});

test('attack: a challenge used twice, also after a refusal, and by many at once', async () => {
  const refused = await begin();
  await isRefused(await finish(key.create(refused, { origin: 'https://evil.example' })), 'wrong');
  await isRefused(await finish(key.create(refused)), 'right, too late');
  const options = await begin();
  const answers = await Promise.all([1, 2, 3, 4].map(() => finish(key.create(options))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(await count(), 1);
});

test('attack: a challenge of another user, of another session, and of the page', async () => {
  const other = await newPerson(app);
  await isRefused(await finish(key.create(await begin(await tokenOf(other)))), 'another user');
  assert.equal(await count(other), 0);
  await isRefused(await finish(key.create(await begin(await tokenOf(user)))), 'another session');
  const same = await tokenOf(user, browser);
  const page = await open(browser, user, '/account/passkeys');
  const ofPage = await send(browser, page, '/account/passkeys/register/begin');
  assert.equal(ofPage.status, 200);
  await isRefused(await finish(key.create(ofPage.body), same), 'of the page');
  const ofApi = key.create(await begin(same));
  const { status } = await send(browser, page, '/account/passkeys/register/finish', { response: ofApi });
  assert.equal(status, 401, 'nor the other way');
  assert.equal(await count(), 0);
});

test('attack: a sign-in that aged before or between the two calls; a session that has ended', async () => {
  const response = key.create(await begin());
  app.advance(STALE_MS);
  for (const answer of [await api(BEGIN), await finish(response)])
    assert.deepEqual([answer.status, answer.reason], [403, 'auth.stale']);
  const later = await tokenOf(user, browser);
  const begun = key.create(await begin(later));
  await browser.get('/oauth2/logout');
  const { body } = await app.admin('GET', `/users/${user.id}/sessions`);
  for (const { id } of body.data.items ?? []) await app.admin('DELETE', `/sessions/${id}`);
  assert.ok([401, 403].includes((await finish(begun, later)).status));
  assert.equal(await count(), 0);
});

test('attack: a passkey that another account has already is told from no other; the own one is', async () => {
  const other = await newPerson(app);
  const theirs = await tokenOf(other);
  assert.equal((await finish(key.create(await begin(theirs)), theirs)).status, 200);
  const id = key.keys[0]?.id ?? '';
  const same = await finish(key.create(await begin(), { id }));
  assert.equal(same.status, 200, same.reason);
  const browserOf = new Agent(app);
  const asked = await openSignIn(browserOf, client, { scope: 'openid account' });
  const done = await goOn(browserOf, await usePasskey(browserOf, asked, key));
  const code = new URL(done.location ?? '').searchParams.get('code') ?? '';
  const { body: stronger } = await redeem(app, client, { code, verifier: VERIFIER });
  const stepped = stronger.access_token;
  const { data } = await api(BEGIN, { by: stepped });
  assert.deepEqual(
    [Object(data).excludeCredentials, Object(same.data.passkey).id],
    [[{ id, type: 'public-key', transports: ['internal'] }], id],
  );
  const twice = await finish(key.create(data, { id }), stepped);
  assert.deepEqual(
    [twice.status, twice.reason, await count(), await count(other)],
    [409, 'passkey.registered', 1, 1],
  );
});

test('account API: bodies that no browser sends are refused, each member named', async () => {
  const long = { id: 'x', rawId: 'x', type: 'public-key', response: { clientDataJSON: 'a'.repeat(9000) } };
  const cases: [unknown, string[]][] = [
    [{}, ['response']],
    [{ response: 'text' }, ['response']],
    [{ response: [] }, ['response']],
    [{ response: null }, ['response']],
    [{ response: {} }, ['response']],
    [{ response: long }, ['response']],
    [{ response: {}, label: 'mine', account: user.id }, ['account', 'label']],
  ];
  for (const [body, members] of cases) {
    const { status, fields } = await api(FINISH, { body });
    assert.deepEqual([status, Object.keys(fields).sort()], [400, members], JSON.stringify(body).slice(0, 80));
  }
  assert.equal((await api(FINISH, { body: [] })).reason, 'request.malformed');
  assert.equal((await api(FINISH, { body: { response: { padding: 'x'.repeat(200_000) } } })).status, 413);
  assert.equal(await count(), 0);
});
