// The OAuth 2.0 SDK of Nimbus, with the HTTP client of the JDK and its Accept header.
import { deepEqual } from 'node:assert/strict';
import test, { after } from 'node:test';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { compiled, inJvm, JVM_LIMIT_MS } from './build.ts';

const CALLBACK = 'https://rp.example/callback';
const BYE = 'https://rp.example/bye';

const sdk = await compiled('nimbus', 'nimbus/NimbusClient.java');
const issuer = await startIssuer();
after(() => issuer.close());

const run = (kind: string, client: { client_id: string; client_secret: string }) =>
  runClient(
    {
      command: 'java',
      timeLimitMs: JVM_LIMIT_MS,
      args: [...inJvm(sdk, 'NimbusClient'), kind],
      env: {
        CLIENT_ID: client.client_id,
        CLIENT_SECRET: client.client_secret,
        REDIRECT_URI: CALLBACK,
        POST_LOGOUT_REDIRECT_URI: BYE,
      },
    },
    issuer,
  );

test('Nimbus: a web application signs in, reads errors, refreshes, revokes, signs out', sdk, async () => {
  const client = await issuer.registerClient({
    redirect_uris: [CALLBACK],
    post_logout_redirect_uris: [BYE],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const steps = namesOf(await run('web', client));
  deepEqual(steps, ['sign-in', 'userinfo', 'refresh', 'invalid_grant', 'revoke', 'invalid_token', 'logout']);
});

test('Nimbus: a device reads authorization_pending, then gets and refreshes its tokens', sdk, async () => {
  const client = await issuer.registerClient({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    response_types: [],
    redirect_uris: [],
  });
  const steps = namesOf(await run('device', client));
  deepEqual(steps, ['pending', 'sign-in', 'refresh', 'invalid_grant']);
});
