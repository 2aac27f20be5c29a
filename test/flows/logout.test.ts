// Logout (decision 0005, OIDC RP-Initiated Logout 1.0): what ends, where the browser goes, and when the
// user is asked first.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { grants } from '../../src/store/protocol-collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent, hiddenFields, type Page, redeem, refresh, type Tokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  claimsOf,
  isActive,
  later,
  postForm,
  requestTokensOf,
  sessionsOf,
  tokensOf,
  userinfo,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const client = await app.register({ client_name: 'Acme', post_logout_redirect_uris: [BYE] });
const other = await app.register({ post_logout_redirect_uris: ['https://other.example/bye'] });
const alice = await app.createUser('alice');

interface Here {
  readonly agent: Agent;
  readonly tokens: Tokens['body'];
}

async function signedIn(to: Client = client): Promise<Here> {
  const agent = new Agent(app);
  return { agent, tokens: await tokensOf(app, to, alice, {}, agent) };
}

const logout = (
  agent: Agent,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
) => agent.get(`/oauth2/logout?${new URLSearchParams(parameters)}`, { headers });

const CROSS = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

const isSignedIn = async (agent: Agent): Promise<boolean> => {
  const page = await agent.authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    prompt: 'none',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  return new URL(page.location ?? '').searchParams.has('code');
};

async function expectOver({ agent, tokens }: Here): Promise<void> {
  equal(await isActive(app, tokens.access_token), false);
  equal(await isActive(app, tokens.refresh_token), false);
  equal((await userinfo(app, tokens.access_token)).status, 401);
  equal(await isSignedIn(agent), false);
}

async function expectUntouched({ agent, tokens }: Here, what = ''): Promise<void> {
  equal(await isActive(app, tokens.access_token), true, what);
  equal(await isActive(app, tokens.refresh_token), true, what);
  equal(await isSignedIn(agent), true, what);
}

const isQuestion = (page: Page): boolean =>
  page.status === 200 && page.body.includes('action="/oauth2/logout"') && page.location === undefined;

function expectSignedOutPage(page: Page): void {
  deepEqual([page.status, page.location], [200, undefined]);
  ok(!page.body.includes('<form'), page.body);
  equal(page.headers.get('cache-control'), 'no-store');
}

test('logout without parameters: immediate, with the "signed out" page', async () => {
  const here = await signedIn();
  const page = await logout(here.agent);
  expectSignedOutPage(page);
  equal(page.headers.get('clear-site-data'), '"cache"');
  const cookies = page.headers.getSetCookie().filter((cookie) => cookie.startsWith('latchkey_session'));
  ok(
    cookies.length > 0 && cookies.every((cookie) => /expires=Thu, 01 Jan 1970/.test(cookie)),
    String(cookies),
  );
  await expectOver(here);
  const [session = {}] = (await sessionsOf(app, alice.id)).toReversed();
  equal(typeof session.ended_at, 'string');
});

test('logout: ends every client of this session, not another session of the user', async () => {
  const [here, elsewhere] = [await signedIn(), await signedIn()];
  const { body } = await redeem(app, other, await here.agent.signIn(other.id, alice));
  await logout(here.agent);
  await expectOver(here);
  equal(await isActive(app, body.access_token), false);
  equal((await refresh(app, other, body.refresh_token)).body.error, 'invalid_grant');
  await expectUntouched(elsewhere);
});

test('logout with a valid hint: immediate 303 with state, also from another site', async () => {
  for (const headers of [{}, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }]) {
    const here = await signedIn();
    const page = await logout(
      here.agent,
      {
        id_token_hint: here.tokens.id_token,
        post_logout_redirect_uri: BYE,
        state: 'a b&c',
        ui_locales: 'de',
      },
      headers,
    );
    deepEqual([page.status, page.location], [303, `${BYE}?state=a+b%26c`]);
    await expectOver(here);
  }
  const here = await signedIn();
  const page = await logout(here.agent, { id_token_hint: here.tokens.id_token, client_id: client.id });
  expectSignedOutPage(page);
  ok(page.body.includes('Acme') || !page.body.includes('href="https://rp.example'));
});

test('logout: an expired hint of this session is still valid', async () => {
  const here = await signedIn();
  await later(3_700_000, async () => {
    const page = await logout(
      here.agent,
      { id_token_hint: here.tokens.id_token },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    );
    expectSignedOutPage(page);
  });
  await expectOver(here);
});

test('logout: POST and GET are equivalent', async () => {
  const here = await signedIn();
  const page = await here.agent.post('/oauth2/logout', {
    id_token_hint: here.tokens.id_token,
    post_logout_redirect_uri: BYE,
  });
  deepEqual([page.status, page.location], [303, BYE]);
  await expectOver(here);
  const again = await signedIn();
  expectSignedOutPage(await again.agent.request('/oauth2/logout', { method: 'POST' }));
  await expectOver(again);
});

