// Onboarding from a terminal: beside a running server, once, with exit codes for scripts, and without printing the password.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningServer, startServer } from '../browser/processes.ts';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI } from '../support/app.ts';
import { type Outcome, run } from './run.ts';

const PASSWORD = ' plum trees in June ';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-script-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const createAdmin = (
  args: readonly string[],
  { dataDir = folder, stdin = '', ...env }: Record<string, string> = {},
): Promise<Outcome> => run('scripts/create-admin.ts', args, { env: { DATA_DIR: dataDir, ...env }, stdin });

test('create-admin: --help explains every option and exit code', async () => {
  const { code, stdout, stderr } = await createAdmin(['--help']);
  assert.equal(code, 0);
  for (const word of [
    '--username',
    '--email',
    '--password-stdin',
    'ADMIN_PASSWORD',
    'Exit codes',
    '3 an administrator',
  ]) {
    assert.ok(stdout.includes(word), word);
  }
  assert.equal(stderr, '');
});

test('create-admin: missing or unknown options end with 2 and a message', async () => {
  const cases: [readonly string[], Record<string, string>, RegExp][] = [
    [[], { ADMIN_PASSWORD: PASSWORD }, /--username is missing/],
    [['--user', 'ada'], {}, /Unknown option '--user'/],
    [['--username', 'ada'], {}, /no password\. Set ADMIN_PASSWORD/],
    [['--username', 'ada', '--password-stdin'], { stdin: '\n' }, /Standard input contains no password/],
    [['--username', 'ada', '--password-stdin'], { ADMIN_PASSWORD: PASSWORD, stdin: '' }, /Standard input/],
    [['--username', 'ada'], { ADMIN_PASSWORD: 'x', ADMIN_PASSWORD_FILE: '/nowhere' }, /Keep one of them/],
  ];
  for (const [args, env, sentence] of cases) {
    const { code, stdout, stderr } = await createAdmin(args, env);
    assert.deepEqual([code, stdout], [2, ''], String(sentence));
    assert.match(stderr, sentence);
  }
});

test('create-admin: invalid values end with 2 and name every field, as the API does', async () => {
  const { code, stderr } = await createAdmin(['--username', 'a', '--email', 'nope'], {
    ADMIN_PASSWORD: '12345678',
  });
  assert.equal(code, 2);
  for (const field of ['username:', 'email:', 'password:']) assert.ok(stderr.includes(`  ${field}`), stderr);
  assert.ok(!stderr.includes('12345678'));
});

test('create-admin: a wrong configuration ends with 1, reported as by the server', async () => {
  const { code, stderr } = await createAdmin(['--username', 'ada'], {
    ADMIN_PASSWORD: PASSWORD,
    BASE_URL: 'nope',
  });
  assert.equal(code, 1);
  assert.match(stderr, /BASE_URL: "nope"/);
});

test('create-admin beside a running server: one of two succeeds; the server knows at once', async () => {
  const server: RunningServer = await startServer();
  try {
    const { dataDir } = server;
    assert.equal((await fetch(`${server.origin}/onboard`)).status, 200);
    const both = await Promise.all([
      createAdmin(['--username', 'ada', '--email', 'ada@example.com'], { dataDir, ADMIN_PASSWORD: PASSWORD }),
      createAdmin(['--username', 'ada', '--password-stdin'], { dataDir, stdin: `${PASSWORD}\nnot this` }),
    ]);
    assert.deepEqual(both.map(({ code }) => code).sort(), [0, 3]);
    for (const { stdout, stderr } of both) assert.ok(!(stdout + stderr).includes(PASSWORD.trim()));
    assert.match(both.map(({ stdout }) => stdout).join(''), /^Administrator "ada" created\. Sign in at http/);
    assert.match(
      both.map(({ stderr }) => stderr).join(''),
      /^An administrator already exists; nothing was changed/,
    );
    assert.equal((await fetch(`${server.origin}/onboard`)).status, 404);

    const client = await server.admin('POST', '/clients', {
      client_name: 'Test',
      redirect_uris: [REDIRECT_URI],
      skip_consent: true,
    });
    const agent = new Agent({ url: server.origin });
    const { code } = await agent.signIn(String(client.client_id), { username: 'ada', password: PASSWORD });
    assert.ok(code.length > 20, 'the password is taken as it was given, spaces included');
  } finally {
    await server.stop();
  }
});
