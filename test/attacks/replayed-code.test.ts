// Attack: an authorization code is sent again, at once or later, by whoever else has it (RFC 6749 §4.1.2, decision 0017). What it
// gave ends, also what the first request is only now being given; a duplicate of the application's own with the right verifier,
// which began before the first answer (React's strict mode), ends nothing.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { createRedisStore } from '../../adapters/redis/store.ts';
import { createSplitStore } from '../../adapters/split.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { Store } from '../../src/store/port.ts';
import { accessTokens } from '../../src/store/protocol-collections.ts';
import { basic, type Client, isActive } from '../flows/support.ts';
import { Agent, requestTokens, type Tokens } from '../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { startMongoServer } from '../support/mongodb-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';
import { atOnce, sized } from './sizes.ts';

const ISSUER = 'https://id.example.com/oauth2';
const PARALLEL = sized(20, 50);
const ROUNDS = sized(1, 30);
const clock = Date.now;

interface Backend {
  /** The store of one more process. */
  open(): Promise<Store>;
  close(): Promise<void>;
}

const backends: Readonly<Record<string, () => Promise<Backend>>> = {
  async memory() {
    const store = createMemoryStore({ clock });
    return { open: async () => store, close: () => store.close() };
  },
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-replayed-'));
    const file = join(folder, 'test.db');
    return {
      open: async () => createSqliteStore({ file, clock, definitions: allCollections }),
      close: () => rm(folder, { recursive: true }),
    };
  },
  async mongodb() {
    const mongo = await startMongoServer();
    const uri = mongo.freshUri();
    return {
      open: () => createMongoStore({ uri, clock, definitions: allCollections, timeoutMs: 30_000 }),
      close: () => mongo.stop(),
    };
  },
  async 'mongodb and redis'() {
    const [mongo, redis] = [await startMongoServer(), await startRedis()];
    const uri = mongo.freshUri();
    const ephemeral = allCollections.filter(({ durability }) => durability === 'ephemeral');
    return {
      async open() {
        const store = await createMongoStore({ uri, clock, definitions: allCollections, timeoutMs: 30_000 });
        const short = await createRedisStore({ url: redis.url, clock, definitions: ephemeral });
        return createSplitStore({
          durable: { name: 'mongodb', store },
          ephemeral: { name: 'redis', store: short },
          clock,
          changes: short.changes,
          announced: [],
        });
      },
      async close() {
        await Promise.all([mongo.stop(), redis.stop()]);
      },
    };
  },
};

type Fields = Record<string, string>;
interface Redeemer {
  readonly app: TestApp;
  readonly client: Client;
  readonly send: (fields: Fields, to?: TestApp) => Promise<Tokens>;
  /** A code with a challenge, or without one, as its request to the token endpoint. */
  readonly code: (isWithVerifier: boolean) => Promise<Fields>;
  readonly refresh: (token: string) => Promise<Tokens>;
}

async function redeemer(app: TestApp): Promise<Redeemer> {
  const client = await app.register();
  const user = await app.createUser(`user-${Math.random().toString(36).slice(2)}`);
  const agent = new Agent(app);
  const send = (fields: Fields, to = app): Promise<Tokens> => requestTokens(to, client, fields);
  return {
    app,
    client,
    send,
    async code(isWithVerifier) {
      const without = { code_challenge: undefined, code_challenge_method: undefined, nonce: 'n' };
      const { code, verifier } = await agent.signIn(client.id, user, isWithVerifier ? {} : without);
      ok(code !== '');
      const grant = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
      return isWithVerifier ? { ...grant, code_verifier: verifier } : grant;
    },
    refresh: (token) => send({ grant_type: 'refresh_token', refresh_token: token }),
  };
}

async function expectLife({ app, refresh }: Redeemer, { body }: Tokens, isAlive: boolean, what: string) {
  equal(await isActive(app, body.access_token), isAlive, `${what}: access token`);
  equal(await isActive(app, body.refresh_token), isAlive, `${what}: refresh token`);
  const { status, body: refreshed } = await refresh(body.refresh_token);
  deepEqual([status, refreshed.error], isAlive ? [200, undefined] : [400, 'invalid_grant'], what);
}

function winnerOf(answers: readonly Tokens[]): Tokens {
  const [winner, ...others] = answers.filter(({ status }) => status === 200);
  ok(winner !== undefined && others.length === 0, answers.map(({ status }) => status).join());
  for (const { status, body } of answers)
    if (status !== 200) deepEqual([status, body.error], [400, 'invalid_grant']);
  return winner;
}

