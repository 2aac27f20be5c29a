// Clients of npm at their own defaults; more of them, and other languages, by `npm run test:interop`.
import { deepEqual } from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';

const issuer = await startIssuer();
after(() => issuer.close());

const ALL = ['sign-in', 'userinfo', 'refresh', 'revoke', 'logout'];

/** @returns the names of the steps that the client took */
async function run(name: string, metadata = {}, more = {}): Promise<string[]> {
  const redirectUri = `http://localhost:${await freePort()}/callback`;
  const { client_id, client_secret } = await issuer.registerClient({
    client_name: name,
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    ...metadata,
  });
  const program = fileURLToPath(new URL(`quick/${name}.mjs`, import.meta.url));
  const env = { CLIENT_ID: client_id, CLIENT_SECRET: client_secret, REDIRECT_URI: redirectUri, ...more };
  return namesOf(await runClient({ command: process.execPath, args: [program], env }, issuer));
}

test('openid-client: sign-in, userinfo, refresh, revocation, logout', async () => {
  deepEqual(await run('openid-client'), ALL);
});

test('openid-client with DPoP: tokens bound to its key, where the application demands it', async () => {
  deepEqual(await run('openid-client', { dpop_bound_access_tokens: true }, { DPOP: '1' }), ALL);
});

test('oauth4webapi: sign-in, userinfo, refresh, introspection, revocation', async () => {
  deepEqual(await run('oauth4webapi'), ['sign-in', 'userinfo', 'refresh', 'introspect', 'revoke']);
});

test('simple-oauth2: sign-in without PKCE or nonce, refresh, revocation', async () => {
  deepEqual(await run('simple-oauth2'), ['sign-in', 'userinfo', 'refresh', 'revoke']);
});

test('passport-openidconnect: sign-in with a profile from userinfo', async () => {
  deepEqual(await run('passport-openidconnect'), ['sign-in', 'userinfo']);
});
