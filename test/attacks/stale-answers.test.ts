// A token that another process has just looked up, and keeps in memory, after its owner ended everything here: two connections to
// one file, as two processes have, with what each of them keeps of rows, tokens, grants and signatures.
import { deepEqual, equal } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import type { Store } from '../../src/store/port.ts';
import { newPerson, open, press } from '../flows/account-support.ts';
import { introspect, type User, userinfo } from '../flows/support.ts';
import { Agent, redeem, requestTokens } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { sized } from './sizes.ts';

const ROUNDS = sized(2, 5);
const EMAIL = '/account/email';

let folder: string;
let here: TestApp;
let there: TestApp;
let client: { id: string; secret: string };
const stores: Store[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-stale-'));
  const openStore = (): Store => {
    const store = createSqliteStore({
      file: join(folder, 'latchkey.db'),
      clock: () => here?.now() ?? Date.now(),
    });
    stores.push(store);
    return store;
  };
  here = await startApp({ shared: openStore() });
  there = await startApp({ shared: openStore(), env: { BASE_URL: here.url } });
  client = await here.register();
});
after(async () => {
  for (const app of [there, here]) await app.stop();
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true });
});

type Person = User & { email: string };

/** @returns the link that takes the added address back */
async function addAddress(user: Person, browser: Agent, to: string): Promise<string> {
  const mailbox = await openMailbox(here);
  try {
    await press(browser, await open(browser, user, EMAIL), EMAIL, { email: to });
    await browser.submit(await browser.get(await mailbox.linkTo(to)), {});
    return await mailbox.linkTo(user.email);
  } finally {
    await mailbox.close();
  }
}

/** What the owner does, after what came before the tokens. */
const acts: Readonly<Record<string, (user: Person, browser: Agent, prepared: string) => Promise<unknown>>> = {
  'this was not me': async (user, browser) =>
    press(browser, await open(browser, user, '/account/not-me'), '/account/not-me'),
  'a deletion with days of grace': async (user, browser) => {
    const path = '/account/delete';
    return press(browser, await open(browser, user, path), path, { username: user.username });
  },
  'an address removed': async (user, browser) =>
    press(browser, await open(browser, user, EMAIL), `${EMAIL}/remove`, { id: `other.${user.email}` }),
  'another primary address': async (user, browser) =>
    press(browser, await open(browser, user, EMAIL), `${EMAIL}/primary`, { id: `other.${user.email}` }),
  'an addition stopped by its link': async (_user, _browser, stop) => {
    const stranger = new Agent(here);
    return stranger.submit(await stranger.get(stop), {});
  },
};

for (const [name, act] of Object.entries(acts))
  test(`attack: tokens kept in another process, after ${name}`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const user = await newPerson(here);
      const browser = new Agent(here);
      const prepared = name.includes('address') || name.includes('addition');
      const stop = prepared ? await addAddress(user, browser, `other.${user.email}`) : '';
      const scope = { scope: 'openid email offline_access' };
      const { body } = await redeem(here, client, await new Agent(here).signIn(client.id, user, scope));
      const [access, refresh] = [String(body.access_token), String(body.refresh_token)];
      for (const app of [there, here, there]) {
        equal((await introspect(app, access)).body.active, true);
        equal((await introspect(app, refresh)).body.active, true);
        equal((await userinfo(app, access)).status, 200);
      }
      await act(user, browser, stop);
      // The first question afterwards, each time at another endpoint.
      const asked = [
        async () => equal((await userinfo(there, access)).status, 401, 'userinfo'),
        async () => deepEqual((await introspect(there, access)).body, { active: false }),
        async () => deepEqual((await introspect(there, refresh)).body, { active: false }),
        async () => {
          const given = { grant_type: 'refresh_token', refresh_token: refresh };
          equal((await requestTokens(there, client, given)).body.error, 'invalid_grant');
        },
      ];
      const first = round % asked.length;
      for (const ask of [...asked.slice(first), ...asked.slice(0, first)]) await ask();
    }
  });

test('attack: a machine’s token kept in another process, after its application was deactivated', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const machine = await here.register({
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    });
    const { body } = await requestTokens(here, machine, { grant_type: 'client_credentials' });
    for (const app of [there, here, there])
      equal((await introspect(app, body.access_token)).body.active, true);
    const path = `/clients/${machine.id}`;
    equal((await here.admin('PATCH', path, { is_active: false })).status, 200);
    deepEqual((await introspect(there, body.access_token)).body, { active: false });
    equal((await requestTokens(there, machine, { grant_type: 'client_credentials' })).status, 401);
  }
});
