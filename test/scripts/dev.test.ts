// Holds `npm run dev`: what it prints signs in, mails reach the terminal, a change restarts the server, and it keeps away from
// installations and other machines.
import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Program, start } from '../browser/processes.ts';
import { Agent } from '../support/agent.ts';
import { freePort } from '../support/free-port.ts';
import { run } from './run.ts';

let folder: string;
let dev: Program;
let samplePort: number;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-dev-'));
  samplePort = await freePort();
  dev = await start({
    file: 'scripts/dev.ts',
    args: [
      '--port',
      String(await freePort()),
      '--sample-port',
      String(samplePort),
      '--data-dir',
      join(folder, 'data'),
    ],
    // What an installation on the same machine would be run with.
    env: { DATA_DIR: join(folder, 'production'), SMTP_URL: 'smtp://mail.example.com', HOST: '0.0.0.0' },
    ready: /Admin UI\s+(http:\S+)\/admin\n[\s\S]*sample application is running/,
  });
});
after(async () => {
  await dev.stop();
  await rm(folder, { recursive: true, force: true });
});

const printed = (label: string): string =>
  new RegExp(`^ +${label} +(\\S+)$`, 'm').exec(dev.output())?.[1] ?? '';

/** From the sample application to it and back. */
async function signInAtSample(): Promise<string> {
  const sample = new Agent({ url: `http://localhost:${samplePort}` });
  const agent = new Agent({ url: dev.origin });
  const outward = await sample.get('/sign-in');
  const signInPage = await agent.get(outward.location ?? '');
  const user = { username: printed('Administrator'), password: printed('Password') };
  const back = await agent.finish(await agent.follow(signInPage), user);
  return (await sample.follow(await sample.get(back.href))).body;
}

async function waitForOutput(pattern: RegExp, from = 0): Promise<void> {
  const until = performance.now() + 60_000;
  while (!pattern.test(dev.output().slice(from))) {
    assert.ok(performance.now() < until, `not printed: ${pattern}\n${dev.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('dev: the printed credentials sign in at the sample application', async () => {
  assert.match(await signInAtSample(), /Hello, <bdi>admin<\/bdi>/);
});

test('dev: a mail is shown on the terminal', async () => {
  const agent = new Agent({ url: dev.origin });
  const page = await agent.get('/oauth2/forgot-password');
  await agent.submit(page, { email: 'admin@example.com' });
  await waitForOutput(/Mail to admin@example\.com[\s\S]*\/oauth2\/reset-password\?token=/);
});

test('dev: a changed template restarts the server', async () => {
  const from = dev.output().length;
  const now = new Date();
  await utimes(new URL('../../templates/layout.njk', import.meta.url), now, now);
  await waitForOutput(/"msg":"listening"/, from);
});

test('dev: a non-local address is refused', async () => {
  const env = { BASE_URL: 'https://id.example.com' };
  const { code, stderr } = await run('scripts/dev.ts', ['--data-dir', join(folder, 'other')], { env });
  assert.equal(code, 2);
  assert.match(stderr, /localhost only/);
});

test("dev: an installation's data folder is refused", async () => {
  await writeFile(join(folder, 'latchkey.db'), '');
  const { code, stderr } = await run('scripts/dev.ts', ['--data-dir', folder]);
  assert.equal(code, 2);
  assert.match(stderr, /contains other data/);
});
