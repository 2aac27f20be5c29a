// A person at a terminal: help and mistakes are answered, one address to open, short lines, and no stack for what they can fix.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../scripts/run.ts';
import { Agent } from '../support/agent.ts';
import { freePort } from '../support/free-port.ts';
import { startMongoServer } from '../support/mongodb-server.ts';
import { isWithin } from '../support/patience.ts';
import { productEntry } from '../support/product-entry.ts';
import { startRedis } from '../support/redis-server.ts';
import { boldIn, plain, runInTerminal, type TerminalProgram } from '../support/terminal.ts';
import { startServer } from './server-process.ts';

let folder: string;
let program: TerminalProgram | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-terminal-'));
});
afterEach(async () => {
  await program?.close();
  program = undefined;
  await rm(folder, { recursive: true });
});

const start = (env: Record<string, string>): TerminalProgram => {
  program = runInTerminal([process.execPath, productEntry()], {
    HOST: '127.0.0.1',
    DATA_DIR: join(folder, 'data'),
    ...env,
  });
  return program;
};

suite('arguments are answered, and nothing starts', () => {
  for (const file of ['src/main.ts', 'src/worker.ts']) {
    test(`${file}: help and version end with 0, a mistake with 2`, async () => {
      const env = { DATA_DIR: join(folder, 'data') };
      for (const args of [['--help'], ['-h']]) {
        const { code, stdout, stderr } = await run(file, args, { env });
        assert.deepEqual([code, stderr], [0, '']);
        for (const word of ['Usage:', 'PORT', 'DATA_DIR', 'Exit codes'])
          assert.ok(stdout.includes(word), word);
      }
      assert.match((await run(file, ['--version'], { env })).stdout, /^\d+\.\d+\.\d+\n$/);
      for (const args of [['--prot', '80'], ['start'], ['--help=yes'], ['']]) {
        const { code, stdout, stderr } = await run(file, args, { env });
        assert.deepEqual([code, stdout], [2, ''], args.join(' '));
        assert.match(stderr, /Nothing was started\. Try --help/);
        assert.doesNotMatch(stderr, /\n\s+at /);
      }
    });
  }

  test('the documented command does, without building anything', async () => {
    const asked = runInTerminal(['npm', 'start', '--silent', '--', '--help']);
    program = asked;
    assert.equal(await asked.exited, 0);
    assert.match(asked.shown(), /Usage: npm start/);
  });
});

