// More clients of npm, in packages of their own outside of the repository.
import { deepEqual } from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { install } from '../support/toolchain.ts';

const MORE = fileURLToPath(new URL('more/', import.meta.url));
const WIRE = fileURLToPath(new URL('quick/wire.mjs', import.meta.url));
const pins = ['package.json', 'package-lock.json'].map((name) => join(MORE, name));

const installed = await install({
  name: 'node',
  programs: ['npm'],
  pins,
  commands: (folder) => [
    ['cp', ...pins, folder],
    ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
  ],
});
const issuer = await startIssuer();
after(() => issuer.close());

/** Beside its packages, since that is where Node looks for them. */
function bring(): void {
  for (const name of readdirSync(MORE).filter((file) => file.endsWith('.mjs')))
    copyFileSync(join(MORE, name), join(installed.folder, name));
  copyFileSync(WIRE, join(installed.folder, 'wire.mjs'));
}

async function run(name: string, callback = '/callback'): Promise<string[]> {
  bring();
  const origin = `http://localhost:${await freePort()}`;
  const { client_id, client_secret } = await issuer.registerClient({
    client_name: name,
    redirect_uris: [`${origin}${callback}`],
    post_logout_redirect_uris: [origin, `${origin}/bye`],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const env = {
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    REDIRECT_URI: `${origin}${callback}`,
  };
  const args = [join(installed.folder, `${name}.mjs`)];
  return namesOf(await runClient({ command: process.execPath, args, env }, issuer));
}

test('Auth.js: sign-in of its own page', installed, async () => {
  deepEqual(await run('authjs', '/auth/callback/latchkey'), ['sign-in']);
});

test('@hono/oidc-auth: sign-in, and the refresh token revoked', installed, async () => {
  deepEqual(await run('hono-oidc-auth'), ['sign-in', 'revoke']);
});

test('grant: sign-in with a profile from userinfo', installed, async () => {
  deepEqual(await run('grant', '/connect/latchkey/callback'), ['sign-in', 'userinfo']);
});

test('remix-auth-oauth2: discovery, sign-in, refresh, revocation', installed, async () => {
  deepEqual(await run('remix-auth-oauth2'), ['sign-in', 'refresh', 'revoke']);
});

test('MCP SDK: discovery at the root, sign-in, refresh', installed, async () => {
  deepEqual(await run('mcp-sdk'), ['sign-in', 'refresh']);
});

test('express-openid-connect: sign-in, userinfo, refresh, logout', installed, async () => {
  deepEqual(await run('express-openid-connect'), ['sign-in', 'userinfo', 'refresh', 'logout']);
});
