// Vault's plugin for OIDC sign-in.
import { deepEqual } from 'node:assert/strict';
import test, { after } from 'node:test';
import { runClient } from '../support/client.ts';
import { PERSON, startIssuer } from '../support/issuer.ts';
import { built } from './build.ts';

const CALLBACK = 'http://127.0.0.1:8200/ui/vault/auth/oidc/oidc/callback';

const plugin = await built('vault');
const issuer = await startIssuer();
after(() => issuer.close());

test('Vault: a person signs in by the OIDC plugin and gets the policies of a role', plugin, async () => {
  const { client_id, client_secret } = await issuer.registerClient({ redirect_uris: [CALLBACK] });
  const env = { CLIENT_ID: client_id, CLIENT_SECRET: client_secret };
  const steps = await runClient({ command: plugin.program, args: [], env }, issuer);
  deepEqual(steps, [{ step: 'sign-in', ok: true, email: PERSON.email }]);
});
