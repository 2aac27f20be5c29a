// Store calls per flow (performance goal P12): first-party sign-in at most 12, introspection at most 3, refresh at most 6,
// counted as the goal was measured: calls of the protocol core. Accounts, the session list and the audit log come on top. Both
// numbers are pinned to today's: another call is a decision, not an accident.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { FLUSH_MS } from '../../src/audit/token-log.ts';
import type { Collection, CollectionDefinition, EphemeralCollection, Store } from '../../src/store/port.ts';
import { Agent, codeRequest, hiddenFields, redeem, refresh, requestTokens } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { proofKey, proofOf } from '../support/dpop.ts';
import { createApi, seenBy } from './api-support.ts';
import { basic, introspect, postForm, tokensOf, userinfo } from './support.ts';

const calls: string[] = [];

/** What the two kinds of store have to carry, for the arithmetic of docs/sizing.md ("Growing"). */
interface Load {
  reads: number;
  writes: number;
  bytes: number;
}
const loads = new Map<'durable' | 'ephemeral', Load>();

const READS = new Set(['find', 'findBy', 'query']);

function carry(durability: 'durable' | 'ephemeral', method: string, data: unknown): void {
  const load = loads.get(durability) ?? { reads: 0, writes: 0, bytes: 0 };
  load[READS.has(method) ? 'reads' : 'writes'] += 1;
  load.bytes += Buffer.byteLength(JSON.stringify(data) ?? '');
  loads.set(durability, load);
}

const COUNTED = new Set(['find', 'findBy', 'insert', 'put', 'replace', 'remove', 'removeBy', 'query']);

/** The same object, whose every store method notes that it was called. */
function counting<T extends EphemeralCollection<never> | Collection<never>>(
  { name, durability }: Pick<CollectionDefinition<never>, 'name' | 'durability'>,
  collection: T,
): T {
  return new Proxy(collection, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function' || !COUNTED.has(String(property))) return value;
      return (...given: unknown[]) => {
        calls.push(`${name}.${String(property)}`);
        const answer: Promise<unknown> = Reflect.apply(value, target, given);
        // What goes there is in the call, what comes back in the answer; either way it travels once.
        return answer.then((found) => {
          carry(durability, String(property), READS.has(String(property)) ? [given, found] : given);
          return found;
        });
      };
    },
  });
}

function countingStore(store: Store): Store {
  return {
    // The proxy passes everything through, so the type of what it wraps is its own type.
    collection: <T>(definition: CollectionDefinition<T>) =>
      counting(definition, store.collection(definition) as Collection<never>) as unknown as Collection<T>,
    ephemeral: <T>(definition: CollectionDefinition<T>) =>
      counting(
        definition,
        store.ephemeral(definition) as EphemeralCollection<never>,
      ) as unknown as EphemeralCollection<T>,
    writeTogether(fill) {
      const names: string[] = [];
      return store
        .writeTogether((writes) =>
          fill({
            to(definition) {
              names.push(definition.name);
              return writes.to(definition);
            },
          }),
        )
        .finally(() => calls.push(`${names.join('+')}.writeTogether`));
    },
    sweep: (limit) => store.sweep(limit),
    stamp: () => store.stamp(),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

const app = await startApp({ shared: countingStore(createMemoryStore({ clock: Date.now })) });
after(() => app.stop());
const client = await app.register();
const alice = await app.createUser('alice');
const request = {
  ...codeRequest(client.id),
  scope: 'openid profile email',
};

/** @returns the calls that `act` made */
async function during(act: () => Promise<unknown>): Promise<string[]> {
  await act();
  calls.length = 0;
  loads.clear();
  await act();
  // Written by a timer, whatever is going on (the test about it is below).
  return calls.splice(0).filter((call) => !call.startsWith('token_events.'));
}

const BESIDE = /^(?:accounts|audit|sessions)\./;

/** @param limits calls in all, and those of the protocol core */
async function expectAtMost(
  t: TestContext,
  limits: { readonly all: number; readonly core: number },
  act: () => Promise<unknown>,
): Promise<void> {
  const made = await during(act);
  for (const [durability, { reads, writes, bytes }] of loads) {
    t.diagnostic(`${durability}: ${reads} reads, ${writes} writes, ${(bytes / 1000).toFixed(1)} kB`);
  }
  ok(made.length > 0, 'the counter counts');
  const core = made.filter((call) => !BESIDE.test(call));
  ok(made.length <= limits.all, `${made.length} calls:\n${made.join('\n')}`);
  ok(core.length <= limits.core, `${core.length} calls of the core:\n${core.join('\n')}`);
}

test('store calls: first-party sign-in, from page to code', async (t) => {
  // The last one looks whether the account changed while the session was written.
  await expectAtMost(t, { all: 18, core: 11 }, async () => {
    const agent = new Agent(app);
    const page = await agent.authorize(request);
    const done = await agent.submit(page, { username: 'alice', password: PASSWORD });
    ok((done.location ?? '').includes('code='), done.body);
  });
});

test('store calls: a second client in the same session', async (t) => {
  const agent = new Agent(app);
  await agent.signIn(client.id, alice);
  await expectAtMost(t, { all: 6, core: 5 }, async () => {
    const page = await agent.authorize(request);
    ok((page.location ?? '').includes('code='), page.body);
  });
});

test('store calls: the sign-in page', async (t) => {
  await expectAtMost(t, { all: 3, core: 3 }, async () => {
    const page = await new Agent(app).authorize(request);
    ok(hiddenFields(page.body).csrf);
  });
});

test('store calls: code redemption with access, refresh and ID token', async (t) => {
  const agent = new Agent(app);
  const authorizations = [await agent.signIn(client.id, alice), await agent.signIn(client.id, alice)];
  await expectAtMost(t, { all: 7, core: 6 }, async () => {
    const authorization = authorizations.pop();
    ok(authorization !== undefined);
    equal((await redeem(app, client, authorization)).status, 200);
  });
});

test('store calls: refresh with rotation', async (t) => {
  const rotates = await app.register({ rotate_refresh_tokens: 'always' });
  let { refresh_token } = await tokensOf(app, rotates, alice);
  // One of them asks when the session was last used.
  await expectAtMost(t, { all: 8, core: 7 }, async () => {
    const { status, body } = await refresh(app, rotates, refresh_token);
    equal(status, 200);
    refresh_token = body.refresh_token;
  });
});

test('store calls: introspection with the administrator’s bearer', async (t) => {
  const { access_token, refresh_token } = await tokensOf(app, client, alice);
  // The application's record says who may use it.
  for (const token of [access_token, refresh_token])
    await expectAtMost(t, { all: 4, core: 3 }, async () =>
      equal((await introspect(app, token)).body.active, true),
    );
});

test('store calls: userinfo', async (t) => {
  const { access_token } = await tokensOf(app, client, alice);
  await expectAtMost(t, { all: 4, core: 3 }, async () =>
    equal((await userinfo(app, access_token)).status, 200),
  );
});

test('store calls: client credentials', async (t) => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  await expectAtMost(t, { all: 2, core: 2 }, async () => {
    equal((await requestTokens(app, machine, { grant_type: 'client_credentials' })).status, 200);
  });
});

test('store calls: a machine token for an API, and its introspection by the API', async (t) => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const api = await createApi(app, { machine_grants: { [machine.id]: ['read'] } });
  const request = { grant_type: 'client_credentials', resource: api.identifier };
  let token = '';
  // The API is read at every use, so that a removal counts at once in every process.
  await expectAtMost(t, { all: 3, core: 3 }, async () => {
    const { status, body } = await requestTokens(app, machine, request);
    equal(status, 200);
    token = body.access_token;
  });
  await expectAtMost(t, { all: 4, core: 4 }, async () => equal((await seenBy(app, api, token)).active, true));
});

