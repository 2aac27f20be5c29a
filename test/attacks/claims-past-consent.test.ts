// Attack: the `claims` parameter (OIDC Core §5.5) to get past the client's scopes and past consent. A claim is given only
// under a scope that the client may request and that the user saw (decisions 0009 and 0011).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { consents } from '../../src/store/collections.ts';
import { grants } from '../../src/store/protocol-collections.ts';
import { bearer, type Client, call, claimsOf, introspect, postForm, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, refresh, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const PERSON = {
  email: 'alice@example.com',
  is_email_verified: true,
  given_name: 'Alice',
  birthdate: '1990-01-02',
  phone_number: '+41791234567',
  address: { locality: 'Zurich' },
};
const alice = await app.createUser('alice', PERSON);
const NAMES = [
  'email',
  'email_verified',
  'phone_number',
  'address',
  'birthdate',
  'given_name',
  'preferred_username',
  'roles',
  'groups',
] as const;
const all = Object.fromEntries(NAMES.map((name) => [name, { essential: true }]));
const EVERYTHING = JSON.stringify({ userinfo: all, id_token: all });
const only = (...names: string[]): string => {
  const wanted = Object.fromEntries(names.map((name) => [name, null]));
  return JSON.stringify({ userinfo: wanted, id_token: wanted });
};

const request = (to: Client, claims: string, more: Record<string, string> = {}) => ({
  ...codeRequest(to.id),
  claims,
  ...more,
});

const isConsentPage = (page: Page): boolean => page.body.includes('action="/oauth2/consent"');
const codeOf = (page: Page): string => new URL(page.location ?? '').searchParams.get('code') ?? '';
/** What of the person's data is in there. */
const told = (members: Record<string, unknown>): string[] => NAMES.filter((name) => name in members);

async function signedIn(): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn((await app.register()).id, alice);
  return agent;
}

async function redeemed(to: Client, page: Page) {
  const { status, body } = await redeem(app, to, { code: codeOf(page), verifier: VERIFIER });
  equal(status, 200, JSON.stringify(body));
  return body;
}

/** @returns what each of the places says of the person that a client can read */
async function everywhere(to: Client, tokens: { access_token: string; id_token: string }) {
  const [user, { body: seen }] = await Promise.all([
    userinfo(app, tokens.access_token),
    introspect(app, tokens.access_token),
  ]);
  equal(user.status, 200, `${to.id} ${user.text}`);
  return {
    idToken: told(claimsOf(tokens.id_token)),
    userinfo: told(user.body),
    introspection: told(seen),
    accessToken: told(claimsOf(tokens.access_token)),
    scope: seen.scope,
  };
}
const NOTHING = { idToken: [], userinfo: [], introspection: [], accessToken: [], scope: 'openid' };

test('attack: claims parameter by a client of openid alone, with skip_consent or consent', async () => {
  for (const skip_consent of [true, false]) {
    const to = await app.register({ scope: 'openid', skip_consent });
    const agent = await signedIn();
    let page = await agent.authorize(request(to, EVERYTHING));
    equal(isConsentPage(page), !skip_consent);
    if (!skip_consent) page = await agent.submit(page, { action: 'allow' });
    const tokens = await redeemed(to, page);
    deepEqual(await everywhere(to, tokens), NOTHING);
    const { body } = await refresh(app, to, tokens.refresh_token);
    deepEqual(await everywhere(to, body), NOTHING);
    // Pushed, it is the same request.
    const pushed = await postForm(app, '/oauth2/par', {
      ...request(to, EVERYTHING),
      client_secret: to.secret,
    });
    equal(pushed.status, 201, pushed.text);
    const again = await agent.authorize({ client_id: to.id, request_uri: String(pushed.body.request_uri) });
    deepEqual(await everywhere(to, await redeemed(to, again)), NOTHING);
  }
});

test('claims parameter: the consent page shows each claim’s scope; consent remembers it', async () => {
  const to = await app.register({ scope: 'openid profile email', skip_consent: false });
  const agent = await signedIn();
  const bare = await agent.authorize(request(to, only('amr', 'sub')));
  equal(await redeemed(to, await agent.submit(bare, { action: 'allow' })).then((t) => t.scope), 'openid');

  const page = await agent.authorize(request(to, only('email', 'phone_number')));
  ok(isConsentPage(page), 'what was not seen is asked for');
  match(page.body, /e-mail address/i);
  const [list = ''] = /class="scopes".*?<\/ul>/s.exec(page.body) ?? [];
  match(list, /e-mail address/i);
  ok(!/phone/i.test(list), 'the client may not have it');
  const silent = await agent.authorize(request(to, only('email'), { prompt: 'none' }));
  match(silent.location ?? '', /error=consent_required/);
  const tokens = await redeemed(to, await agent.submit(page, { action: 'allow' }));
  deepEqual(await everywhere(to, tokens), { ...NOTHING, idToken: ['email'], userinfo: ['email'] });

  // Remembered in this session and the next one, for that scope; more is asked for.
  for (const browser of [agent, await signedIn()]) {
    const known = await browser.authorize(request(to, only('email', 'email_verified')));
    ok(!isConsentPage(known));
    const { userinfo: told } = await everywhere(to, await redeemed(to, known));
    deepEqual(told, ['email', 'email_verified']);
    ok(isConsentPage(await browser.authorize(request(to, only('email', 'birthdate')))));
  }
});

