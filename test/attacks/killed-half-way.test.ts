// The process is killed at any write of an operation over several collections. From the
// first write on access is denied, and the rest is completed by the next start or a retry: deny first, clean up later.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { clients } from '../../src/store/collections.ts';
import { type Store, StoreUnavailable } from '../../src/store/port.ts';
import { claimsOf, isActive, postForm, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields, refresh } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { startReceiver } from '../support/receiver.ts';

/** `writeTogether` is asked for each of its documents: a death among them leaves none. */
const WRITES = new Set(['insert', 'put', 'replace', 'remove', 'removeBy', 'writeTogether']);
/** Written beside the act, by itself and at times of its own: what dies with it changes nothing of it. */
const BESIDE = new Set([
  'rates',
  'leases',
  'audit',
  'event_hours',
  'token_events',
  'pkce_runs',
  'client_refusals',
]);

/** A store whose process dies: from the n-th write on nothing reaches it until it is started again. */
function mortal(inner: Store) {
  let left = Number.POSITIVE_INFINITY;
  const store = createGuardedStore(inner, (name, method) => {
    if (WRITES.has(method) && !BESIDE.has(name)) left -= 1;
    if (left < 0) throw new StoreUnavailable('the process is dead');
  });
  return {
    store,
    dieAfter: (writes: number) => {
      left = writes;
    },
    /** @returns whether it had died */
    revive: (): boolean => {
      const isDead = left < 0;
      left = Number.POSITIVE_INFINITY;
      return isDead;
    },
  };
}

let clock: () => number = Date.now;
const inner = createMemoryStore({ clock: () => clock() });
const life = mortal(inner);
const receiver = await startReceiver();
const inside = `127.0.0.1:${receiver.port}`;
const app = await startApp({ shared: life.store, env: { OUTBOUND_ALLOW: inside } });
clock = app.now;
after(async () => {
  await app.stop();
  receiver.close();
});
const client = await app.register({ scope: 'openid offline_access', rotate_refresh_tokens: 'always' });
const second = await app.register({ scope: 'openid offline_access' });
const MOST = 60;

const isGone = async (id: string): Promise<boolean> => {
  for (const definition of allCollections) {
    // Logs keep ids until their retention ends.
    if (definition.name === 'audit' || definition.name === 'token_events') continue;
    const { items } = await inner.collection(definition).query({ sort: 'id', order: 'asc', limit: 1000 });
    if (items.some((item) => JSON.stringify(item).includes(id))) return false;
  }
  return true;
};

test('killed at each write of a user deletion: access ends at once, the next start completes', async (t) => {
  let died = 0;
  for (let writes = 0; writes < MOST; writes += 1) {
    const name = `deleted-${writes}`;
    const user = await app.createUser(name, { email: `${name}@example.com`, is_email_verified: true });
    const agent = new Agent(app);
    const scope = 'openid offline_access';
    const tokens = await tokensOf(app, client, user, { scope, prompt: 'consent' }, agent);
    life.dieAfter(writes);
    const { status } = await app.admin('DELETE', `/users/${user.id}`);
    if (!life.revive()) {
      equal(status, 204);
      ok(await isGone(user.id));
      break;
    }
    died += 1;
    equal(status, 503, `after ${writes} writes`);
    if (writes > 0) {
      const page = await agent.authorize({ ...codeRequest(client.id), prompt: 'none' });
      deepEqual(
        [
          await isActive(app, tokens.access_token),
          await isActive(app, tokens.refresh_token),
          (await userinfo(app, tokens.access_token)).status,
          (await refresh(app, client, tokens.refresh_token)).status,
          new URL(page.location ?? '').searchParams.get('error'),
        ],
        [false, false, 401, 400, 'login_required'],
        `after ${writes} writes`,
      );
      const other = new Agent(app);
      const typed = { username: name, password: PASSWORD };
      equal((await other.submit(await other.authorize(codeRequest(client.id)), typed)).status, 401);
      app.advance(7 * 3_600_000);
      await app.app.jobs.tick();
      equal(await isGone(user.id), true, `after ${writes} writes`);
    }
    const again = await app.admin('DELETE', `/users/${user.id}`);
    equal(again.status, writes === 0 ? 204 : 404);
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 5 && died < MOST, String(died));
});

