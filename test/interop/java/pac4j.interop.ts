// pac4j's OIDC client: PKCE by discovery, no nonce, scopes repeated at refresh.
import { deepEqual } from 'node:assert/strict';
import test, { after } from 'node:test';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { compiled, inJvm, JVM_LIMIT_MS } from './build.ts';

const CALLBACK = 'https://rp.example/callback';
const BYE = 'https://rp.example/bye';

const pac4j = await compiled('pac4j', 'pac4j/Pac4jClient.java');
const issuer = await startIssuer();
after(() => issuer.close());

for (const scope of [undefined, 'openid profile email offline_access'])
  test(`pac4j: signs in, refreshes, signs out, with scope ${scope ?? 'by default'}`, pac4j, async () => {
    const client = await issuer.registerClient({
      // It adds its own name to the address that it is given.
      redirect_uris: [`${CALLBACK}?client_name=OidcClient`],
      post_logout_redirect_uris: [BYE],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const steps = await runClient(
      {
        command: 'java',
        timeLimitMs: JVM_LIMIT_MS,
        args: [...inJvm(pac4j, 'Pac4jClient'), ...(scope === undefined ? [] : [scope])],
        env: {
          CLIENT_ID: client.client_id,
          CLIENT_SECRET: client.client_secret,
          REDIRECT_URI: CALLBACK,
          POST_LOGOUT_REDIRECT_URI: BYE,
        },
      },
      issuer,
    );
    deepEqual(namesOf(steps), ['sign-in', 'userinfo', 'refresh', 'logout']);
  });