test('logout without a hint from another site: asks with one button', async () => {
  const here = await signedIn();
  const page = await logout(
    here.agent,
    { client_id: client.id, post_logout_redirect_uri: BYE, state: 's' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  );
  ok(isQuestion(page), page.body);
  equal((page.body.match(/<button/g) ?? []).length, 1);
  await expectUntouched(here);
  const done = await here.agent.submit(page, {});
  deepEqual([done.status, done.location], [303, `${BYE}?state=s`]);
  await expectOver(here);
});

test('logout from the same origin or a typed address: immediate', async () => {
  for (const site of ['same-origin', 'none']) {
    const here = await signedIn();
    expectSignedOutPage(
      await logout(here.agent, {}, { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }),
    );
    await expectOver(here);
  }
});

test('logout by client_id and registered address without a hint: immediate unless cross-site', async () => {
  const here = await signedIn();
  const page = await logout(here.agent, { client_id: client.id, post_logout_redirect_uri: BYE, state: 's' });
  deepEqual([page.status, page.location], [303, `${BYE}?state=s`]);
  await expectOver(here);
});

test('logout without a session: 200 "signed out"; a hint of an ended session is returned', async () => {
  expectSignedOutPage(await logout(new Agent(app)));
  const { agent, tokens } = await signedIn();
  await logout(agent);
  expectSignedOutPage(await logout(agent));
  const ended = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state: 's' };
  for (const from of [agent, new Agent(app)])
    for (const parameters of [ended, { ...ended, client_id: client.id }])
      for (const headers of [{}, CROSS]) {
        const page = await logout(from, parameters, headers);
        deepEqual([page.status, page.location], [303, `${BYE}?state=s`]);
      }
  const elsewhere = await logout(agent, { ...ended, post_logout_redirect_uri: 'https://other.example/bye' });
  deepEqual([elsewhere.status, elsewhere.location], [400, undefined]);
  expectSignedOutPage(await logout(new Agent(app), {}, CROSS));
});

const AFTER_IDLING = 5 * 3_600_000;

test('logout after the session idled out: what was born in it ends, where its browser asks', async () => {
  const told = await app.register({ backchannel_logout_uri: 'https://told.invalid/logout' });
  for (const headers of [{}, CROSS]) {
    const here = await signedIn();
    const beside = (await redeem(app, other, await here.agent.signIn(other.id, alice))).body;
    const of = (await redeem(app, told, await here.agent.signIn(told.id, alice))).body;
    const elsewhere = await signedIn();
    const page = await later(AFTER_IDLING, () =>
      logout(here.agent, { id_token_hint: here.tokens.id_token, post_logout_redirect_uri: BYE }, headers),
    );
    deepEqual([page.status, page.location], [303, BYE]);
    equal(await isActive(app, here.tokens.refresh_token), false);
    equal(await isActive(app, beside.refresh_token), false);
    const { body } = await app.admin('GET', `/clients/${told.id}/logout-deliveries`);
    ok(JSON.stringify(body).includes(String(claimsOf(of.id_token).sid)), JSON.stringify(body));
    equal(await isActive(app, elsewhere.tokens.refresh_token), true);
  }
});

test('logout after the session idled out, in another browser: that application’s own ends', async () => {
  for (const headers of [{}, CROSS, { ...CROSS, 'sec-fetch-site': 'none' }]) {
    const here = await signedIn();
    const beside = (await redeem(app, other, await here.agent.signIn(other.id, alice))).body;
    const page = await later(AFTER_IDLING, () =>
      logout(new Agent(app), { id_token_hint: here.tokens.id_token, post_logout_redirect_uri: BYE }, headers),
    );
    deepEqual([page.status, page.location], [303, BYE]);
    equal(await isActive(app, here.tokens.refresh_token), false);
    equal(await isActive(app, beside.refresh_token), true);
  }
});

test('logout after the session idled out, as another is live: that one is asked about', async () => {
  const here = await signedIn();
  await later(AFTER_IDLING, async () => {
    const now = (await redeem(app, other, await here.agent.signIn(other.id, alice))).body;
    const hint = { id_token_hint: here.tokens.id_token, post_logout_redirect_uri: BYE };
    const page = await logout(here.agent, hint, CROSS);
    ok(isQuestion(page), page.body);
    equal(await isActive(app, here.tokens.refresh_token), false);
    equal(await isActive(app, now.refresh_token), true);
    const done = await here.agent.submit(page, {});
    deepEqual([done.status, done.location], [303, BYE]);
    equal(await isActive(app, now.refresh_token), false);
  });
});

test('logout with a hint of a session in another browser: neither returned nor "signed out"', async () => {
  const here = await signedIn();
  const hint = { id_token_hint: here.tokens.id_token, post_logout_redirect_uri: BYE };
  const page = await logout(new Agent(app), hint, CROSS);
  deepEqual([page.status, page.location], [200, undefined]);
  ok(!page.body.includes('You’re signed out'), page.body);
  await expectUntouched(here);
});