suite('a start in a terminal', () => {
  test('one bold address; requests in short lines, served assets in none; Ctrl-C ends with 0', async () => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const { shown, waitFor, type, exited } = start({ PORT: String(port), BASE_URL: origin });
    await waitFor(/Ctrl-C stops it/);
    assert.deepEqual(boldIn(shown()), [`${origin}/onboard`]);
    assert.equal(plain(shown()).match(/https?:/g)?.length, 1, shown());
    const page = await (await fetch(`http://127.0.0.1:${port}/onboard`)).text();
    const [, asset = ''] = /href="([^"]*\/assets\/[^"]+\.css[^"]*)"/.exec(page) ?? [];
    assert.equal((await fetch(`http://127.0.0.1:${port}${new URL(asset, origin).pathname}`)).status, 200);
    assert.equal((await fetch(`http://127.0.0.1:${port}/assets/missing.css`)).status, 404);
    await waitFor(/missing\.css 404/);
    const lines = plain(shown())
      .split('\n')
      .filter((line) => / \/\S* \d{3} /.test(line));
    assert.equal(lines.length, 2, shown());
    assert.match(lines[0] ?? '', /^\d\d:\d\d:\d\d GET \/onboard 200 \d+ ms$/);
    for (const line of lines) assert.ok(line.length <= 100, line);
    type('\x03');
    assert.equal(await exited, 0);
    assert.doesNotMatch(shown(), /[{}]/);
  });

  test('Ctrl-C while a request runs: says what it waits for; a second one loses nothing answered', async () => {
    const port = await freePort();
    const env = { PORT: String(port), BASE_URL: `http://localhost:${port}` };
    const { waitFor, type, exited } = start(env);
    await waitFor(/Ctrl-C stops it/);
    const agent = new Agent({ url: env.BASE_URL });
    const password = 'a long headless password';
    const admin = { username: 'root-admin', email: 'root@example.com', password, confirm_password: password };
    const onboarded = await agent.submit(await agent.get('/onboard'), admin);
    assert.equal(onboarded.status, 200);
    assert.doesNotMatch(onboarded.body, /role="alert"/);
    // Its body does not end, so neither does the request.
    const slow = connect(port, '127.0.0.1');
    slow.on('error', () => undefined);
    slow.write(
      `POST /oauth2/token HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\ngrant`,
    );
    await sleep(300);
    type('\x03');
    await waitFor(/waiting for a request to end; Ctrl-C again stops at once/);
    const pressedAt = performance.now();
    type('\x03');
    assert.equal(await exited, 1);
    assert.ok(isWithin(performance.now() - pressedAt, 5_000));
    slow.destroy();
    const again = start(env);
    // With an administrator the address is the Admin UI's.
    await again.waitFor(/\/admin\s+Ctrl-C stops it/);
  });

  test('with an administrator the address is the Admin UI’s', async () => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const { shown, waitFor } = start({
      PORT: String(port),
      BASE_URL: origin,
      ADMIN_USERNAME: 'root-admin',
      ADMIN_PASSWORD: 'a long headless password',
    });
    await waitFor(/Ctrl-C stops it/);
    assert.deepEqual(boldIn(shown()), [`${origin}/admin`]);
    assert.doesNotMatch(shown(), /onboard\b|headless password/);
  });
});

