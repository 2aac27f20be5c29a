// More clients of npm, in packages of their own outside of the repository.
import { deepEqual } from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { namesOf, runClient } from '../support/client.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { installed, MORE } from './more-packages.ts';

const WIRE = fileURLToPath(new URL('quick/wire.mjs', import.meta.url));
const issuer = await startIssuer();
after(() => issuer.close());

/** Beside its packages, since that is where Node looks for them. */
function bring(): void {
  for (const name of readdirSync(MORE).filter((file) => file.endsWith('.mjs')))
    copyFileSync(join(MORE, name), join(installed.folder, name));
  copyFileSync(WIRE, join(installed.folder, 'wire.mjs'));
}

interface Program {
  /** The path of its redirect URI. */
  readonly callback?: string;
  readonly provider?: Issuer;
  readonly metadataOf?: (origin: string) => Readonly<Record<string, unknown>>;
}

async function run(name: string, program: Program = {}): Promise<string[]> {
  const { callback = '/callback', provider = issuer, metadataOf = () => ({}) } = program;
  bring();
  const origin = `http://localhost:${await freePort()}`;
  const { client_id, client_secret } = await provider.registerClient({
    client_name: name,
    redirect_uris: [`${origin}${callback}`],
    post_logout_redirect_uris: [origin, `${origin}/bye`],
    grant_types: ['authorization_code', 'refresh_token'],
    ...metadataOf(origin),
  });
  const env = {
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    REDIRECT_URI: `${origin}${callback}`,
  };
  const args = [join(installed.folder, `${name}.mjs`)];
  return namesOf(await runClient({ command: process.execPath, args, env }, provider));
}

test('Auth.js: sign-in of its own page', installed, async () => {
  deepEqual(await run('authjs', { callback: '/auth/callback/latchkey' }), ['sign-in']);
});

test('@hono/oidc-auth: sign-in, and the refresh token revoked', installed, async () => {
  deepEqual(await run('hono-oidc-auth'), ['sign-in', 'revoke']);
});

test('grant: sign-in with a profile from userinfo', installed, async () => {
  deepEqual(await run('grant', { callback: '/connect/latchkey/callback' }), ['sign-in', 'userinfo']);
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

test('@badgateway/oauth2-client: discovery at the root, refresh, introspection', installed, async () => {
  deepEqual(await run('badgateway-oauth2-client'), [
    'sign-in',
    'userinfo',
    'refresh',
    'introspect',
    'revoke',
  ]);
});

test('Node-RED: the editor signs in by a Passport strategy', installed, async () => {
  deepEqual(await run('node-red', { callback: '/auth/strategy/callback' }), ['sign-in', 'userinfo']);
});

test(
  'keycloak-connect: roles, userinfo, refresh, logout, without a page where it can',
  installed,
  async () => {
    const port = await freePort();
    const env = { ISSUER: `http://127.0.0.1:${port}/realms/main` };
    const provider = await startIssuer({ port, env });
    try {
      const metadataOf = (origin: string) => ({
        keycloak_tokens: true,
        redirect_uris: [`${origin}/?auth_callback=1`, `${origin}/me?auth_callback=1`],
        post_logout_redirect_uris: [`${origin}/`],
      });
      const steps = await run('keycloak-connect', { provider, metadataOf });
      deepEqual(steps, ['sign-in', 'roles', 'userinfo', 'refresh', 'logout']);
    } finally {
      await provider.close();
    }
  },
);
