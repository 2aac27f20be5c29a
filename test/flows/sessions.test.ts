// SSO sessions (decisions 0006 and 0010): one sign-in for all clients, what is recorded, and how they end.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { oidcSessions } from '../../src/store/protocol-collections.ts';
import { Agent, codeRequest, type Page, redeem, refresh } from '../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { type Client, change, claimsOf, isActive, later, sessionsOf, tokensOf, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ client_name: 'First' });
const other = await app.register({ client_name: 'Second' });
const guest = await app.register({ client_name: 'Third', skip_consent: false });

const authorize = (agent: Agent, to: Client, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({
    ...codeRequest(to.id),
    ...more,
  });

const isSignedIn = async (agent: Agent, to: Client): Promise<boolean> => {
  const page = await authorize(agent, to);
  if (page.status === 200) ok(page.body.includes('name="password"'), page.body);
  return page.status === 303 && new URL(page.location ?? '').searchParams.has('code');
};

test('single sign-on: a second client needs no form and keeps auth_time', async () => {
  const alice = await app.createUser('alice');
  const agent = new Agent(app);
  const first = await tokensOf(app, client, alice, {}, agent);
  const page = await authorize(agent, other);
  deepEqual([page.status, page.location?.startsWith(REDIRECT_URI)], [303, true]);
  equal(page.headers.get('cache-control'), 'no-store');
  const silent = await later(60_000, async () => {
    const { status, body } = await redeem(app, other, await agent.signIn(other.id, { username: 'nobody' }));
    equal(status, 200);
    return body;
  });
  equal(claimsOf(silent.id_token).sub, alice.id);
  equal(claimsOf(silent.id_token).auth_time, claimsOf(first.id_token).auth_time);
  notEqual(claimsOf(silent.id_token).sid, claimsOf(first.id_token).sid);
  equal((await sessionsOf(app, alice.id)).length, 1);
  equal(await isSignedIn(new Agent(app), client), false);
});

test('session: shows user, address, browser, times and clients', async () => {
  const bob = await app.createUser('bob');
  const agent = new Agent(app);
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const page = await agent.request(
    `${app.url}/oauth2/authorize?${new URLSearchParams(codeRequest(client.id))}`,
    { headers },
  );
  await agent.finish(page, bob);
  const [session = {}, ...more] = await sessionsOf(app, bob.id);
  deepEqual(more, []);
  deepEqual(
    [session.user_id, session.username, session.ip_address, session.amr, session.is_active, session.ended_at],
    [bob.id, 'bob', '127.0.0.1', ['pwd'], true, null],
  );
  deepEqual(session.clients, [{ client_id: client.id, client_name: 'First' }]);
  ok(String(session.user_agent).length > 0 && String(session.device).length > 0);
  const created = Date.parse(String(session.created_at));
  ok(Math.abs(Date.now() - created) < 30_000);
  ok(Date.parse(String(session.expires_at)) - created >= 14_400_000 - 2000);

  await later(120_000, async () => {
    await authorize(agent, other, {});
    const [now = {}] = await sessionsOf(app, bob.id);
    deepEqual((now.clients as { client_name: string }[]).map(({ client_name }) => client_name).sort(), [
      'First',
      'Second',
    ]);
    ok(Date.parse(String(now.last_activity_at)) - Date.parse(String(session.last_activity_at)) >= 119_000);
    equal(now.id, session.id);
  });
});

test('session ended by an administrator: its tokens and browser are out, others stay', async () => {
  const carol = await app.createUser('carol');
  const [laptop, phone] = [new Agent(app), new Agent(app)];
  const first = await tokensOf(app, client, carol, {}, laptop);
  const [{ id } = {}] = await sessionsOf(app, carol.id);
  const second = await tokensOf(app, client, carol, {}, phone);
  equal((await app.admin('DELETE', `/sessions/${id}`)).status, 204);
  deepEqual(
    [await isActive(app, first.access_token), await isActive(app, first.refresh_token)],
    [false, false],
  );
  deepEqual([await isActive(app, second.access_token), await isSignedIn(phone, client)], [true, true]);
  equal(await isSignedIn(laptop, client), false);
  const ended = await app.admin('GET', `/sessions/${id}`);
  deepEqual([ended.body.data.is_active, typeof ended.body.data.ended_at], [false, 'string']);
  equal((await app.admin('DELETE', '/sessions/nothing')).status, 404);

  const dave = await app.createUser('dave');
  const [{ id: theirs } = {}] =
    (await app.admin('GET', `/users/${carol.id}/sessions?is_active=true`)).body.data.items ?? [];
  equal(
    (await app.admin('DELETE', `/users/${dave.id}/sessions/${theirs}`)).status,
    404,
    "another person's (R068)",
  );
  equal(await isSignedIn(phone, client), true);
});

async function timed(
  settings: Record<string, number>,
  act: (own: TestApp, mine: Client, agent: Agent) => Promise<void>,
): Promise<void> {
  await withApp({}, async (own) => {
    await change(own, settings);
    const [mine, erin] = [await own.register(), await own.createUser('erin')];
    const agent = new Agent(own);
    await agent.signIn(mine.id, erin);
    await act(own, mine, agent);
  });
}

test('idle limit: a session ends without activity, and use extends it', async () => {
  await timed({ session_idle_seconds: 100 }, async (own, mine, agent) => {
    equal(await later(98_000, () => isSignedIn(agent, mine)), true);
    equal(await later(196_000, () => isSignedIn(agent, mine)), true, 'the use before counted');
    equal(await later(298_000, () => isSignedIn(agent, mine)), false);
    equal((await own.admin('GET', '/sessions?is_active=true')).status, 200);
  });
});

test('absolute limit: use does not extend it (R061)', async () => {
  await timed({ session_idle_seconds: 100, session_absolute_seconds: 250 }, async (own, mine, agent) => {
    for (const at of [90_000, 180_000, 248_000]) equal(await later(at, () => isSignedIn(agent, mine)), true);
    equal(await later(252_000, () => isSignedIn(agent, mine)), false);
    await later(252_000, async () => {
      const { body } = await own.admin('GET', '/sessions?is_active=true');
      deepEqual(body.data.items, []);
    });
  });
});

const HOUR = 3_600_000;

/** Refreshes every `step` hours. @returns whether the browser is still signed in at `asked` hours */
async function staysSignedIn(
  user: { readonly username: string },
  { to = client, scope = 'openid', steps = [3, 6], asked = 9 } = {},
): Promise<boolean> {
  const agent = new Agent(app);
  let token = (await tokensOf(app, to, user, { scope }, agent)).refresh_token;
  for (const hours of steps)
    token = await later(hours * HOUR, async () => {
      const { status, body } = await refresh(app, to, token);
      equal(status, 200, JSON.stringify(body));
      return body.refresh_token;
    });
  return later(asked * HOUR, () => isSignedIn(agent, client));
}

test('idle limit: a refresh of a first-party application counts as use, of others it does not', async () => {
  const uma = await app.createUser('uma');
  const boss = await app.createUser('boss', { role: 'admin' });
  equal(await staysSignedIn(uma), true);
  const [session] = await sessionsOf(app, uma.id);
  ok(Date.parse(String(session?.last_activity_at)) > Date.now() + 5 * HOUR, JSON.stringify(session));
  equal(await staysSignedIn(uma, { to: guest }), false, 'of a third party');
  equal(await staysSignedIn(uma, { scope: 'openid offline_access' }), false, 'with offline_access');
  equal(await staysSignedIn(boss), false, 'of an administrator');
  equal(await staysSignedIn(uma, { steps: [3, 6, 9, 11.9], asked: 15 }), true);
  equal(await staysSignedIn(uma, { steps: [3, 6, 9, 11.5, 13, 15], asked: 15.6 }), false, 'unseen for 12 h');
  equal(await staysSignedIn(uma, { steps: [5], asked: 5 }), false, 'over before the refresh');
  await change(app, { refresh_extends_session: false });
  equal(await staysSignedIn(uma), false, 'by the setting');
  await change(app, { refresh_extends_session: true });
});

test('idle limit: a refresh is no authentication, and one a minute is written', async () => {
  const vera = await app.createUser('vera');
  const agent = new Agent(app);
  const tokens = await tokensOf(app, client, vera, { scope: 'openid' }, agent);
  await later(3 * HOUR, async () => {
    const first = (await refresh(app, client, tokens.refresh_token)).body;
    const [stored] = await app.store.ephemeral(oidcSessions).findBy('account', vera.id);
    await refresh(app, client, first.refresh_token);
    deepEqual(await app.store.ephemeral(oidcSessions).findBy('account', vera.id), [stored]);
    const page = await authorize(agent, client, { max_age: '3600' });
    ok(page.body.includes('name="password"'), page.body);
  });
});

test('session limits: a shorter setting applies to running sessions at once (R061)', async () => {
  await timed({}, async (own, mine, agent) => {
    await change(own, { session_idle_seconds: 50 });
    equal(await later(48_000, () => isSignedIn(agent, mine)), true);
    equal(await later(100_000, () => isSignedIn(agent, mine)), false);
  });
  await timed({}, async (own, mine, agent) => {
    await change(own, { session_idle_seconds: 50 });
    equal(await later(52_000, () => isSignedIn(agent, mine)), false, 'without a use in between');
  });
  await timed({}, async (own, mine, agent) => {
    await change(own, { session_idle_seconds: 50, session_absolute_seconds: 50 });
    equal(await later(48_000, () => isSignedIn(agent, mine)), true);
    equal(await later(52_000, () => isSignedIn(agent, mine)), false);
  });
});

test('attack: truncated, altered, unsigned and renamed session cookies', async () => {
  const frank = await app.createUser('frank');
  const agent = new Agent(app);
  await agent.signIn(client.id, frank);
  const pairs = new Map(
    agent
      .cookiesFor('/oauth2/authorize')
      .split('; ')
      .map((pair): [string, string] => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
  );
  const [value = '', signature = ''] = ['latchkey_session', 'latchkey_session.sig'].map(
    (name) => pairs.get(name) ?? '',
  );
  match(value, /^[\w-]{21,}$/);
  ok(signature !== '');
  const query = new URLSearchParams(codeRequest(client.id));
  const statusWith = async (cookie: string): Promise<number> => {
    const response = await fetch(`${app.url}/oauth2/authorize?${query}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    await response.text();
    return response.status;
  };
  equal(await statusWith(`latchkey_session=${value}; latchkey_session.sig=${signature}`), 303);
  const { body } = await app.admin('GET', `/users/${frank.id}/sessions`);
  const uid = String(body.data.items?.[0]?.id);
  for (const cookie of [
    `latchkey_session=${value}`,
    `latchkey_session=${value}; latchkey_session.sig=`,
    `latchkey_session=${value}; latchkey_session.sig=${signature.slice(0, -1)}`,
    `latchkey_session=${value.slice(1)}; latchkey_session.sig=${signature}`,
    `latchkey_session=${uid}; latchkey_session.sig=${signature}`,
    `latchkey_session=${value}x; latchkey_session.sig=${signature}`,
    'latchkey_session=%00; latchkey_session.sig=%ff',
    `latchkey_session=${'x'.repeat(4000)}; latchkey_session.sig=x`,
    `_session=${value}; _session.sig=${signature}`,
  ]) {
    equal(await statusWith(cookie), 200, cookie.slice(0, 80));
  }
});
