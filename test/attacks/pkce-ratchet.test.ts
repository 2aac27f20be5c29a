// An application that used PKCE in 20 exchanges in a row has to use it from then on (decision 0008). Nobody who holds no secret
// of it brings that about, delays it or undoes it; an administrator is told and can undo it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { RUN_TO_REQUIRE } from '../../src/clients/code-exchanges.ts';
import { bearer, type Client, call, change, type Json, withApp } from '../flows/support.ts';
import { Agent, challengeOf, requestTokens, type Tokens, VERIFIER } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let agent: Agent;
before(async () => {
  app = await startApp({ store: 'sqlite' });
  await app.createUser('alice');
  agent = new Agent(app);
});
after(() => app.stop());

const challenge = { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' };
type Fields = Readonly<Record<string, string>>;

async function authorize(client: Client, fields: Fields, browser = agent): Promise<URLSearchParams> {
  const page = await browser.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    ...fields,
  });
  return (await browser.finish(page, { username: 'alice' })).searchParams;
}

const exchange = (client: Client, code: string | null, fields: Fields = {}, host = app): Promise<Tokens> =>
  requestTokens(host, client, {
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: REDIRECT_URI,
    ...fields,
  });

async function signInWith(client: Client, times: number, browser = agent, host = app): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const code = (await authorize(client, challenge, browser)).get('code');
    const { status, body } = await exchange(client, code, { code_verifier: VERIFIER }, host);
    equal(status, 200, JSON.stringify(body));
  }
}

async function signInWithout(
  client: Client,
  fields: Fields = {},
  browser = agent,
  host = app,
): Promise<void> {
  const { status, body } = await exchange(
    client,
    (await authorize(client, fields, browser)).get('code'),
    {},
    host,
  );
  equal(status, 200, JSON.stringify(body));
}

const shown = async (client: Client): Promise<Json> =>
  (await app.admin('GET', `/clients/${client.id}`)).body.data;
const isRequired = async (client: Client): Promise<unknown> => (await shown(client)).require_pkce;

const requiredEvents = async (client: Client): Promise<number> =>
  Number(
    (await app.admin('GET', `/audit?event=client.pkce_required&client_id=${client.id}`)).body.data.total,
  );

test('ratchet: 20 exchanges in a row with a verifier, and the application requires it; not 19', async () => {
  const client = await app.register();
  const before = await shown(client);
  deepEqual([before.require_pkce, before.pkce_required_at], [false, null]);
  await signInWith(client, RUN_TO_REQUIRE - 1);
  equal(await isRequired(client), false);
  await signInWith(client, 1);
  const now = await shown(client);
  deepEqual([now.require_pkce, typeof now.pkce_required_at], [true, 'string']);
  equal((await authorize(client, {})).get('error'), 'invalid_request');
  equal(await requiredEvents(client), 1);
  ok(app.logged.some((line) => line.includes('"pkce_required"') && line.includes(client.id)));
  await signInWith(client, 2);
  equal(await requiredEvents(client), 1);
});

test('ratchet: one exchange without a verifier begins the row anew, with or without a nonce', async () => {
  const client = await app.register();
  await signInWith(client, RUN_TO_REQUIRE - 1);
  await signInWithout(client, { nonce: 'n-of-one' });
  await signInWith(client, 6);
  await signInWithout(client);
  await signInWith(client, RUN_TO_REQUIRE - 1);
  equal(await isRequired(client), false);
  await signInWith(client, 1);
  equal(await isRequired(client), true);
});

test('ratchet: an administrator undoes it for good; what is ticked again counts as theirs', async () => {
  const client = await app.register();
  await signInWith(client, RUN_TO_REQUIRE);
  const undone = await app.admin('PATCH', `/clients/${client.id}`, { require_pkce: false });
  deepEqual([undone.body.data.require_pkce, undone.body.data.pkce_required_at], [false, null]);
  await signInWithout(client);
  await signInWith(client, RUN_TO_REQUIRE + 1);
  equal(await isRequired(client), false);
  const again = await app.admin('PATCH', `/clients/${client.id}`, { require_pkce: true });
  deepEqual([again.body.data.require_pkce, again.body.data.pkce_required_at], [true, null]);
});

