// Keycloak's own Java adapters, which compare the issuer with the address of the realm and read `typ` in tokens.
import { deepEqual } from 'node:assert/strict';
import test from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { compiled, inJvm, JVM_LIMIT_MS } from './build.ts';

const CALLBACK = 'https://rp.example/callback';

const adapter = await compiled('keycloak-adapter', 'keycloak-adapter/KeycloakAdapter.java');

test(
  'Keycloak Java adapter: signs in, verifies tokens and roles, refreshes, signs out',
  adapter,
  async () => {
    const port = await freePort();
    const issuer = await startIssuer({ port, env: { ISSUER: `http://127.0.0.1:${port}/realms/main` } });
    try {
      const client = await issuer.registerClient({
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        keycloak_tokens: true,
      });
      const program = {
        command: 'java',
        timeLimitMs: JVM_LIMIT_MS,
        args: inJvm(adapter, 'KeycloakAdapter'),
        env: { CLIENT_ID: client.client_id, CLIENT_SECRET: client.client_secret, REDIRECT_URI: CALLBACK },
      };
      const steps = namesOf(await runClient(program, issuer));
      deepEqual(steps, ['sign-in', 'userinfo', 'roles', 'refresh', 'logout']);
    } finally {
      await issuer.close();
    }
  },
);