test('killed at each write of a deletion by its owner: nothing counts, a job ends it', async (t) => {
  let died = 0;
  const { accounts } = app.app;
  for (let writes = 0; writes < MOST; writes += 1) {
    const user = await app.createUser(`leaving-${writes}`);
    const tokens = await tokensOf(app, client, user, { scope: 'openid offline_access', prompt: 'consent' });
    life.dieAfter(writes);
    const asked = accounts
      .requestDeletion(user.id, app.now())
      .then(() => accounts.ownDeletions.run())
      .catch(() => 'killed');
    const outcome = await asked;
    const hasDied = life.revive();
    equal(outcome, hasDied ? 'killed' : 1, `after ${writes} writes`);
    if (writes > 0) equal(await isActive(app, tokens.access_token), false, `after ${writes} writes`);
    else await accounts.requestDeletion(user.id, app.now());
    app.advance(7 * 3_600_000);
    await app.app.jobs.tick();
    equal(await isGone(user.id), true, `after ${writes} writes`);
    if (!hasDied) break;
    died += 1;
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 5 && died < MOST, String(died));
});

test('killed at each write of a revocation: reported as failed, completed by a retry', async (t) => {
  const user = await app.createUser('revoked');
  let died = 0;
  for (let writes = 0; writes < MOST; writes += 1) {
    const scope = 'openid offline_access';
    const tokens = await tokensOf(app, client, user, { scope, prompt: 'consent' });
    life.dieAfter(writes);
    const { status } = await postForm(app, '/oauth2/revoke', { token: tokens.refresh_token });
    const hasDied = life.revive();
    equal(status, hasDied ? 503 : 200, `after ${writes} writes`);
    const again = await postForm(app, '/oauth2/revoke', { token: tokens.refresh_token });
    equal(again.status, 200);
    for (const token of [tokens.refresh_token, tokens.access_token])
      equal(await isActive(app, token), false, `after ${writes} writes`);
    if (!hasDied) break;
    died += 1;
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 1 && died < MOST, String(died));
});

/** Signed in at two applications: what the session gave are two grants, of which one may be gone and the other not. */
async function signedInTwice(user: { username: string }) {
  const agent = new Agent(app);
  const parameters = { scope: 'openid offline_access', prompt: 'consent' };
  const one = await tokensOf(app, client, user, parameters, agent);
  const other = await tokensOf(app, second, user, parameters, agent);
  const tokens = [one, other].flatMap((given) => [given.access_token, given.refresh_token]);
  return { agent, bearer: one.access_token, tokens };
}

const waysOut: Readonly<
  Record<string, (own: Awaited<ReturnType<typeof signedInTwice>>) => () => Promise<{ status: number }>>
> = {
  'by the browser': ({ agent }) => {
    const cookies = agent.cookiesFor('/oauth2/authorize');
    return () => {
      // The same browser once more, with whatever it had kept.
      const again = new Agent(app);
      again.plant(cookies);
      return again.get('/oauth2/logout');
    };
  },
  'by an access token': ({ bearer }) => {
    const headers = { Authorization: `Bearer ${bearer}` };
    return () => fetch(`${app.url}/oauth2/logout`, { headers });
  },
};
for (const [way, open] of Object.entries(waysOut)) {
  test(`killed at each write of a sign-out ${way}: succeeds only with every token dead`, async (t) => {
    const user = await app.createUser(`leaving-${way.replaceAll(' ', '-')}`);
    let died = 0;
    for (let writes = 0; writes < MOST; writes += 1) {
      const own = await signedInTwice(user);
      const cookies = own.agent.cookiesFor('/oauth2/authorize');
      const leave = open(own);
      life.dieAfter(writes);
      const answer = await leave();
      const hasDied = life.revive();
      equal(answer.status, hasDied ? 503 : 200, `after ${writes} writes`);
      if (hasDied) {
        // Asked again and dead again: not told as done either. A third time it is.
        life.dieAfter(0);
        const { status } = await leave();
        if (life.revive()) equal(status, 503, `twice after ${writes} writes`);
        equal((await leave()).status, 200, `after ${writes} writes`);
      }
      for (const token of own.tokens) equal(await isActive(app, token), false, `after ${writes} writes`);
      const back = new Agent(app);
      back.plant(cookies);
      const page = await back.authorize({ ...codeRequest(client.id), prompt: 'none' });
      equal(
        new URL(page.location ?? '').searchParams.get('error'),
        'login_required',
        `after ${writes} writes`,
      );
      if (!hasDied) break;
      died += 1;
    }
    t.diagnostic(`killed at ${died} writes`);
    ok(died >= 3 && died < MOST, String(died));
  });
}

