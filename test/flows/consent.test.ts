// Consent (OIDC Core §3.1.2.4, decision 0001): when it is asked for, what is remembered, the effect of a
// denial and of no answer, and that consent never grants `admin` to other users.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { consents } from '../../src/store/collections.ts';
import {
  Agent,
  challengeOf,
  codeRequest,
  hiddenFields,
  type Page,
  redeem,
  VERIFIER,
} from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { type Client, claimsOf, isActive, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const theirs = {
  client_name: 'Acme <Notes>',
  skip_consent: false,
  policy_uri: 'https://rp.example/privacy',
  scope: 'openid profile email phone admin offline_access',
};
const client = await app.register(theirs);
const alice = await app.createUser('alice', { email: 'alice@example.com' });
const root = await app.createUser('root', { role: 'admin' });

const authorize = (agent: Agent, to: Client, scope = 'openid profile', more: Record<string, string> = {}) =>
  agent.authorize({
    client_id: to.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope,
    state: 's',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...more,
  });

const isConsentPage = (page: Page): boolean =>
  page.status === 200 && page.body.includes('action="/oauth2/consent"');
const parametersOf = (page: Page): URLSearchParams =>
  new URL(page.location ?? 'https://none.example').searchParams;

async function signedIn(user: { username: string }): Promise<Agent> {
  const agent = new Agent(app);
  await agent.signIn((await app.register()).id, user);
  return agent;
}

/** @returns the consent page of a new application for a person who is signed in */
async function question(scope?: string, user = alice): Promise<{ agent: Agent; to: Client; page: Page }> {
  const [agent, to] = [await signedIn(user), await app.register(theirs)];
  const page = await authorize(agent, to, scope);
  ok(isConsentPage(page), page.body);
  return { agent, to, page };
}

async function scopeOf(page: Page, to: Client): Promise<unknown> {
  const { body, status } = await redeem(app, to, {
    code: parametersOf(page).get('code') ?? '',
    verifier: VERIFIER,
  });
  equal(status, 200, JSON.stringify(body));
  return claimsOf(body.access_token).scope;
}

test('attack: a custom scheme shows a host of its choice on the consent page', async () => {
  const uri = 'com.example.app://accounts.google.com/callback';
  const { id } = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: [uri],
    skip_consent: false,
  });
  const agent = new Agent(app);
  const { body } = await agent.submit(await agent.authorize({ ...codeRequest(id), redirect_uri: uri }), {
    username: 'alice',
    password: PASSWORD,
  });
  match(body, /<p class="host">[\s\S]*?com\.example\.app:<\/bdi>/);
  doesNotMatch(body, /accounts\.google/);
});

test('consent page: names application, host, user and scopes, escaped', async () => {
  const { page } = await question('openid profile email offline_access');
  ok(page.body.includes('Acme &lt;Notes&gt;') && !page.body.includes('<Notes>'));
  ok(page.body.includes('rp.example') && page.body.includes('alice'));
  ok(page.body.includes('https://rp.example/privacy'));
  equal(page.headers.get('cache-control'), 'no-store');
  match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
});

test('consent: asked once and remembered, in this session and the next', async () => {
  const { agent, to, page } = await question();
  const done = await agent.submit(page, { action: 'allow' });
  deepEqual([...parametersOf(done).keys()].sort(), ['code', 'iss', 'state']);
  equal(await scopeOf(done, to), 'openid profile');
  ok(parametersOf(await authorize(agent, to)).get('code'));
  // Another browser, another session: the sign-in page, then the application at once.
  const elsewhere = new Agent(app);
  const login = await authorize(elsewhere, to);
  const next = await elsewhere.submit(login, { username: 'alice', password: PASSWORD });
  ok(parametersOf(next).get('code'), next.body);
  equal(await scopeOf(next, to), 'openid profile');
});

