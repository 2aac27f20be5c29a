// Sign-outs interrupted by a store outage, as by a crash: they were not acknowledged, and are completed nevertheless, however
// late (R048, R063).
import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { oidcSessions } from '../../src/store/protocol-collections.ts';
import { Agent, refresh } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';
import { isActive, tokensOf } from './support.ts';

let clock: () => number = Date.now;
const { store, broken } = breakable(createMemoryStore({ clock: () => clock() }));
const app = await startApp({ shared: store });
clock = app.now;
after(() => app.stop());

let count = 0;
async function signedIn() {
  count += 1;
  const client = await app.register({ scope: 'openid offline_access' });
  const user = await app.createUser(`user-${count}`);
  const agent = new Agent(app);
  const parameters = { scope: 'openid offline_access', prompt: 'consent' };
  const { refresh_token: refreshing } = await tokensOf(app, client, user, parameters, agent);
  const { body } = await app.admin('GET', `/users/${user.id}/sessions`);
  return { client, agent, refreshing, sessionId: String(body.data.items?.[0]?.id) };
}

for (const away of ['oidc_sessions', 'grants', 'refresh_tokens']) {
  test(`attack: refresh token of a session whose ending failed at ${away}, hours later`, async () => {
    const [ended, other] = [await signedIn(), await signedIn()];
    broken.add(away);
    equal((await app.admin('DELETE', `/sessions/${ended.sessionId}`)).status, 503);
    broken.clear();
    app.advance(7 * 3_600_000);
    await app.app.jobs.tick();
    deepEqual([await isActive(app, ended.refreshing), await isActive(app, other.refreshing)], [false, true]);
    equal((await refresh(app, ended.client, ended.refreshing)).body.error, 'invalid_grant');
    const sessions = store.ephemeral(oidcSessions);
    deepEqual(await sessions.findBy('uid', ended.sessionId), []);
  });
}

test('sign-out interrupted after the session: applications are still notified', async () => {
  const member = { backchannel_logout_uri: 'https://192.0.2.1/signed-out' };
  const client = await app.register({ scope: 'openid offline_access', ...member });
  const agent = new Agent(app);
  const parameters = { scope: 'openid offline_access', prompt: 'consent' };
  await tokensOf(app, client, await app.createUser('left-half-way'), parameters, agent);
  broken.add('grants');
  const left = await agent.get('/oauth2/logout');
  broken.clear();
  equal(left.status, 503);
  equal((await agent.get('/oauth2/logout')).status, 200);
  // Our outbound guard refuses that address: the line in the log shows the attempt.
  const tried = () => app.logged.filter((line) => line.includes('not delivered') && line.includes(client.id));
  for (let turn = 0; turn < 1200 && tried().length === 0; turn += 1) await wait(50);
  equal(tried().length, 1);
});