test('killed at each write of a sign-out: the application gets its logout token all the same', async (t) => {
  const notified = await app.register({ backchannel_logout_uri: `http://${inside}/` });
  const user = await app.createUser('notified');
  const heard = (sid: unknown): boolean =>
    receiver.received.some(
      ({ body }) => claimsOf(new URLSearchParams(body).get('logout_token') ?? '').sid === sid,
    );
  let died = 0;
  for (let writes = 0; writes < MOST; writes += 1) {
    const agent = new Agent(app);
    const { sid } = claimsOf((await tokensOf(app, notified, user, {}, agent)).id_token);
    const again = new Agent(app);
    again.plant(agent.cookiesFor('/oauth2/authorize'));
    life.dieAfter(writes);
    await agent.get('/oauth2/logout');
    // What is sent beside the answer writes, too.
    await wait(100);
    const hasDied = life.revive();
    if (hasDied) equal((await again.get('/oauth2/logout')).status, 200, `after ${writes} writes`);
    app.advance(120_000);
    await app.app.jobs.tick();
    for (let tries = 0; !heard(sid) && tries < 1200; tries += 1) await wait(50);
    ok(heard(sid), `after ${writes} writes`);
    if (!hasDied) break;
    died += 1;
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 4 && died < MOST, String(died));
});

const takingTrust: Readonly<Record<string, object>> = {
  skip_consent: { skip_consent: false },
  is_active: { is_active: false },
};
for (const [member, change] of Object.entries(takingTrust)) {
  test(`killed at each write of removing ${member} of a client: completed by a retry or the job`, async (t) => {
    const user = await app.createUser(`trusting-${member.replace('_', '-')}`);
    let died = 0;
    for (let writes = 0; writes < MOST; writes += 1) {
      const results: boolean[] = [];
      let hasDied = false;
      for (const finish of ['asked again', 'the job']) {
        const trusted = await app.register({ scope: 'openid offline_access', skip_consent: true });
        const scope = 'openid offline_access';
        const tokens = await tokensOf(app, trusted, user, { scope });
        life.dieAfter(writes);
        const { status } = await app.admin('PATCH', `/clients/${trusted.id}`, change);
        hasDied = life.revive();
        equal(status, hasDied ? 503 : 200, `after ${writes} writes`);
        if (hasDied && (finish === 'asked again' || writes === 0)) {
          equal((await app.admin('PATCH', `/clients/${trusted.id}`, change)).status, 200);
        } else if (hasDied) {
          // Each round later than the one before, so that the job is due.
          const ahead = 7 * 3_600_000 + writes * 600_000;
          app.advance(ahead);
          await app.app.jobs.tick();
          app.advance(-ahead);
        }
        equal(
          (await inner.collection(clients).find(trusted.id))?.value.isEnding,
          undefined,
          `after ${writes} writes`,
        );
        // On again, so that it is not the switch by which they are dead.
        equal((await app.admin('PATCH', `/clients/${trusted.id}`, { is_active: true })).status, 200);
        for (const token of [tokens.access_token, tokens.refresh_token])
          results.push(await isActive(app, token));
      }
      deepEqual(results, [false, false, false, false], `after ${writes} writes`);
      if (!hasDied) break;
      died += 1;
    }
    t.diagnostic(`killed at ${died} writes`);
    ok(died >= 3 && died < MOST, String(died));
  });
}

