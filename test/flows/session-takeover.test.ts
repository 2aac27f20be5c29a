// Attacks on sessions: the identifier changes at sign-in, a sign-in belongs to the browser it was started
// in, and two users of one browser share nothing.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, hiddenFields, type Page, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { call, claimsOf, isActive, sessionsOf, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const other = await app.register();
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');

const parameters = codeRequest(client.id);
const authorize = (agent: Agent, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...parameters, ...more });

/** The session cookie with its signature, as one Cookie header. */
const sessionCookie = (agent: Agent): string =>
  agent
    .cookiesFor('/oauth2/authorize')
    .split('; ')
    .filter((pair) => pair.startsWith('latchkey_session'))
    .sort()
    .join('; ');

const isSignedInWith = async (cookie: string): Promise<boolean> => {
  const answer = await call(app, 'GET', `/oauth2/authorize?${new URLSearchParams(parameters)}`, {
    headers: { cookie },
  });
  return answer.status === 303 && (answer.headers.get('location') ?? '').includes('code=');
};

test('attack: session fixation; a cookie from before the sign-in is void after it', async () => {
  const agent = new Agent(app);
  await agent.get('/oauth2/device');
  const planted = sessionCookie(agent);
  match(planted, /latchkey_session=[\w-]+/);
  await agent.finish(await authorize(agent), alice);
  const real = sessionCookie(agent);
  notEqual(real, planted);
  deepEqual([await isSignedInWith(real), await isSignedInWith(planted)], [true, false]);
});

test('session id: changes at every authentication and account switch; the old one is void', async () => {
  const agent = new Agent(app);
  const seen = new Map<string, string>();
  const note = async (what: string): Promise<void> => {
    const cookie = sessionCookie(agent);
    equal(await isSignedInWith(cookie), true, what);
    for (const [before, old] of seen) {
      notEqual(cookie, old, what);
      equal(await isSignedInWith(old), false, `${before} after ${what}`);
    }
    seen.set(what, cookie);
  };
  await agent.finish(await authorize(agent), alice);
  await note('sign-in');
  await agent.finish(await authorize(agent, { prompt: 'login' }), alice);
  await note('the same person again');
  await agent.finish(await authorize(agent, { prompt: 'login' }), bob);
  await note('another person');
});

test('account switch in one browser: the first user’s session and tokens end', async () => {
  const agent = new Agent(app);
  const first = await tokensOf(app, client, alice, {}, agent);
  await agent.signIn(other.id, alice);
  const [{ id: session } = {}] = (await sessionsOf(app, alice.id)).filter(({ is_active }) => is_active);
  const { status, body } = await redeem(app, client, await agent.signIn(client.id, bob, { prompt: 'login' }));
  equal(status, 200);
  equal(claimsOf(body.id_token).sub, bob.id);
  notEqual(claimsOf(body.id_token).sid, claimsOf(first.id_token).sid);
  for (const token of [first.access_token, first.refresh_token]) equal(await isActive(app, token), false);
  equal((await refresh(app, client, first.refresh_token)).body.error, 'invalid_grant');
  const ended = await app.admin('GET', `/sessions/${session}`);
  equal(ended.body.data.is_active, false);
  equal(await isActive(app, body.access_token), true);
  // The second application, where only the first person was, now meets the second person.
  const there = await redeem(app, other, await agent.signIn(other.id, alice));
  equal(claimsOf(there.body.id_token).sub, bob.id);
});

test('attack: the previous user’s page left open acts as the next user (R060)', async () => {
  const agent = new Agent(app);
  const asking = await app.register({ skip_consent: false });
  await agent.signIn(client.id, alice);
  const consent = await authorize(agent, { client_id: asking.id });
  ok(consent.body.includes('/oauth2/consent'));
  await agent.signIn(client.id, bob, { prompt: 'login' });
  const late = await agent.submit(consent, { action: 'allow' });
  ok(!(late.location ?? '').includes('code='), late.location);
  deepEqual([late.status, late.body.includes('<form')], [400, false]);
  const asked = await authorize(agent, { client_id: asking.id, prompt: 'none' });
  match(asked.location ?? '', /error=consent_required/);
});

test('attack: a sign-in started in one browser is finished in another (R059)', async () => {
  const [victim, attacker] = [new Agent(app), new Agent(app)];
  const page = await authorize(victim);
  const fields = hiddenFields(page.body);
  const { interaction = '' } = fields;
  await authorize(attacker);
  const posted = await attacker.post('/oauth2/login', { ...fields, username: 'bob', password: PASSWORD });
  ok([400, 403].includes(posted.status) && posted.location === undefined, String(posted.status));
  const shown = await attacker.get(`/oauth2/login?interaction=${interaction}`);
  deepEqual([shown.status, shown.body.includes('<form')], [400, false]);
  // The attacker's own form with the victim's interaction (login CSRF): the victim would be signed in as the attacker.
  const own = hiddenFields((await authorize(attacker)).body);
  for (const mixed of [
    { ...own, interaction },
    { ...fields, interaction: own.interaction ?? '' },
  ]) {
    const answer = await victim.post('/oauth2/login', { ...mixed, username: 'bob', password: PASSWORD });
    ok([400, 403].includes(answer.status), String(answer.status));
  }
  // After the victim has proven himself, the attacker goes to the address where it goes on.
  const proven = await victim.post('/oauth2/login', { ...fields, username: 'alice', password: PASSWORD });
  deepEqual(
    [proven.status, new URL(proven.location ?? '').pathname],
    [303, `/oauth2/authorize/${interaction}`],
  );
  const stolen = await attacker.get(proven.location ?? '');
  deepEqual([stolen.status, stolen.location], [400, undefined]);
  const callback = await victim.follow(proven);
  ok((callback.location ?? '').includes('code='));
});

