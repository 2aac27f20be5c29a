// go-oidc and x/oauth2: what most programs in Go sign in with.
import { deepEqual, equal } from 'node:assert/strict';
import test, { after } from 'node:test';
import { namesOf, runClient, type Step } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { built } from './build.ts';

const CALLBACK = 'https://rp.example/callback';
const BYE = 'https://rp.example/bye';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

const client = await built('go-oidc');
const issuer = await startIssuer();
after(() => issuer.close());

async function run(kind: string, metadata: Record<string, unknown>): Promise<readonly Step[]> {
  const { client_id, client_secret } = await issuer.registerClient(metadata);
  const env = {
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    REDIRECT_URI: CALLBACK,
    POST_LOGOUT_REDIRECT_URI: BYE,
  };
  return runClient({ command: client.program, args: [kind], env }, issuer);
}

const factOf = (steps: readonly Step[], step: string, fact: string): unknown =>
  steps.find((taken) => taken.step === step)?.[fact];

test('go-oidc: with nonce and without PKCE: userinfo, refresh, revocation, logout', client, async () => {
  const steps = await run('web', {
    redirect_uris: [CALLBACK],
    post_logout_redirect_uris: [BYE],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const expected = ['sign-in', 'access-token-is-no-id-token', 'userinfo', 'refresh', 'revoke', 'logout'];
  deepEqual(namesOf(steps), expected);
});

test('Go: a server ends the session by a GET with its hint, as oauth2-proxy does', client, async () => {
  const steps = await run('backend-logout', {
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  deepEqual(namesOf(steps), ['logout', 'refresh-refused']);
  const { body } = await issuer.app.admin('GET', '/sessions?is_active=true');
  equal(body.data.total, 0);
});

test('x/oauth2: without scopes, a web application gets openid and refreshes', client, async () => {
  const steps = await run('bare', {
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  deepEqual(namesOf(steps), ['sign-in', 'refresh', 'invalid_grant']);
  deepEqual(factOf(steps, 'sign-in', 'scope'), 'openid');
});

test('x/oauth2: a public application, whose empty secret it sends by Basic first', client, async () => {
  const steps = await run('bare', {
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  deepEqual(namesOf(steps), ['sign-in', 'refresh', 'invalid_grant']);
});

test('x/oauth2: a device', client, async () => {
  const steps = await run('device', {
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: [DEVICE, 'refresh_token'],
    response_types: [],
    redirect_uris: [],
  });
  deepEqual(namesOf(steps), ['sign-in', 'refresh']);
});

test('x/oauth2: client credentials without a scope, and with an unknown one', client, async () => {
  const steps = await run('machine', { redirect_uris: [], grant_types: ['client_credentials'] });
  deepEqual(namesOf(steps), ['token', 'invalid_scope']);
});
