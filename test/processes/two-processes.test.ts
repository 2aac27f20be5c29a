// Two independent processes on one data folder: they start together on an empty one, agree on keys and on the first
// administrator, and accept no code twice between them.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { liftLimits } from '../attacks/limits.ts';
import { Agent, hiddenFields, redeem, refresh } from '../support/agent.ts';
import { assertDeclared } from '../support/api-check.ts';
import { ADMIN_TOKEN, PASSWORD } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const ROUNDS = process.env.LONG === '1' ? 100 : 2;
const PARALLEL = 50;

let one: ServerProcess;
let other: ServerProcess;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-two-'));
  // One public address, as behind a balancer: the second is reached by another port.
  const port = await freePort();
  const env = { BASE_URL: `http://127.0.0.1:${port}` };
  [one, other] = await Promise.all([
    startServer({ dataDir: folder, port, env }),
    startServer({ dataDir: folder, env }),
  ]);
});
after(async () => {
  await Promise.all([one.stop('SIGKILL'), other.stop('SIGKILL')]);
  await rm(folder, { recursive: true });
});

const at = (server: ServerProcess): { url: string } => ({ url: `http://127.0.0.1:${server.port}` });
const both = (index: number): { url: string } => at(index % 2 === 0 ? one : other);

test('two processes on an empty folder: agree on one set of keys', async () => {
  const [mine, theirs] = await Promise.all(
    [one, other].map(async (server) => (await fetch(`${at(server).url}/.well-known/jwks.json`)).text()),
  );
  assert.equal(mine, theirs);
  const { keys }: { keys: unknown[] } = JSON.parse(mine ?? '');
  assert.ok(keys.length >= 1);
});

test(`race: ${PARALLEL} first administrators over two processes: one`, async () => {
  const attempts = await Promise.all(
    Array.from({ length: PARALLEL }, async (_, index) => {
      const server = index % 2 === 0 ? one : other;
      const browser = new Agent(at(server), { publicUrl: one.url });
      const page = await browser.get(`${one.url}/onboard`);
      const person = { username: `admin-${index}`, password: PASSWORD, confirm_password: PASSWORD };
      return () => browser.post(`${one.url}/oauth2/onboard`, { ...hiddenFields(page.body), ...person });
    }),
  );
  const answers = await Promise.all(attempts.map((attempt) => attempt()));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 303).length, 1, statuses.join());
  for (const status of statuses) assert.ok([303, 404, 503].includes(status), String(status));
  const { body } = await one.admin('GET', '/users?limit=1000');
  assert.equal(body.data.total, 1);
  assert.equal((await fetch(`${at(other).url}/onboard`)).status, 404);
});

test(`race: one code, ${PARALLEL} redemptions over two processes, ${ROUNDS} rounds: one succeeds`, async () => {
  // Thousands of refused requests from one address are what a long run is made of.
  await liftLimits(one);
  const client = await one.register();
  await one.createUser('alice');
  const browser = new Agent(one);
  for (let round = 0; round < ROUNDS; round += 1) {
    const authorization = await browser.signIn(client.id, { username: 'alice' });
    const answers = await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) => redeem(both(index), client, authorization)),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, `round ${round}: ${won.length}`);
    for (const { status } of answers) assert.ok(status === 200 || status === 400, String(status));
  }
});

test('replay: in another process it ends what the code gave; sent at once it does not', async () => {
  const client = await one.register();
  await one.createUser('carla');
  const browser = new Agent(one);
  const isAlive = async (token: string): Promise<boolean> =>
    (await refresh(at(one), client, token)).status === 200;
  const warm = (): Promise<unknown> =>
    Promise.all([one, other].map(async (server) => (await fetch(`${at(server).url}/healthz`)).text()));
  // Each has redeemed one: what runs for the first time may be read late.
  for (const server of [one, other])
    await redeem(at(server), client, await browser.signIn(client.id, { username: 'carla' }));
  // A busy machine may let one process read its request after the other has answered: again, until it has not.
  let kept = 0;
  for (let round = 0; round < 3 || (kept === 0 && round < 40); round += 1) {
    const authorization = await browser.signIn(client.id, { username: 'carla' });
    await warm();
    const answers = await Promise.all(
      [one, other].map((server) => redeem(at(server), client, authorization)),
    );
    const [winner, ...more] = answers.filter(({ status }) => status === 200);
    assert.ok(winner !== undefined && more.length === 0);
    if (await isAlive(winner.body.refresh_token)) kept += 1;
    const next = await browser.signIn(client.id, { username: 'carla' });
    const first = await redeem(at(one), client, next);
    assert.equal((await redeem(at(other), client, next)).status, 400);
    assert.equal(await isAlive(first.body.refresh_token), false, `round ${round}, later`);
  }
  assert.ok(kept > 0, 'no duplicate was taken for one');
});