test('attack: a finished sign-in is replayed by form or address (R059)', async () => {
  const agent = new Agent(app);
  const page = await authorize(agent);
  const fields = { ...hiddenFields(page.body), username: 'alice', password: PASSWORD };
  const proven = await agent.post('/oauth2/login', fields);
  await agent.follow(proven);
  for (const answer of [
    await agent.post('/oauth2/login', fields),
    await agent.get(proven.location ?? ''),
    await agent.get(`/oauth2/login?interaction=${hiddenFields(page.body).interaction}`),
  ]) {
    deepEqual([answer.status, answer.location], [400, undefined]);
    ok(!answer.body.includes('name="password"'));
  }
});

test('attack: resuming without authentication leads to the sign-in page, not to a code', async () => {
  const agent = new Agent(app);
  const { interaction = '' } = hiddenFields((await authorize(agent)).body);
  const page = await agent.follow(await agent.get(`/oauth2/authorize/${interaction}`));
  deepEqual([page.status, page.location], [200, undefined]);
  ok(page.body.includes('name="password"'));
  ok((await agent.finish(page, alice)).searchParams.get('code'), 'and that page works');
  for (const wrong of ['x', '../authorize', '%00', 'a'.repeat(1000)])
    equal((await agent.get(`/oauth2/authorize/${encodeURIComponent(wrong)}`)).status >= 400, true, wrong);
});

test('attack: the form without, with a foreign token, or from another site (CSRF)', async () => {
  const agent = new Agent(app);
  const fields = { ...hiddenFields((await authorize(agent)).body), username: 'alice', password: PASSWORD };
  const elsewhere = hiddenFields((await authorize(agent)).body);
  const refused: readonly [Record<string, string>, Record<string, string>][] = [
    [{ ...fields, csrf: '' }, {}],
    [{ ...fields, csrf: 'guessed' }, {}],
    [{ ...fields, csrf: elsewhere.csrf ?? '' }, {}],
    [fields, { 'sec-fetch-site': 'cross-site' }],
    [fields, { origin: 'https://evil.example' }],
  ];
  for (const [form, headers] of refused) {
    const answer = await agent.post('/oauth2/login', form, { headers });
    deepEqual([answer.status, answer.location], [403, undefined]);
  }
  const withoutCookies = await new Agent(app).post('/oauth2/login', fields);
  deepEqual([withoutCookies.status, withoutCookies.location], [400, undefined]);
  equal((await agent.post('/oauth2/login', fields, { headers: { origin: app.url } })).status, 303);
});

test('two tabs: sign in side by side', async () => {
  const agent = new Agent(app);
  const [one, two] = [
    await authorize(agent, { state: 'one' }),
    await authorize(agent, { state: 'two', client_id: other.id }),
  ];
  const first = await agent.finish(one, alice);
  const second = await agent.finish(two, alice);
  deepEqual([first.searchParams.get('state'), second.searchParams.get('state')], ['one', 'two']);
  ok(first.searchParams.get('code') && second.searchParams.get('code'));
});

test('cookies: HttpOnly, SameSite=Lax, signed; Secure with __Host- under https', async () => {
  const cookiesOf = async (env: Record<string, string>): Promise<string[]> => {
    const own = await startApp({ env });
    try {
      const mine = await own.register();
      const response = await fetch(
        `${own.url}/oauth2/authorize?${new URLSearchParams({ ...parameters, client_id: mine.id })}`,
      );
      const device = await fetch(`${own.url}/oauth2/device`);
      return [...response.headers.getSetCookie(), ...device.headers.getSetCookie()];
    } finally {
      await own.stop();
    }
  };
  const plain = await cookiesOf({});
  ok(plain.length >= 5, String(plain));
  for (const cookie of plain) match(cookie, /; httponly/i, cookie);
  for (const cookie of plain) match(cookie, /; samesite=lax/i, cookie);
  const secure = await cookiesOf({ BASE_URL: 'https://id.example.com' });
  ok(secure.length >= 5, String(secure));
  for (const cookie of secure) {
    match(cookie, /; secure/i, cookie);
    match(cookie, /^__(?:Host|Secure)-latchkey_/, cookie);
    if (cookie.startsWith('__Host-'))
      ok(/; path=\/(?:;|$)/i.test(cookie) && !/; domain=/i.test(cookie), cookie);
  }
});
