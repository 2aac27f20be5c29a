// Restarts between any two steps of a sign-in, requested (SIGTERM) or not (SIGKILL): the user notices nothing, and
// acknowledged writes are present.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Agent,
  challengeOf,
  codeRequest,
  hiddenFields,
  redeem,
  refresh,
  VERIFIER,
} from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** One installation that can be restarted: the same folder, the same address. */
async function install(signal: NodeJS.Signals) {
  const dataDir = await mkdtemp(join(tmpdir(), 'latchkey-restart-'));
  let server = await startServer({ dataDir });
  return {
    get server(): ServerProcess {
      return server;
    },
    async restart(): Promise<void> {
      const { code, signal: killedBy } = await server.stop(signal);
      assert.deepEqual([code, killedBy], signal === 'SIGKILL' ? [null, 'SIGKILL'] : [0, null]);
      server = await startServer({ dataDir, port: server.port });
    },
    async remove(): Promise<void> {
      await server.stop('SIGKILL');
      await rm(dataDir, { recursive: true });
    },
  };
}

async function isActive(server: ServerProcess, token: string): Promise<boolean> {
  const response = await fetch(`${server.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await response.text()).active;
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  suite(`restarted by ${signal}`, { concurrency: true }, () => {
    // Whoever is asked to leave has more time to put things in order than whoever is killed, who shows it in each run.
    const isShown = signal === 'SIGKILL' || process.env.LONG === '1';
    const inTurn = isShown ? test : () => undefined;
    inTurn('a sign-in can be finished after a restart between any two steps', async (t) => {
      const site = await install(signal);
      t.after(() => site.remove());
      const client = await site.server.register({ skip_consent: false });
      await site.server.createUser('alice');
      const browser = new Agent(site.server);
      await site.restart();

      const login = await browser.authorize({
        ...codeRequest(client.id),
        scope: 'openid profile',
      });
      assert.match(login.body, /name="password"/);
      await site.restart();
      const wrong = { ...hiddenFields(login.body), username: 'alice', password: 'not the password' };
      assert.equal((await browser.post('/oauth2/login', wrong)).status, 401);
      await site.restart();
      const accepted = await browser.post('/oauth2/login', { ...wrong, password: PASSWORD });
      assert.equal(accepted.status, 303);
      await site.restart();
      const consent = await browser.follow(accepted);
      assert.match(consent.body, /\/oauth2\/consent/);
      await site.restart();
      const allowed = await browser.post('/oauth2/consent', {
        ...hiddenFields(consent.body),
        action: 'allow',
      });
      assert.equal(allowed.status, 303);
      await site.restart();
      const { location = '' } = await browser.follow(allowed);
      const code = new URL(location).searchParams.get('code') ?? assert.fail(location);
      await site.restart();
      const first = await redeem(site.server, client, { code, verifier: VERIFIER });
      assert.equal(first.status, 200);
      await site.restart();
      const second = await refresh(site.server, client, first.body.refresh_token);
      assert.equal(second.status, 200);
      assert.equal(await isActive(site.server, second.body.access_token), true);
      await site.restart();

      // What was used stays used, and the browser stays signed in.
      assert.equal((await redeem(site.server, client, { code, verifier: VERIFIER })).status, 400);
      assert.equal(
        await isActive(site.server, second.body.access_token),
        false,
        'a reused code ends what it gave',
      );
      const silent = await browser.signIn(client.id, { username: 'nobody-is-asked' });
      assert.notEqual(silent.code, '');
      await browser.get('/oauth2/logout');
      await site.restart();
      const after = await browser.authorize({
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        scope: 'openid',
        prompt: 'none',
        code_challenge: challengeOf(VERIFIER),
        code_challenge_method: 'S256',
      });
      assert.match(after.location ?? '', /error=login_required/);
    });

    test('a rotated refresh token stays refused and revokes its family', async (t) => {
      const site = await install(signal);
      t.after(() => site.remove());
      await site.server.admin('PATCH', '/settings', { refresh_token_grace_seconds: 0 });
      const client = await site.server.register({ rotate_refresh_tokens: 'always' });
      await site.server.createUser('alice');
      const first = await redeem(
        site.server,
        client,
        await new Agent(site.server).signIn(client.id, { username: 'alice' }),
      );
      const second = await refresh(site.server, client, first.body.refresh_token);
      await site.restart();
      assert.equal((await refresh(site.server, client, first.body.refresh_token)).status, 400);
      assert.equal(await isActive(site.server, second.body.refresh_token), false);
      assert.equal(await isActive(site.server, second.body.access_token), false);
    });

    test('every acknowledged write is present', async (t) => {
      const site = await install(signal);
      t.after(() => site.remove());
      const acknowledged: string[] = [];
      const write = async (name: string): Promise<void> => {
        try {
          const { status } = await site.server.admin('POST', '/initial-access-tokens', { label: name });
          if (status === 201) acknowledged.push(name);
        } catch {
          // The process was stopped before it answered: no one was promised anything.
        }
      };
      const writing = Array.from({ length: 300 }, (_, index) => write(`label-${index}`));
      while (acknowledged.length < 30) await sleep(2);
      await site.restart();
      await Promise.all(writing);
      const { body } = await site.server.admin('GET', '/initial-access-tokens?limit=1000');
      const found = new Set(body.data.items?.map(({ label }) => label));
      assert.deepEqual(
        acknowledged.filter((name) => !found.has(name)),
        [],
      );
      if (signal === 'SIGTERM') assert.ok(acknowledged.length >= 30);
    });
  });
}
