// `npm run pictures`: takes the pictures of README.md anew, from a server of its own with a small company in it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { parseFlags, runCommand } from './command-line.ts';
import { launch } from './conformance/chromium.ts';
import { makeFolder } from './file-problem.ts';

const HELP = `Takes the pictures that README.md shows, from the running product: a server of its own, on data of its own.

Usage: npm run pictures -- [options]

  --chromium FILE   where Chromium is (default /usr/bin/chromium)
  --out FOLDER      where the pictures go (default docs/pictures)
  --help            show this

Exit codes: 0 taken, 1 something went wrong, 2 invalid options.`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ADMIN_TOKEN = 'pictures-admin-token-0123456789-0123456789';
const PASSWORD = 'plum trees in June';
const READY_MS = 60_000;
const SIZE = { width: 1200, height: 800 };

/** Username, name, and what is special. */
const PEOPLE: readonly (readonly [username: string, name: string, fields?: object])[] = [
  ['grace', 'Grace Hopper'],
  ['alan', 'Alan Turing'],
  ['katherine', 'Katherine Johnson'],
  ['edsger', 'Edsger Dijkstra'],
  ['barbara', 'Barbara Liskov', { role: 'admin' }],
  ['donald', 'Donald Knuth'],
  ['margaret', 'Margaret Hamilton'],
  ['tim', 'Tim Berners-Lee', { is_email_verified: false }],
  ['radia', 'Radia Perlman', { role: 'auditor' }],
];
const APPLICATIONS = ['Acme Analytics', 'Payroll', 'Wiki'];

interface World {
  readonly origin: string;
  call(method: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function untilReady(origin: string, server: ChildProcess): Promise<void> {
  for (const until = performance.now() + READY_MS; performance.now() < until; ) {
    if (server.exitCode !== null) break;
    const isReady = await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error('The server does not start.');
}

async function startWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-pictures-'));
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      BASE_URL: origin,
      DATA_DIR: folder,
      LOG_LEVEL: 'error',
      ADMIN_TOKEN,
      ADMIN_USERNAME: 'ada',
      ADMIN_EMAIL: 'ada@acme.example',
      ADMIN_PASSWORD: PASSWORD,
    },
    stdio: 'inherit',
  });
  const exited = once(server, 'exit');
  const world: World = {
    origin,
    async call(method, path, body) {
      const response = await fetch(`${origin}/admin/api${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
      return JSON.parse(text).data;
    },
    async stop() {
      server.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await untilReady(origin, server);
    return world;
  } catch (error) {
    await world.stop();
    throw error;
  }
}

/** @returns the client IDs of the applications */
async function inhabit({ call }: World): Promise<string[]> {
  for (const [username, name, fields] of PEOPLE) {
    const email = `${username}@acme.example`;
    const user = { username, name, email, is_email_verified: true, password: PASSWORD, ...fields };
    await call('POST', '/users', user);
  }
  const ids: string[] = [];
  for (const name of APPLICATIONS) {
    const application = await call('POST', '/clients', {
      client_name: name,
      redirect_uris: ['http://localhost:4000/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      skip_consent: true,
    });
    ids.push(String(application.client_id));
  }
  return ids;
}

async function signIn(page: Page, username: string): Promise<void> {
  await page.getByLabel('Username or e-mail').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForLoadState();
}

const newPage = async (browser: Browser): Promise<Page> => {
  const context = await browser.newContext({ locale: 'en-GB', viewport: SIZE, reducedMotion: 'reduce' });
  return context.newPage();
};

async function take(browser: Browser, world: World, out: string): Promise<void> {
  const [clientId = ''] = await inhabit(world);
  const shoot = async (page: Page, name: string): Promise<void> => {
    await page.screenshot({ path: join(out, `${name}.png`) });
    console.log(join(out, `${name}.png`));
  };

  const login = await newPage(browser);
  const request = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: 'http://localhost:4000/callback',
    scope: 'openid profile email',
    // RFC 7636, appendix B.
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  await login.goto(`${world.origin}/oauth2/authorize?${request}`);
  await shoot(login, 'sign-in');

  // A day's work, so that the Admin UI has something to show.
  for (const [username] of PEOPLE.slice(0, 7)) {
    const page = await newPage(browser);
    await page.goto(`${world.origin}/account`);
    await signIn(page, username);
    await page.context().close();
  }
  const admin = await newPage(browser);
  await admin.goto(`${world.origin}/admin`);
  await signIn(admin, 'ada');
  const later = admin.getByRole('button', { name: 'Not now' });
  if (await later.isVisible()) await later.click();
  await admin.goto(`${world.origin}/admin/users`);
  await shoot(admin, 'administration');
}

async function run(): Promise<undefined> {
  const flags = parseFlags(process.argv.slice(2), {
    chromium: { type: 'string' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (flags.help === true) {
    console.log(HELP);
    return;
  }
  const out = flags.out ?? join(ROOT, 'docs', 'pictures');
  makeFolder(out);
  const browser = await launch(flags.chromium ?? '/usr/bin/chromium');
  try {
    const world = await startWorld();
    try {
      await take(browser, world, out);
    } finally {
      await world.stop();
    }
  } finally {
    await browser.close();
  }
}

await runCommand(run);