test('skip_consent: never asks; only an administrator can set it', async () => {
  const own = await app.register({ skip_consent: true });
  ok(parametersOf(await authorize(await signedIn(alice), own)).get('code'));
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const made = await fetch(`${app.url}/oauth2/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${body.data.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], skip_consent: true }),
  });
  equal(made.status, 400);
});

test('consent: a new scope asks for that scope alone; fewer scopes ask nothing', async () => {
  const { agent, to, page } = await question('openid profile');
  await agent.submit(page, { action: 'allow' });
  const more = await authorize(agent, to, 'openid profile email');
  ok(isConsentPage(more));
  equal(await scopeOf(await agent.submit(more, { action: 'allow' }), to), 'openid profile email');
  equal(await scopeOf(await authorize(agent, to, 'openid'), to), 'openid');
  ok(parametersOf(await authorize(agent, to, 'openid profile email')).get('code'));
});

test('consent denied: access_denied, nothing remembered, asked again next time', async () => {
  const { agent, to, page } = await question();
  const denied = parametersOf(await agent.submit(page, { action: 'deny' }));
  deepEqual(
    [denied.get('error'), denied.get('state'), denied.get('iss'), denied.get('code')],
    ['access_denied', 's', app.issuer, null],
  );
  equal(await app.store.collection(consents).find(`${alice.id}:${to.id}`), undefined);
  ok(isConsentPage(await authorize(agent, to)));
  match((await authorize(agent, to, 'openid', { prompt: 'none' })).location ?? '', /error=consent_required/);
});

test('attack: an empty or unknown consent answer (R096, authentik CVE-2026-49443)', async () => {
  const { agent, to, page } = await question();
  const hidden = hiddenFields(page.body);
  for (const fields of [{}, { action: '' }, { action: 'yes' }, { action: 'ALLOW' }, { confirm: 'yes' }]) {
    const answer = await agent.post('/oauth2/consent', { ...hidden, ...fields });
    deepEqual([answer.status, answer.location], [400, undefined], JSON.stringify(fields));
  }
  for (const fields of [
    {},
    { action: 'allow' },
    { action: 'allow', interaction: hidden.interaction ?? '' },
  ]) {
    const answer = await agent.post('/oauth2/consent', fields);
    deepEqual([answer.status, answer.location], [403, undefined], JSON.stringify(fields));
  }
  equal(await app.store.collection(consents).find(`${alice.id}:${to.id}`), undefined);
  // The question still stands, also by its address.
  const again = await agent.get(`/oauth2/consent?interaction=${hidden.interaction}`);
  ok(isConsentPage(again));
  ok(parametersOf(await agent.submit(again, { action: 'allow' })).get('code'));
});

test('attack: the consent page before the password, or of another user', async () => {
  const agent = new Agent(app);
  const hidden = hiddenFields((await authorize(agent, client)).body);
  const early = await agent.post('/oauth2/consent', { ...hidden, action: 'allow' });
  deepEqual([early.status, early.location], [400, undefined]);
  equal((await agent.get(`/oauth2/consent?interaction=${hidden.interaction}`)).status, 400);

  const { page } = await question();
  const { interaction } = hiddenFields(page.body);
  const stranger = await signedIn(root);
  for (const target of [
    `/oauth2/consent?interaction=${interaction}`,
    '/oauth2/consent?interaction=x',
    '/oauth2/consent',
  ]) {
    const answer = await stranger.get(target);
    deepEqual([answer.status, answer.body.includes('<form')], [400, false], target);
  }
  const forged = await stranger.post('/oauth2/consent', { ...hiddenFields(page.body), action: 'allow' });
  ok([400, 403].includes(forged.status) && forged.location === undefined);
});

test('attack: the form of one step at another', async () => {
  const { agent, to, page } = await question();
  const fields = { ...hiddenFields(page.body), username: 'root', password: PASSWORD };
  for (const more of [{}, { action: 'continue' }, { action: 'cancel' }]) {
    const answer = await agent.post('/oauth2/login', { ...fields, ...more });
    deepEqual([answer.status, answer.location], [400, undefined], JSON.stringify(more));
  }
  const login = await authorize(agent, to, 'openid', { prompt: 'login' });
  const early = await agent.post('/oauth2/consent', { ...hiddenFields(login.body), action: 'allow' });
  deepEqual([early.status, early.location], [400, undefined]);
  equal(await app.store.collection(consents).find(`${alice.id}:${to.id}`), undefined);
});

test('attack: consent form fields naming other scopes, clients or users (R013)', async () => {
  const { agent, to, page } = await question('openid');
  const done = await agent.submit(page, {
    action: 'allow',
    scope: 'openid admin email',
    client_id: client.id,
    redirect_uri: 'https://evil.example/',
    account: root.id,
    accountId: root.id,
  });
  equal(new URL(done.location ?? '').origin, new URL(REDIRECT_URI).origin);
  const { body } = await redeem(app, to, { code: parametersOf(done).get('code') ?? '', verifier: VERIFIER });
  const { sub, scope, client_id } = claimsOf(body.access_token);
  deepEqual([sub, scope, client_id], [alice.id, 'openid', to.id]);
});

test('attack: scope admin for a user who is no administrator, first-party or not', async () => {
  const { agent, to, page } = await question('openid admin');
  equal(await scopeOf(await agent.submit(page, { action: 'allow' }), to), 'openid');
  const remembered = await app.store.collection(consents).find(`${alice.id}:${to.id}`);
  deepEqual(remembered?.value.scopes, ['openid']);
  const own = await app.register({ scope: 'openid admin', skip_consent: true });
  equal(claimsOf((await tokensOf(app, own, alice, { scope: 'openid admin' })).access_token).scope, 'openid');

  const admins = await question('openid admin', root);
  equal(
    await scopeOf(await admins.agent.submit(admins.page, { action: 'allow' }), admins.to),
    'openid admin',
  );
});

test('scope admin: ends with the role; later tokens lack it', async () => {
  const turn = await app.createUser('turncoat', { role: 'admin' });
  const own = await app.register({ scope: 'openid admin' });
  const before = await tokensOf(app, own, turn, { scope: 'openid admin' });
  equal(claimsOf(before.access_token).scope, 'openid admin');
  equal((await app.admin('PATCH', `/users/${turn.id}`, { role: 'user' })).status, 200);
  equal(await isActive(app, before.access_token), false);
  equal(claimsOf((await tokensOf(app, own, turn, { scope: 'openid admin' })).access_token).scope, 'openid');
});

test('public client without an assured identity: asks every time (RFC 8252 §8.6)', async () => {
  const native = await app.register({
    ...theirs,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: [REDIRECT_URI, 'com.example.app:/cb'],
  });
  const agent = await signedIn(alice);
  const there = { redirect_uri: 'com.example.app:/cb' };
  const first = await authorize(agent, native, 'openid', there);
  ok(isConsentPage(first));
  await agent.submit(first, { action: 'allow' });
  ok(isConsentPage(await authorize(agent, native, 'openid', there)));
});

test('attack: the user changes between consent page and answer', async () => {
  const { agent, to, page } = await question();
  await agent.signIn((await app.register()).id, root, { prompt: 'login' });
  const late = await agent.submit(page, { action: 'allow' });
  deepEqual([late.status, late.location], [400, undefined]);
  ok(isConsentPage(await authorize(agent, to)), 'the new person is asked');
});

test('client or user deleted before the answer: no code', async () => {
  const one = await question();
  equal((await app.admin('DELETE', `/clients/${one.to.id}`)).status, 204);
  const late = await one.agent.submit(one.page, { action: 'allow' });
  ok(late.status >= 400 && late.location === undefined, String(late.status));
  const gone = await app.createUser('gone');
  const two = await question('openid', gone);
  equal((await app.admin('POST', `/users/${gone.id}/deactivate`)).status, 200);
  const refused = await two.agent.submit(two.page, { action: 'allow' });
  ok(parametersOf(refused).get('code') === null, refused.location);
});
