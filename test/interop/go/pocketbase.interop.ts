// PocketBase as it is released (its examples/base), with its generic OIDC provider. The test does what PocketBase's own JavaScript
// client does in a browser.
import { deepEqual, equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { built } from './build.ts';

const pocketbase = await built('pocketbase', 'github.com/pocketbase/pocketbase/examples/base');

const OWNER = { identity: 'owner@example.com', password: 'a password of the owner' };

/** The value at this path of an answer in JSON; undefined where there is none. */
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );

async function call(url: string, method: string, body?: object, token = ''): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', authorization: token },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  equal(response.status, 200, `${url}: ${text}`);
  return JSON.parse(text);
}

async function configure(api: string, issuer: Issuer, redirectUri: string, pkce: boolean): Promise<void> {
  const client = await issuer.registerClient({
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const owner = await call(`${api}/_superusers/auth-with-password`, 'POST', OWNER);
  const provider = {
    name: 'oidc',
    clientId: client.client_id,
    clientSecret: client.client_secret,
    authURL: `${issuer.issuer}/authorize`,
    tokenURL: `${issuer.issuer}/token`,
    userInfoURL: `${issuer.issuer}/userinfo`,
    pkce,
  };
  const change = { oauth2: { enabled: true, providers: [provider] } };
  await call(`${api}/users`, 'PATCH', change, String(at(owner, 'token')));
}

async function signIn(api: string, issuer: Issuer, redirectUrl: string): Promise<void> {
  const methods = await call(`${api}/users/auth-methods`, 'GET');
  const provider = at(methods, 'oauth2', 'providers', '0');
  const address = `${at(provider, 'authURL')}${encodeURIComponent(redirectUrl)}`;
  const callback = new URL(await issuer.signIn(address)).searchParams;
  equal(callback.get('state'), at(provider, 'state'));
  const answer = await call(`${api}/users/auth-with-oauth2`, 'POST', {
    provider: 'oidc',
    code: callback.get('code'),
    codeVerifier: at(provider, 'codeVerifier'),
    redirectURL: redirectUrl,
  });
  deepEqual([at(answer, 'meta', 'email'), at(answer, 'meta', 'username')], [PERSON.email, PERSON.username]);
  equal(typeof at(answer, 'meta', 'refreshToken'), 'string');
}

test('PocketBase: a person signs in, with PKCE as it comes and without', pocketbase, async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-pocketbase-'));
  const made = spawnSync(
    pocketbase.program,
    ['superuser', 'upsert', OWNER.identity, OWNER.password, `--dir=${folder}`],
    { encoding: 'utf8' },
  );
  equal(made.status, 0, `${made.stdout}${made.stderr}`);
  const issuer = await startIssuer();
  try {
    const args = ['serve', `--http=127.0.0.1:${port}`, `--dir=${folder}`];
    const server = await startServer({ command: pocketbase.program, args, url: `${url}/api/health` });
    try {
      for (const pkce of [true, false]) {
        await configure(`${url}/api/collections`, issuer, `${url}/api/oauth2-redirect`, pkce);
        await signIn(`${url}/api/collections`, issuer, `${url}/api/oauth2-redirect`);
      }
    } catch (error) {
      throw new Error(`${issuer.refusals().join('')}\n${server.said()}`, { cause: error });
    } finally {
      await server.stop();
    }
  } finally {
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
