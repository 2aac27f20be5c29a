// scripts/rotate-keys.ts: rotation from a terminal, also beside a running server, and removing an old SECRET_KEY after
// resealing.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { newId } from '../../src/ids.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import type { Store } from '../../src/store/port.ts';
import { startServer } from '../processes/server-process.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';
import { run } from './run.ts';

const SCRIPT = 'scripts/rotate-keys.ts';
const OLD = 'old-secret-key-0123456789-0123456789';
const NEW = 'new-secret-key-0123456789-0123456789';
const THIRD = 'third-secret-key-0123456789-012345678';

/** The server hears of it soon, however busy the machine is. */
async function until<T>(look: () => Promise<T>, wanted: T): Promise<void> {
  let seen = await look();
  for (let turn = 0; turn < 300 && !isDeepStrictEqual(seen, wanted); turn += 1) {
    await sleep(200);
    seen = await look();
  }
  assert.deepEqual(seen, wanted);
}

test('rotate-keys beside a running server: published at once, active within seconds, listed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-rotate-'));
  const server = await startServer({ dataDir: folder });
  const env = { DATA_DIR: folder };
  const kids = async (): Promise<string[]> => {
    const response = await fetch(`${server.url}/.well-known/jwks.json`);
    const { keys }: { keys: { kid: string; alg: string }[] } = JSON.parse(await response.text());
    return keys.filter(({ alg }) => alg === 'RS256').map(({ kid }) => kid);
  };
  try {
    const [first = ''] = await kids();
    const gradual = await run(SCRIPT, [], { env });
    assert.equal(gradual.code, 0, gradual.stderr);
    assert.match(
      gradual.stdout,
      new RegExp(
        `^next     (\\S+)  RS256  signs from .+\nnext     \\S+  ES256  .+\ncurrent  ${first}  RS256  signs since`,
      ),
    );
    const [, next = ''] = /next {5}(\S+)/.exec(gradual.stdout) ?? [];
    await until(kids, [first, next]);
    assert.equal((await run(SCRIPT, ['--immediate'], { env })).code, 0);
    await until(kids, [next, first]);
    const listed = await run(SCRIPT, ['--list'], { env });
    assert.match(
      listed.stdout,
      new RegExp(`^current  ${next}  .*\n.*ES256.*\nretired  ${first}  RS256  shown until`),
    );
    const gone = await run(SCRIPT, ['--compromised'], { env });
    assert.equal(gone.code, 0);
    await until(async () => (await kids()).includes(next), false);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
});

test('rotate-keys: invalid options or configuration are reported', async () => {
  for (const args of [['--sideways'], ['--immediate', '--compromised'], ['word']]) {
    const { code, stderr, stdout } = await run(SCRIPT, args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /Try --help/);
  }
  const wrong = await run(SCRIPT, ['--list'], {
    env: { SECRET_KEY: 'short', MONGODB_URI: 'mongodb://127.0.0.1:1/x' },
  });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /SECRET_KEY/);
  assert.match((await run(SCRIPT, ['--help'])).stdout, /--reseal/);
});

