// A database copied while running and restored later: what was issued since is unknown, which is an answer
// and not an error; what was issued before works.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backupSqlite } from '../../adapters/sqlite/backup.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { systemClock } from '../../src/clock.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { bearer, call, introspect, isActive, postForm, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';

const PUBLIC_URL = 'http://localhost:3000';
const folder = await mkdtemp(join(tmpdir(), 'latchkey-backup-'));
after(() => rm(folder, { recursive: true, force: true }));

async function appOn(name: string) {
  const file = join(folder, name);
  const store = createSqliteStore({ file, clock: systemClock, definitions: allCollections });
  const app = await startApp({ shared: store, env: { BASE_URL: PUBLIC_URL } });
  return {
    app,
    stop: async () => {
      await app.stop();
      await store.close();
    },
  };
}

function browserOf(app: { url: string }, before?: Agent): Agent {
  const agent = new Agent(app, { publicUrl: PUBLIC_URL });
  if (before) agent.plant(before.cookiesFor('/oauth2/authorize'));
  return agent;
}

test('restored backup: tokens issued after it are unknown, earlier ones work', async () => {
  const running = await appOn('latchkey.db');
  const { app } = running;
  const client = await app.register({ scope: 'openid offline_access' });
  const alice = await app.createUser('alice');
  const agent = browserOf(app);
  const scope = 'openid offline_access';
  const kept = await tokensOf(app, client, alice, { scope, prompt: 'consent' }, agent);

  // Taken while it writes.
  let isTaken = false;
  const writing = (async () => {
    for (let count = 0; !isTaken; count += 1) await app.createUser(`busy-${count}`);
  })();
  const { documents } = await backupSqlite({
    file: join(folder, 'latchkey.db'),
    to: join(folder, 'copy.db'),
  });
  isTaken = true;
  await writing;
  ok(Number(documents.accounts) >= 1);

  const later = browserOf(app);
  const lost = await tokensOf(app, client, alice, { scope, prompt: 'consent' }, later);
  const { code, verifier } = await later.signIn(client.id, alice, { scope: 'openid' });
  const bob = await app.createUser('bob');
  const ofBob = await tokensOf(app, client, bob, { scope });
  const made = await app.admin('POST', '/api-keys', { name: 'late', scopes: ['admin:read'] });
  const lateClient = await app.register();
  await running.stop();

  const restored = await appOn('copy.db');
  const again = restored.app;
  try {
    for (const token of [lost.access_token, lost.refresh_token, ofBob.access_token, ofBob.refresh_token]) {
      const answer = await introspect(again, token);
      deepEqual([answer.status, answer.text], [200, '{"active":false}']);
      equal((await postForm(again, '/oauth2/revoke', { token })).status, 200);
    }
    for (const token of [lost.access_token, ofBob.access_token])
      equal((await userinfo(again, token)).status, 401);
    for (const token of [lost.refresh_token, ofBob.refresh_token]) {
      const refused = await refresh(again, client, token);
      deepEqual([refused.status, refused.body.error], [400, 'invalid_grant']);
    }
    const late = await redeem(again, client, { code, verifier });
    deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
    const key = String(made.body.data.api_key);
    equal((await call(again, 'GET', '/admin/api/users', { headers: bearer(key) })).status, 401);
    equal((await refresh(again, lateClient, kept.refresh_token)).status, 401, 'an application made since');

    // The browser's cookie is of a session that there is not: it is asked to sign in, and can.
    const signedOut = browserOf(again, later);
    const page = await signedOut.authorize({ ...codeRequest(client.id), prompt: 'none' });
    equal(new URL(page.location ?? '').searchParams.get('error'), 'login_required');
    const signedIn = await signedOut.submit(await signedOut.authorize(codeRequest(client.id)), {
      username: 'alice',
      password: PASSWORD,
    });
    ok(new URL(signedIn.location ?? '').searchParams.has('code'), signedIn.body.slice(0, 1000));
    equal(await isActive(again, kept.access_token), true);
    equal((await refresh(again, client, kept.refresh_token)).status, 200);
    const before = await browserOf(again, agent).authorize({ ...codeRequest(client.id), prompt: 'none' });
    ok(new URL(before.location ?? '').searchParams.has('code'));
    deepEqual(
      again.logged.filter((line) => /"level":"?(?:error|fatal|50|60)/.test(line)),
      [],
    );
  } finally {
    await restored.stop();
  }
});