test('store calls: tokens are audited per second, not per token', async () => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  calls.length = 0;
  const startedAt = performance.now();
  for (let index = 0; index < 40; index += 1) {
    equal((await requestTokens(app, machine, { grant_type: 'client_credentials' })).status, 200);
  }
  await app.admin('GET', '/audit?class=tokens');
  const written = calls.filter((call) => call.startsWith('token_events.') && !call.endsWith('.query'));
  const flushes = 2 + Math.floor((performance.now() - startedAt) / FLUSH_MS);
  // Of the one counter a look and a write each time; the events of the tests above wait along, one write each.
  ok(written.length > 0, 'the counter counts');
  ok(written.filter((call) => call !== 'token_events.insert').length <= 2 * flushes, written.join('\n'));
});

test('store calls: discovery and keys need none', async () => {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json']) {
    calls.length = 0;
    equal((await fetch(`${app.url}${path}`)).status, 200);
    equal(calls.length, 0, calls.join('\n'));
  }
});

test('store calls: a DPoP proof is a look and a write, a nonce none', async (t) => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const key = await proofKey();
  let nonce: string | undefined;
  await expectAtMost(t, { all: 5, core: 4 }, async () => {
    const claims = nonce === undefined ? {} : { nonce };
    const answer = await postForm(
      app,
      '/oauth2/token',
      { grant_type: 'client_credentials' },
      { ...basic(machine), DPoP: await proofOf(key, 'POST', `${app.url}/oauth2/token`, claims) },
    );
    equal(answer.body.token_type, 'DPoP', answer.text);
    nonce = answer.headers.get('dpop-nonce') ?? nonce;
  });
});

test('store calls: an application with the legacy profile costs what others cost, off and on', async () => {
  const settings = (isOn: boolean) => app.admin('PATCH', '/settings', { legacy_profiles: isOn });
  await settings(true);
  const legacy = await app.register({
    profile: 'legacy',
    response_types: ['code', 'id_token'],
    frontchannel_logout_uri: 'https://rp.example/out',
  });
  const ways: readonly ((id: string) => Promise<unknown>)[] = [
    (id) => new Agent(app).signIn(id, alice),
    async (id) => {
      const agent = new Agent(app);
      await agent.signIn(id, alice);
      await agent.get('/oauth2/logout');
    },
  ];
  const costs: number[][] = [];
  for (const isOn of [false, true]) {
    await settings(isOn);
    for (const id of [client.id, legacy.id]) {
      const counts: number[] = [];
      for (const way of ways) counts.push((await during(() => way(id))).length);
      costs.push(counts);
    }
  }
  const [without, legacyWithout, withIt, legacyWith] = costs;
  deepEqual(legacyWithout, without);
  // With the setting a sign-out looks whom its page has to tell: one read per application of the session.
  const [signIn = 0, signOut = 0] = without ?? [];
  deepEqual(
    [withIt, legacyWith],
    [
      [signIn, signOut + 1],
      [signIn, signOut + 1],
    ],
  );
  await settings(false);
});

test('store calls: refresh of a kept token', async (t) => {
  const { refresh_token } = await tokensOf(app, client, alice);
  await expectAtMost(t, { all: 6, core: 5 }, async () => {
    equal((await refresh(app, client, refresh_token)).body.refresh_token, refresh_token);
  });
});