test('rotate-keys: with both keys listed all is resealed; then the old one may go (R141)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-reseal-'));
  const file = join(folder, 'latchkey.db');
  let offset = 0;
  const within = async <R>(secretKey: string, act: (app: TestApp) => Promise<R>): Promise<R> => {
    const store: Store = createSqliteStore({ file, clock: () => Date.now() + offset });
    const app = await startApp({ shared: store, env: { SECRET_KEY: secretKey } });
    try {
      app.advance(offset);
      const result = await act(app);
      offset = app.now() - Date.now();
      return result;
    } finally {
      await app.stop();
      await store.close();
    }
  };
  const sealedWith = (secretKey: string): number => {
    const name = createSealer([secretKey]).seal('a', 'b').split('.').slice(0, 2).join('.');
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = ['signing_keys', 'settings', 'accounts', 'mails', 'idempotency_keys'];
    const counts = tables.map((table) => {
      const rows = database.prepare(`SELECT value FROM ${table}`).all();
      return rows.reduce((sum, { value }) => sum + String(value).split(`${name}.`).length - 1, 0);
    });
    database.close();
    return counts.reduce((sum, count) => sum + count);
  };
  const page = (client: { id: string }, agent: Agent): Promise<Page> =>
    agent.authorize(codeRequest(client.id));
  /** Asked again with the same key, it answers what it answered first. */
  const makeKey = async (app: TestApp): Promise<string> => {
    const response = await fetch(`${app.url}/admin/api/api-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify({ name: 'robot' }),
    });
    const text = await response.text();
    assert.equal(response.status, 201, text);
    return text;
  };
  const SMTP = 'smtps://robot:hunter2@mail.example.com';

  try {
    const { client, phone, kid, apiKey } = await within(OLD, async (app) => {
      const { status } = await app.admin('POST', '/settings/test-email', { to: 'kept@example.com' });
      assert.equal(status, 200);
      await app.admin('PATCH', '/settings', { smtp_url: SMTP, mfa_mode: 'required' });
      const made = await app.register();
      await app.createUser('alice');
      const agent = new Agent(app);
      const enrolled = await enrolPhone(app, agent, await page(made, agent), 'alice');
      const { body } = await app.admin('GET', '/keys');
      const apiKey = await makeKey(app);
      return { client: made, phone: enrolled.phone, kid: body.data.items?.[0]?.kid, apiKey };
    });
    assert.ok(sealedWith(OLD) >= 5, `${sealedWith(OLD)}`);

    const env = { DATA_DIR: folder };
    const unknown = await run(SCRIPT, ['--reseal'], { env: { ...env, SECRET_KEY: THIRD } });
    assert.equal(unknown.code, 1, 'started without the key that it needs');
    const done = await run(SCRIPT, ['--reseal'], { env: { ...env, SECRET_KEY: `${NEW},${OLD}` } });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /Sealed anew with the first SECRET_KEY: \d+\./);
    assert.equal(sealedWith(OLD), 0);
    assert.ok(sealedWith(NEW) >= 5);
    const again = await run(SCRIPT, ['--reseal'], { env: { ...env, SECRET_KEY: `${NEW},${OLD}` } });
    assert.match(again.stdout, /SECRET_KEY: 0\./);

    await within(NEW, async (app) => {
      assert.equal(app.app.settings.current().smtp_url, SMTP);
      assert.equal(await makeKey(app), apiKey);
      const { body } = await app.admin('GET', '/keys');
      assert.equal(body.data.items?.[0]?.kid, kid);
      const mails = await app.admin('GET', '/mails');
      const [mail] = mails.body.data.items ?? [];
      const read = await app.admin('GET', `/mails/${String(mail?.id)}`);
      assert.match(String(read.body.data.text), /\w{5}/);
      const agent = new Agent(app);
      const asked = await agent.submit(await page(client, agent), { username: 'alice', password: PASSWORD });
      // The phone counts on the clock of the first application.
      offset = app.now() - Date.now();
      const code = phone.code();
      app.advance(60_000);
      const last = await agent.submit(asked, { code });
      assert.match(last.location ?? '', /[?&]code=/, last.body.slice(0, 500));
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('scheduled job: reseals while two SECRET_KEYs are listed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-reseal-'));
  const store = createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now });
  try {
    const first = await startApp({ shared: store, env: { SECRET_KEY: OLD } });
    await first.admin('PATCH', '/settings', { smtp_url: 'smtp://u:p@h.example.com' });
    await first.stop();
    const both = await startApp({ shared: store, env: { SECRET_KEY: `${NEW},${OLD}` }, limits: 'shipped' });
    t.after(() => both.stop());
    await both.app.jobs.tick();
    assert.ok(
      both.logged.some((line) => line.includes('reseal_secrets') && line.includes('"secrets_resealed":1')),
    );
    const last = await startApp({ shared: store, env: { SECRET_KEY: NEW } });
    assert.equal(last.app.settings.current().smtp_url, 'smtp://u:p@h.example.com');
    await last.stop();
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

test('SECRET_KEY rotation over processes: appended, then first; each can open everything', async (t) => {
  const store = createMemoryStore({ clock: Date.now });
  const open = async (...keys: string[]): Promise<TestApp> => {
    const app = await startApp({ shared: store, env: { SECRET_KEY: keys.join() } });
    t.after(() => app.stop());
    return app;
  };
  for (const [old, next] of [
    [[OLD], [OLD, NEW]],
    [
      [OLD, NEW],
      [NEW, OLD],
    ],
    [[NEW, OLD], [NEW]],
  ] as const) {
    const [still, already] = [await open(...old), await open(...next)];
    for (const [from, to] of [
      [still, already],
      [already, still],
    ] as const) {
      await from.app.resealing.run(new AbortController().signal);
      const smtpUrl = `smtp://u:${newId()}@h.example.com`;
      await from.admin('PATCH', '/settings', { smtp_url: smtpUrl });
      // Reads what is there, too.
      await to.admin('PATCH', '/settings', { product_name: newId() });
      assert.equal(to.app.settings.current().smtp_url, smtpUrl);
      assert.equal((await to.app.resealing.run(new AbortController().signal)).unreadable, 0);
    }
  }
});