test(`race: one refresh token, ${PARALLEL} uses over two processes, ${ROUNDS} rounds: no two chains`, async () => {
  const client = await one.register({ rotate_refresh_tokens: 'always' });
  await one.createUser('bob');
  const browser = new Agent(one);
  for (const grace of [0, 10]) {
    await one.admin('PATCH', '/settings', { refresh_token_grace_seconds: grace });
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = await redeem(one, client, await browser.signIn(client.id, { username: 'bob' }));
      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) =>
          refresh(both(index), client, first.body.refresh_token),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      const chains = new Set(won.map(({ body }) => body.refresh_token));
      assert.ok(chains.size <= 1, `${chains.size} chains`);
      if (grace === 0) assert.ok(won.length <= 1, `${won.length} winners`);
      else assert.equal(won.length, PARALLEL);
    }
  }
});

test('two processes: what ends a token at one ends it at the other, at the next request', async () => {
  const client = await one.register();
  const { id, username } = await one.createUser('carol');
  const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  const form = (server: ServerProcess, path: string, parameters: Record<string, string>): Promise<Response> =>
    fetch(`${at(server).url}${path}`, {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams(parameters),
    });
  const worksAt = async (server: ServerProcess, token: string): Promise<boolean> => {
    const introspection = await form(server, '/oauth2/introspect', { token });
    const { active } = JSON.parse(await introspection.text());
    const headers = { authorization: `Bearer ${token}` };
    const userinfo = await fetch(`${at(server).url}/oauth2/userinfo`, { headers });
    await userinfo.text();
    assert.equal(userinfo.status, active === true ? 200 : 401);
    return active === true;
  };
  const revoke = (token: string): Promise<Response> => form(one, '/oauth2/revoke', { token });
  const switchUser = (act: string) => () => one.admin('POST', `/users/${id}/${act}`);
  interface Tokens {
    readonly access_token: string;
    readonly refresh_token: string;
  }
  const ends: Readonly<Record<string, (tokens: Tokens) => Promise<{ status: number }>>> = {
    'access token revoked': ({ access_token }) => revoke(access_token),
    'refresh token revoked': ({ refresh_token }) => revoke(refresh_token),
    'sessions of the user ended': switchUser('revoke-sessions'),
    'application disabled': () => one.admin('PATCH', `/clients/${client.id}`, { is_active: false }),
    'user deactivated': switchUser('deactivate'),
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [what, end] of Object.entries(ends)) {
      const { body } = await redeem(one, client, await new Agent(one).signIn(client.id, { username }));
      // Each process has it in memory, in every form that it keeps.
      for (const server of [other, one, other])
        assert.equal(await worksAt(server, body.access_token), true, `${what}, before`);
      const { status } = await end(body);
      assert.ok(status >= 200 && status < 300, `${what}: ${status}`);
      const isDisabled = what === 'application disabled';
      if (isDisabled) {
        const headers = { authorization: `Bearer ${body.access_token}` };
        assert.equal((await fetch(`${at(other).url}/oauth2/userinfo`, { headers })).status, 401);
        await one.admin('PATCH', `/clients/${client.id}`, { is_active: true });
      } else {
        assert.equal(await worksAt(other, body.access_token), false, what);
        assert.equal(await worksAt(one, body.access_token), false, what);
      }
    }
    await switchUser('reactivate')();
  }
});

test('race: 100 users of one name over two processes: one', async () => {
  const names = ['Straße', 'STRASSE', 'strasse', ' ſtraße ', 'ＳＴＲＡＳＳＥ'];
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const response = await fetch(`${both(index).url}/admin/api/users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ username: names[index % names.length], password: PASSWORD }),
      });
      assertDeclared('POST', '/users', response, await response.text());
      return response.status;
    }),
  );
  assert.equal(answers.filter((status) => status === 201).length, 1, answers.join());
});