test('ratchet: counts over processes; an exchange without a verifier counts for all', async () => {
  const store = createMemoryStore({ clock: Date.now });
  const one = await startApp({ shared: store });
  const two = await startApp({ shared: store, env: { BASE_URL: one.url } });
  try {
    const client = await one.register();
    await one.createUser('alice');
    const browser = new Agent(one);
    const isRequiredNow = async (): Promise<unknown> =>
      (await one.admin('GET', `/clients/${client.id}`)).body.data.require_pkce;
    await signInWith(client, 15, browser, one);
    await signInWithout(client, {}, browser, two);
    await signInWith(client, 10, browser, one);
    equal(await isRequiredNow(), false);
    await signInWith(client, 10, browser, two);
    // The last five of this process are written beside the answer.
    for (let wait = 0; wait < 3000 && (await isRequiredNow()) !== true; wait += 1) await setTimeout(20);
    equal(await isRequiredNow(), true);
  } finally {
    await two.stop();
    await one.stop();
    await store.close();
  }
});

test('attack: a stranger sends requests and codes without PKCE to delay the ratchet', async () => {
  const client = await app.register();
  await signInWith(client, RUN_TO_REQUIRE - 2);
  const stranger = { id: client.id, secret: 'guessed' };
  for (let time = 0; time < 5; time += 1) {
    const code = (await authorize(client, {})).get('code');
    equal((await exchange(stranger, code)).status, 401);
    // Injected into the application, whose own verifier does not fit.
    equal((await exchange(client, code, { code_verifier: VERIFIER })).body.error, 'invalid_grant');
    equal((await exchange(client, 'nonsense')).body.error, 'invalid_grant');
    const theirs = (await authorize(client, challenge)).get('code');
    equal((await exchange(client, theirs, { code_verifier: 'w'.repeat(43) })).body.error, 'invalid_grant');
    equal((await exchange(client, theirs)).body.error, 'invalid_grant');
  }
  await signInWith(client, 2);
  equal(await isRequired(client), true);
});

test('attack: a stranger sends requests with PKCE to lock out an application that cannot use it', async () => {
  const client = await app.register();
  for (let time = 0; time < RUN_TO_REQUIRE + 2; time += 1) {
    const code = (await authorize(client, challenge)).get('code');
    // What the application does with it: it knows of no verifier.
    equal((await exchange(client, code)).body.error, 'invalid_grant');
  }
  equal(await isRequired(client), false);
  await signInWithout(client, { nonce: 'n-of-victim' });
});

test('attack: a registrant undoes the ratchet by PUT, or hides it from the administrator', async () => {
  const made = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Managed', redirect_uris: [REDIRECT_URI], skip_consent: true }),
  });
  equal(made.status, 201, made.text);
  const client = { id: String(made.body.client_id), secret: String(made.body.client_secret) };
  await signInWith(client, RUN_TO_REQUIRE);
  const put = (more: object) =>
    call(app, 'PUT', new URL(String(made.body.registration_client_uri)).pathname, {
      headers: { ...bearer(String(made.body.registration_access_token)), 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: client.id, redirect_uris: [REDIRECT_URI], ...more }),
    });
  equal((await put({ require_pkce: false })).status, 400);
  equal((await put({})).status, 200);
  equal((await put({ require_pkce: true, pkce_required_at: null })).status, 200);
  const now = await shown(client);
  deepEqual([now.require_pkce, typeof now.pkce_required_at], [true, 'string']);
  equal((await authorize(client, {})).get('error'), 'invalid_request');
});

test('sign-in with neither PKCE nor a nonce: works and is counted; with either it is not', async () => {
  const client = await app.register();
  const warnings = (): number =>
    app.logged.filter((line) => line.includes('sign_in_unguarded') && line.includes(client.id)).length;
  await signInWith(client, 1);
  await signInWithout(client, { nonce: 'n-of-guarded' });
  // Nothing at the authorization endpoint alone.
  await authorize(client, {});
  equal(warnings(), 0);
  await signInWithout(client);
  await signInWithout(client);
  equal(warnings(), 2);
  const { body } = await app.admin('GET', `/audit?event=token.unguarded&client_id=${client.id}`);
  deepEqual(
    body.data.items?.map(({ details }) => details),
    [{ per: 'hour', count: 2 }],
  );
});

test('ratchet: nothing is counted while the setting requires PKCE anyway', async () => {
  await withApp({}, async (strict) => {
    await strict.createUser('alice');
    await change(strict, { require_pkce: true });
    const client = await strict.register();
    await signInWith(client, RUN_TO_REQUIRE + 1, new Agent(strict), strict);
    const { body } = await strict.admin('GET', `/clients/${client.id}`);
    deepEqual([body.data.require_pkce, body.data.pkce_required_at], [false, null]);
    match(JSON.stringify((await strict.admin('GET', '/audit?event=client.pkce_required')).body), /"total":0/);
  });
});