suite('what a person can fix: what, where and how, without a stack', () => {
  const cases: Record<string, { env: () => Promise<Record<string, string>>; says: RegExp }> = {
    'a folder that is a file': {
      env: async () => {
        await writeFile(join(folder, 'file'), '');
        return { DATA_DIR: join(folder, 'file') };
      },
      says: /DATA_DIR: \S+file is a file, and must be a folder/,
    },
    'a folder below a file': {
      env: async () => {
        await writeFile(join(folder, 'file'), '');
        return { DATA_DIR: join(folder, 'file', 'data') };
      },
      says: /DATA_DIR: \S+ cannot be used \(ENOTDIR, a part of the path is a file\)/,
    },
    'a place where nothing can be created': {
      env: async () => ({ DATA_DIR: '/proc/latchkey' }),
      says: /DATA_DIR: \/proc\/latchkey cannot be used/,
    },
    'a database that is none': {
      env: async () => {
        await mkdir(join(folder, 'data'));
        await writeFile(join(folder, 'data', 'latchkey.db'), 'no database '.repeat(1_000));
        return {};
      },
      says: /latchkey\.db cannot be opened: .*Restore the file from a backup/,
    },
    'an address that is not this machine’s': {
      env: async () => ({ HOST: '203.0.113.7' }),
      says: /HOST=203\.0\.113\.7 is no address of this machine/,
    },
    'a database that is away': {
      env: async () => ({
        MONGODB_URI: 'mongodb://app:hunter2@127.0.0.1:1/x',
        SECRET_KEY: 'a-secret-key-0123456789-0123456789',
      }),
      says: /MongoDB cannot be reached: .*127\.0\.0\.1:1\. Is it running, and is MONGODB_URI right\?/,
    },
    'a SECRET_KEY that is too short': {
      env: async () => ({ SECRET_KEY: 'short-key' }),
      says: /SECRET_KEY: key 1 of 1 has 9 characters, 32 are needed\. Create one with: openssl/,
    },
    'a key file that is damaged': {
      env: async () => {
        const data = await mkdtemp(join(folder, 'key-'));
        await writeFile(join(data, 'secret.key'), 'cut-off');
        return { DATA_DIR: data };
      },
      says: /secret\.key is damaged: has 7 characters, 32 are needed\. Restore it from a backup: with another key nothing/,
    },
    'a Redis without a MongoDB': {
      env: async () => ({ REDIS_URL: 'redis://127.0.0.1:1' }),
      says: /REDIS_URL: needs MONGODB_URI too/,
    },
    'an administrator’s password that is refused': {
      env: async () => ({ ADMIN_USERNAME: 'root-admin', ADMIN_PASSWORD: 'root-admin-root-admin' }),
      says: /ADMIN_PASSWORD: Must not contain the username/,
    },
  };
  for (const [name, { env, says }] of Object.entries(cases)) {
    test(name, async () => {
      const { exited, shown } = start({ PORT: String(await freePort()), ...(await env()) });
      assert.equal(await exited, 1, shown());
      const text = plain(shown());
      assert.match(text, says);
      assert.doesNotMatch(text, /\n\s+at |\.ts:\d+|[{}]|hunter2|short-key|root-admin-root/);
    });
  }

  test('a Redis that is away beside a live MongoDB, at the start and while serving', async () => {
    const [mongo, redis] = await Promise.all([startMongoServer(), startRedis()]);
    try {
      const port = await freePort();
      const env = {
        PORT: String(port),
        BASE_URL: `http://localhost:${port}`,
        MONGODB_URI: mongo.freshUri(),
        REDIS_URL: redis.url.replace('//', '//:hunter2@'),
        SECRET_KEY: 'a-secret-key-0123456789-0123456789',
      };
      await redis.kill();
      const refused = start(env);
      assert.equal(await refused.exited, 1, refused.shown());
      assert.match(
        plain(refused.shown()),
        /Redis \(127\.0\.0\.1:\d+\) cannot be reached: .*\. Is it running, and is REDIS_URL right\?/,
      );
      await redis.start();
      const serving = start({ ...env, REDIS_URL: redis.url });
      await serving.waitFor(/Ctrl-C stops it/);
      await redis.kill();
      await serving.waitFor(/warn connection to Redis lost/);
      const needy = `http://127.0.0.1:${port}/oauth2/authorize?client_id=latchkey-admin&response_type=code&scope=openid&redirect_uri=http%3A%2F%2Flocalhost%3A${port}%2Fadmin%2Fcallback&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256`;
      const page = await fetch(needy, { headers: { accept: 'text/html' }, redirect: 'manual' });
      assert.equal(page.status, 503);
      assert.ok(page.headers.get('retry-after'));
      await page.text();
      await redis.start();
      await serving.waitFor(/connection to Redis restored/);
      serving.type('\x03');
      assert.equal(await serving.exited, 0);
      for (const { shown } of [refused, serving])
        assert.doesNotMatch(plain(shown()), /\n\s+at |\.ts:\d+|hunter2/);
    } finally {
      await program?.close();
      await Promise.all([mongo.stop(), redis.stop()]);
    }
  });

  test('a port in use, and a key that is not the one before', async () => {
    const server = await startServer({ dataDir: join(folder, 'data') });
    const taken = start({ PORT: String(server.port), DATA_DIR: join(folder, 'other') });
    assert.equal(await taken.exited, 1);
    assert.match(plain(taken.shown()), /Port \d+ is in use\. Stop the program that uses it, or set PORT/);
    await server.stop();
    const other = start({
      PORT: String(server.port),
      SECRET_KEY: 'another-key-0123456789-0123456789-01',
    });
    assert.equal(await other.exited, 1);
    assert.match(plain(other.shown()), /sealed with another SECRET_KEY\. Start with the SECRET_KEY that was/);
    for (const { shown } of [taken, other]) assert.doesNotMatch(shown(), /\n\s+at |\.ts:\d+/);
  });
});
