// Libraries for applications in browsers, in Chromium, with the product behind a proxy that speaks https: MSAL takes nothing else.
// What the browser complains about fails the test.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../../pages/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeTlsCertificate } from '../../support/tls-redis.ts';
import { type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { installPackages } from '../support/packages.ts';

const more = new URL('more/', import.meta.url);
const MORE = fileURLToPath(more);
const installed = await installPackages(more, 'browser', ['openssl', 'chromium']);

let browser: Browser;
let issuer: Issuer;
let proxy: Server;
let folder: string;

/** As nginx is set up in docs/operations.md. */
async function startProxy(port: number, target: number): Promise<Server> {
  const { keyFile, certFile } = await makeTlsCertificate(folder, 'localhost');
  const server = createServer(
    { key: readFileSync(keyFile), cert: readFileSync(certFile) },
    (incoming, outgoing) => {
      const headers = {
        ...incoming.headers,
        'x-forwarded-for': incoming.socket.remoteAddress ?? '',
        'x-forwarded-proto': 'https',
      };
      const options = {
        host: '127.0.0.1',
        port: target,
        path: incoming.url,
        method: incoming.method,
        headers,
      };
      incoming.pipe(
        request(options, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        }),
      );
    },
  );
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return server;
}

before(async () => {
  if (installed.skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'latchkey-interop-'));
  const [port, outside] = [await freePort(), await freePort()];
  const env = { BASE_URL: `https://localhost:${outside}`, TRUST_PROXY: '1' };
  [browser, issuer, proxy] = await Promise.all([
    launch(),
    startIssuer({ port, env }),
    startProxy(outside, port),
  ]);
});
after(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await browser?.close();
  await issuer?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** As a build tool of the application's authors makes it. */
function bundleOf(name: string): string {
  copyFileSync(join(MORE, `${name}.mjs`), join(installed.folder, `${name}.mjs`));
  const outfile = join(folder, `${name}.js`);
  const esbuild = join(installed.folder, 'node_modules', 'esbuild', 'bin', 'esbuild');
  const production = '--define:process.env.NODE_ENV="production"';
  const args = [esbuild, `${name}.mjs`, '--bundle', '--format=esm', '--target=esnext', production];
  const { status, stderr } = spawnSync(process.execPath, [...args, `--outfile=${outfile}`], {
    cwd: installed.folder,
    encoding: 'utf8',
  });
  equal(status, 0, stderr);
  return readFileSync(outfile, 'utf8');
}

async function startSite(name: string): Promise<{ origin: string; close(): void }> {
  const script = bundleOf(name);
  const files = new Map([['/app.js', { type: 'text/javascript', text: script }]]);
  let document = '';
  const site = await startReceiver((incoming, outgoing) => {
    const { type, text } = files.get(incoming.url ?? '') ?? { type: 'text/html', text: document };
    outgoing.setHeader('content-type', type);
    outgoing.end(text);
  });
  const origin = `http://localhost:${site.port}`;
  const { client_id } = await issuer.registerClient({
    client_name: name,
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${origin}/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    access_token_seconds: 63,
  });
  // Read by an MCP client alone.
  const resource = { resource: `${origin}/mcp`, authorization_servers: [issuer.issuer] };
  files.set('/.well-known/oauth-protected-resource/mcp', {
    type: 'application/json',
    text: JSON.stringify(resource),
  });
  const registered = JSON.stringify({ issuer: issuer.issuer, clientId: client_id });
  document = `<!doctype html><title>${name}</title><link rel="icon" href="data:,"><body></body>
<script>globalThis.registered = ${registered};</script><script type="module" src="/app.js"></script>`;
  return { origin, close: () => site.close() };
}

const ask = async (page: Page, call: string): Promise<string> =>
  String(await page.evaluate(`Promise.resolve(client.${call}())`));

/** The library's own word for where it is. */
async function stateOf(page: Page, origin: string): Promise<string> {
  await page.waitForURL((url) => url.origin === origin);
  await page.waitForFunction("globalThis.client !== undefined && client.state() !== 'loading'");
  return ask(page, 'state');
}

/** Sign-in, a new token by the refresh token, sign-out: each in the library's own words. */
async function walk(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/`);
  equal(await stateOf(page, origin), 'nobody');
  await Promise.all([page.waitForURL(`${issuer.issuer}/**`), page.evaluate('void client.signIn()')]);
  await page.getByLabel('Username or e-mail').fill(PERSON.username);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  equal(await stateOf(page, origin), 'user');
  equal(await ask(page, 'email'), PERSON.email);
  const first = await ask(page, 'token');
  await ask(page, 'refresh');
  await page.waitForFunction(`client.token() !== ${JSON.stringify(first)}`);
  notEqual(await ask(page, 'token'), first);
  ok((await ask(page, 'token')).startsWith('ey'));

  await Promise.all([page.waitForEvent('load'), page.evaluate('void client.signOut()')]);
  // MSAL names neither itself nor a session (`idTokenHint` is for the application to give): the person is asked, and stays.
  if (page.url().startsWith(issuer.issuer)) {
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'You’re signed out' }).waitFor();
    await page.goto(`${origin}/`);
  }
  equal(await stateOf(page, origin), 'nobody');
  await page.goto(`${new URL(issuer.issuer).origin}/account`);
  await page.getByLabel('Password', { exact: true }).waitFor();
}

for (const name of [
  'react-oidc-context',
  'angular-oauth2-oidc',
  'angular-auth-oidc-client',
  'msal-browser',
  'mcp-sdk',
])
  test(`${name}: sign-in, a new token by its refresh token, sign-out`, installed, async () => {
    const { origin, close } = await startSite(name);
    const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
    context.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    try {
      await walk(page, origin);
      deepEqual(complaints, []);
    } catch (error) {
      const text = `at ${page.url()}\n${complaints.join('\n')}\n${issuer.refusals().slice(-5).join('')}`;
      throw new Error(text, { cause: error });
    } finally {
      await context.close();
      close();
    }
  });