test('logout after the session idled out, with logout_needs_auth: the application asks', async () => {
  const careful = await app.register({ logout_needs_auth: true, post_logout_redirect_uris: [BYE] });
  const here = await signedIn(careful);
  const hint = { id_token_hint: here.tokens.id_token, post_logout_redirect_uri: BYE };
  await later(AFTER_IDLING, async () => {
    const page = await logout(new Agent(app), hint, CROSS);
    deepEqual([page.status, page.location], [200, undefined]);
    ok(!page.body.includes('You’re signed out'), page.body);
    equal((await call(app, 'GET', `/oauth2/logout?${new URLSearchParams(hint)}`)).status, 401);
    equal(await isActive(app, here.tokens.refresh_token), true);
    const answer = await postForm(app, '/oauth2/logout', hint, basic(careful));
    deepEqual([answer.status, answer.headers.get('location')], [303, BYE]);
    equal(await isActive(app, here.tokens.refresh_token), false);
  });
});

test('logout after the session idled out: a grant from before its sid was stored ends, too', async () => {
  const here = await signedIn();
  const live = await signedIn();
  const stored = app.store.collection(grants);
  for (const { id } of await stored.findBy('account', alice.id))
    await update(stored, id, ({ sid: _, ...value }) => ({ value }));
  await later(AFTER_IDLING, async () => {
    const later = (await redeem(app, client, await live.agent.signIn(client.id, alice))).body;
    const page = await logout(new Agent(app), { id_token_hint: here.tokens.id_token });
    expectSignedOutPage(page);
    equal(await isActive(app, here.tokens.refresh_token), false);
    equal(await isActive(app, later.refresh_token), true);
  });
});

test('logout without cookies: ends the access token’s session', async () => {
  const here = await signedIn();
  const { body: beside } = await redeem(app, other, await here.agent.signIn(other.id, alice));
  for (const method of ['GET', 'POST']) {
    const wrong = await call(app, method, '/oauth2/logout', { headers: bearer('x.y.z') });
    equal(wrong.status, 200);
  }
  await expectUntouched(here);
  const answer = await call(app, 'GET', '/oauth2/logout', { headers: bearer(here.tokens.access_token) });
  equal(answer.status, 200);
  match(answer.headers.get('content-type') ?? '', /^application\/json/);
  await expectOver(here);
  equal(await isActive(app, beside.access_token), false);
  equal(
    (await call(app, 'GET', '/oauth2/logout', { headers: bearer(here.tokens.access_token) })).status,
    200,
  );
});

test('logout with a token without a session: ends client credentials or refresh token', async () => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const own = await requestTokensOf(app, machine, { grant_type: 'client_credentials' });
  equal((await call(app, 'GET', '/oauth2/logout', { headers: bearer(own.access_token) })).status, 200);
  equal(await isActive(app, own.access_token), false);
});

test('logout: the sid of another client of the session is a valid hint too', async () => {
  const here = await signedIn();
  const { body } = await redeem(app, other, await here.agent.signIn(other.id, alice));
  ok(claimsOf(body.id_token).sid !== claimsOf(here.tokens.id_token).sid);
  const page = await logout(
    here.agent,
    { id_token_hint: body.id_token, post_logout_redirect_uri: 'https://other.example/bye' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  );
  deepEqual([page.status, page.location], [303, 'https://other.example/bye']);
  await expectOver(here);
});

test('logout and authorize by GET: an ID token with a hundred groups as hint', async () => {
  const groups = Array.from({ length: 100 }, (_, at) => `department-${'x'.repeat(50)}-${at}`);
  const member = await app.createUser('member');
  for (const name of groups) {
    await app.admin('POST', '/groups', { name });
    equal((await app.admin('POST', `/groups/${name}/members`, { user_id: member.id })).status, 200);
  }
  const agent = new Agent(app);
  const { id_token: hint } = await tokensOf(app, client, member, { scope: 'openid groups' }, agent);
  ok(hint.length > 8192, String(hint.length));
  const { response } = await agent.signIn(client.id, member, { prompt: 'none', id_token_hint: hint });
  ok(response.has('code'), String(response));
  const parameters = { id_token_hint: hint, post_logout_redirect_uri: BYE };
  // A form of another site comes without the cookie, and goes round by GET.
  const posted = await new Agent(app).post('/oauth2/logout', parameters, { headers: CROSS });
  ok(posted.location?.includes(hint), posted.location);
  const page = await logout(agent, parameters);
  deepEqual([page.status, page.location], [303, BYE]);
  const tooLong = await fetch(`${app.url}/oauth2/logout?state=${'x'.repeat(25_000)}`);
  equal(tooLong.status, 414);
  match(await tooLong.text(), /POST/);
});

test('logout confirmation: bound to the browser and keeps the request', async () => {
  const here = await signedIn();
  const cross = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const page = await logout(here.agent, { client_id: client.id, post_logout_redirect_uri: BYE }, cross);
  const fields = hiddenFields(page.body);
  deepEqual(Object.keys(fields).sort(), ['client_id', 'csrf', 'post_logout_redirect_uri']);
  const wrong = await here.agent.post('/oauth2/logout', { ...fields, csrf: 'guessed' }, { headers: cross });
  equal(wrong.status, 403);
  const crossed = await here.agent.post('/oauth2/logout', fields, { headers: cross });
  equal(crossed.status, 403);
  await expectUntouched(here);
});