for (const [name, start] of Object.entries(backends)) {
  describe(`replayed code, ${name}`, () => {
    let backend: Backend | undefined;
    const stores = new Set<Store>();
    const apps: TestApp[] = [];
    const opened = async (): Promise<[Redeemer, TestApp]> => {
      backend ??= await start();
      while (apps.length < 2) {
        const shared = await backend.open();
        stores.add(shared);
        apps.push(await startApp({ shared, env: { ISSUER } }));
      }
      const [app, other] = apps;
      if (app === undefined || other === undefined) throw new Error('two are needed');
      return [await redeemer(app), other];
    };
    after(async () => {
      for (const app of apps) await app.stop();
      for (const store of stores) await store.close().catch(() => undefined);
      if (name !== 'memory') await backend?.close();
    });

    test(`race: one code without challenge, ${PARALLEL} at once: what the winner got ends`, async () => {
      const [one, other] = await opened();
      for (let round = 0; round < ROUNDS; round += 1) {
        const fields = await one.code(false);
        const answers = await atOnce(PARALLEL, (at) => one.send(fields, at % 2 ? other : one.app));
        await expectLife(one, winnerOf(answers), false, `round ${round}`);
      }
    });

    test('race: sent twice at once with the right verifier: one answer, which stays', async () => {
      const [one, other] = await opened();
      for (let round = 0; round < 5; round += 1) {
        const fields = await one.code(true);
        // Over connections that are open: what connects first may come after the answer.
        const to = [one.app, round % 2 ? other : one.app];
        await Promise.all(to.map(({ url }) => fetch(`${url}/healthz`).then((answer) => answer.text())));
        const answers = await Promise.all(to.map((app) => one.send(fields, app)));
        await expectLife(one, winnerOf(answers), true, `round ${round}`);
      }
    });

    test('replay: after the answer it ends what the code gave, verifier or not', async () => {
      const [one, other] = await opened();
      for (const isWithVerifier of [true, false]) {
        for (const to of [one.app, other]) {
          const fields = await one.code(isWithVerifier);
          const first = await one.send(fields);
          equal(first.status, 200);
          winnerOf([first, await one.send(fields, to)]);
          await expectLife(one, first, false, `${isWithVerifier}`);
        }
      }
    });

    test('replay: with a wrong verifier or another redirect URI it ends nothing', async () => {
      const [one] = await opened();
      const fields = await one.code(true);
      const first = await one.send(fields);
      for (const wrong of [{ code_verifier: 'w'.repeat(43) }, { redirect_uri: 'https://rp.example/other' }])
        winnerOf([first, await one.send({ ...fields, ...wrong })]);
      await expectLife(one, first, true, 'wrong');
    });
  });
}

/** An application whose next answer with tokens waits, its code already used, until it is let go. */
async function held() {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let isClosed = false;
  const shared = createGuardedStore(createMemoryStore({ clock }), async (collection, method) => {
    if (!isClosed || collection !== accessTokens.name || method !== 'put') return;
    reached.resolve();
    await gate.promise;
  });
  const app = await startApp({ shared });
  return {
    app,
    reached: reached.promise,
    close: () => {
      isClosed = true;
    },
    release: () => {
      isClosed = false;
      gate.resolve();
    },
    async stop() {
      await app.stop();
      await shared.close();
    },
  };
}

for (const isWithVerifier of [true, false]) {
  const what = isWithVerifier ? 'with its verifier it is a duplicate' : 'without one it ends them';
  test(`replay: while the first request is given its tokens: ${what}`, async () => {
    const { app, reached, close, release, stop } = await held();
    try {
      const one = await redeemer(app);
      const fields = await one.code(isWithVerifier);
      close();
      const first = one.send(fields);
      await reached;
      const second = await one.send(fields);
      deepEqual([second.status, second.body.error], [400, 'invalid_grant']);
      release();
      const answer = await first;
      equal(answer.status, 200, JSON.stringify(answer.body));
      await expectLife(one, answer, isWithVerifier, what);
      if (!isWithVerifier) return;
      equal((await one.send(fields)).status, 400);
      await expectLife(one, answer, false, 'after the answer');
    } finally {
      await stop();
    }
  });
}

/** A browser that has one connection opens another one for the second request, and that takes longer than the first answer. */
test('replay: a duplicate over a connection that was being opened is none', async () => {
  const app = await startApp();
  try {
    const one = await redeemer(app);
    const fields = await one.code(true);
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const first = await one.send(fields);
    equal(first.status, 200);
    const body = new URLSearchParams(fields).toString();
    const { authorization } = basic(one.client);
    const { host } = new URL(app.url);
    socket.write(
      `POST /oauth2/token HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: ${authorization}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    match(await text(socket), /^HTTP\/1.1 400 [\s\S]*invalid_grant/);
    await expectLife(one, first, true, 'duplicate');
    // Over one that was opened afterwards it is a replay.
    equal((await one.send(fields)).status, 400);
    await expectLife(one, first, false, 'later');
  } finally {
    await app.stop();
  }
});

test('replay: a device that asks twice at once keeps its tokens, one that asks later loses them', async () => {
  const { app, reached, close, release, stop } = await held();
  try {
    const client = await app.register({
      ...television,
      grant_types: [DEVICE_GRANT, 'refresh_token'],
      skip_consent: true,
    });
    const user = await app.createUser('alice');
    const started = await fetch(`${app.url}/oauth2/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, scope: 'openid' }),
    });
    const { device_code: code, user_code: typed } = Object(await started.json());
    const agent = new Agent(app);
    const other = await app.register();
    await agent.signIn(other.id, user);
    const question = await agent.submit(await agent.get('/oauth2/device'), { user_code: String(typed) });
    const done = await agent.submit(question, { confirm: 'yes' });
    ok(done.body.includes('Television') && !done.body.includes('<form'), done.body);
    const fields = { grant_type: DEVICE_GRANT, device_code: String(code) };
    const ask = (): Promise<Tokens> => requestTokens(app, { id: client.id, secret: '' }, fields);
    close();
    const first = ask();
    await reached;
    deepEqual((await ask()).body.error, 'invalid_grant');
    release();
    const { body } = await first;
    equal(await isActive(app, body.access_token), true, JSON.stringify(body));
    equal((await ask()).body.error, 'invalid_grant');
    equal(await isActive(app, body.access_token), false);
  } finally {
    await stop();
  }
});