test('claims parameter: after a denial nothing is granted or remembered', async () => {
  const to = await app.register({ scope: 'openid email', skip_consent: false });
  const agent = await signedIn();
  await agent.submit(await agent.authorize(request(to, '{"userinfo":{}}')), { action: 'allow' });
  const denied = await agent.submit(await agent.authorize(request(to, only('email'))), { action: 'deny' });
  match(denied.location ?? '', /error=access_denied/);
  const plain = await agent.authorize(request(to, '{"userinfo":{}}'));
  deepEqual(await everywhere(to, await redeemed(to, plain)), NOTHING);
});

test('claims parameter: prompt=consent shows the scopes of claims beside those requested', async () => {
  const to = await app.register({ scope: 'openid email phone', skip_consent: false });
  const agent = await signedIn();
  await agent.submit(await agent.authorize(request(to, only('email'))), { action: 'allow' });
  const page = await agent.authorize(request(to, only('email'), { prompt: 'consent' }));
  match(page.body, /e-mail address/i);
});

test('claims parameter: grants and consents of an earlier version add nothing unshown', async () => {
  const to = await app.register({ scope: 'openid email', skip_consent: false });
  const agent = await signedIn();
  const first = await agent.authorize(request(to, '{"userinfo":{}}'));
  const tokens = await redeemed(to, await agent.submit(first, { action: 'allow' }));
  // As it was written before: claims by name, without their scope.
  const stored = app.store.collection(grants);
  const [grant] = (await stored.findBy('client', to.id)).slice(-1);
  ok(grant !== undefined);
  const openid = { scope: 'openid', claims: ['email', 'birthdate'] };
  await stored.put(grant.id, { ...grant.value, openid });
  const remembered = app.store.collection(consents);
  const id = `${alice.id}:${to.id}`;
  const consent = await remembered.find(id);
  ok(consent !== undefined);
  await remembered.put(id, { ...consent.value, claims: ['email', 'birthdate'] });

  deepEqual(await everywhere(to, tokens), NOTHING);
  for (const browser of [agent, await signedIn()]) {
    const page = await browser.authorize(request(to, only('email', 'birthdate')));
    ok(isConsentPage(page), 'asked anew, since it was never shown');
  }
});

test('claims parameter: a scope withdrawn during the sign-in removes its claims', async () => {
  const to = await app.register({ scope: 'openid email', skip_consent: true });
  const agent = new Agent(app);
  const login = await agent.authorize(request(to, only('email')));
  equal((await app.admin('PATCH', `/clients/${to.id}`, { scope: 'openid' })).status, 200);
  const page = await agent.submit(login, { username: 'alice', password: PASSWORD });
  deepEqual(await everywhere(to, await redeemed(to, page)), NOTHING);
});

test('skip_consent withdrawn: grants without consent end, and the user is asked', async () => {
  const to = await app.register({ scope: 'openid email', skip_consent: true });
  const agent = await signedIn();
  const tokens = await redeemed(to, await agent.authorize(request(to, only('email'))));
  equal((await userinfo(app, tokens.access_token)).body.email, PERSON.email);
  equal((await app.admin('PATCH', `/clients/${to.id}`, { skip_consent: false })).status, 200);
  equal((await introspect(app, tokens.access_token)).body.active, false);
  equal((await refresh(app, to, tokens.refresh_token)).body.error, 'invalid_grant');
  const page = await agent.authorize(request(to, only('email')));
  ok(isConsentPage(page));
  deepEqual(
    (await everywhere(to, await redeemed(to, await agent.submit(page, { action: 'allow' })))).userinfo,
    ['email'],
  );
});

test('attack: a self-registered client with skip_consent widens its own scopes', async () => {
  const { body: initial } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const send = (method: string, path: string, token: unknown, members: object) =>
    call(app, method, path, {
      headers: { ...bearer(String(token)), 'content-type': 'application/json' },
      body: JSON.stringify(members),
    });
  const members = { redirect_uris: [REDIRECT_URI] };
  const { body: made } = await send('POST', '/oauth2/register', initial.data.token, members);
  const { client_id, registration_access_token: token } = made;
  const vouched = { scope: 'openid', skip_consent: true };
  equal((await app.admin('PATCH', `/clients/${client_id}`, vouched)).status, 200);
  const path = `/oauth2/register/${client_id}`;
  const wider = await send('PUT', path, token, { ...members, client_id, scope: 'openid email' });
  deepEqual([wider.status, wider.body.error], [400, 'invalid_client_metadata']);
  const unsaid = await send('PUT', path, token, { ...members, client_id });
  deepEqual([unsaid.status, unsaid.body.scope], [200, 'openid'], 'left out, it is not everything');
});