test('client trusted again after an interrupted withdrawal: its new tokens stay valid', async () => {
  const user = await app.createUser('trusting-again');
  const trusted = await app.register({ scope: 'openid offline_access', skip_consent: true });
  life.dieAfter(1);
  const { status } = await app.admin('PATCH', `/clients/${trusted.id}`, { skip_consent: false });
  equal(life.revive(), true);
  equal(status, 503);
  equal((await app.admin('PATCH', `/clients/${trusted.id}`, { skip_consent: true })).status, 200);
  const tokens = await tokensOf(app, trusted, user, { scope: 'openid offline_access' });
  app.advance(7 * 3_600_000);
  await app.app.jobs.tick();
  app.advance(-7 * 3_600_000);
  equal(await isActive(app, tokens.refresh_token), true);
});

test('killed at each write of a refresh: never two live tokens, and sign-in works', async (t) => {
  const user = await app.createUser('refreshing');
  let died = 0;
  for (let writes = 0; writes < MOST; writes += 1) {
    const scope = 'openid offline_access';
    const { refresh_token: first } = await tokensOf(app, client, user, { scope, prompt: 'consent' });
    life.dieAfter(writes);
    const answer = await refresh(app, client, first);
    const hasDied = life.revive();
    if (!hasDied) {
      equal(answer.status, 200);
      break;
    }
    died += 1;
    equal(answer.status, 503, `after ${writes} writes`);
    // Whoever repeats it has one token from it, or none: what was written before is not beside it.
    const repeated = await refresh(app, client, first);
    const { body } = await app.admin('GET', `/tokens?kind=refresh_token&user_id=${user.id}`);
    const alive = (body.data.items ?? []).filter(({ is_active }) => is_active !== false);
    const count = repeated.status === 200 ? 1 : 0;
    if (repeated.status === 200) {
      equal(await isActive(app, repeated.body.refresh_token), true);
      notEqual(repeated.body.refresh_token, first);
      equal(await isActive(app, first), false);
    }
    ok(alive.length <= Math.max(count, 1), `after ${writes} writes ${alive.length} are alive`);
    equal((await postForm(app, '/oauth2/revoke', { token: first })).status, 200);
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 2 && died < MOST, String(died));
});

test('killed at each write of onboarding: an administrator or the page again, never neither', async (t) => {
  let died = 0;
  const onboard = async (at: TestApp): Promise<number> => {
    const agent = new Agent(at);
    const page = await agent.get('/onboard');
    if (page.status === 404) return 404;
    return (
      await agent.post('/onboard', {
        ...hiddenFields(page.body),
        username: 'first-admin',
        password: PASSWORD,
        confirm_password: PASSWORD,
        email: 'first@example.com',
      })
    ).status;
  };
  for (let writes = 0; writes < MOST; writes += 1) {
    const fresh = mortal(createMemoryStore({ clock: Date.now }));
    const started = await startApp({ shared: fresh.store });
    try {
      fresh.dieAfter(writes);
      const status = await onboard(started);
      const hasDied = fresh.revive();
      const { body } = await started.admin('GET', '/users?role=admin');
      const admins = body.data.items?.length ?? 0;
      ok(admins <= 1);
      const again = await onboard(started);
      if (admins === 0) equal(again, 303, `after ${writes} writes the page is closed and nobody is in`);
      const { body: later } = await started.admin('GET', '/users?role=admin');
      equal(later.data.items?.length, 1, `after ${writes} writes`);
      if (!hasDied) {
        equal(status, 303);
        break;
      }
      died += 1;
    } finally {
      await started.stop();
    }
  }
  t.diagnostic(`killed at ${died} writes`);
  ok(died >= 2 && died < MOST, String(died));
});
