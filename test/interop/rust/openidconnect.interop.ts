// The openidconnect crate, with its default HTTP client. It refuses to revoke at an address without TLS.
import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { namesOf, runClient, type Step } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { install } from '../support/toolchain.ts';

const CALLBACK = 'https://rp.example/callback';
const BYE = 'https://rp.example/bye';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

const source = (path: string): string => fileURLToPath(new URL(`openidconnect/${path}`, import.meta.url));

const crate = await install({
  name: 'rust-openidconnect',
  programs: ['cargo'],
  pins: ['Cargo.toml', 'Cargo.lock', 'src/main.rs'].map(source),
  commands: (folder) => [
    [
      'cargo',
      'build',
      '--quiet',
      '--locked',
      '--manifest-path',
      source('Cargo.toml'),
      '--target-dir',
      folder,
    ],
  ],
});
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
  const command = join(crate.folder, 'debug/openidconnect-client');
  return runClient({ command, args: [kind], env }, issuer);
}

test('openidconnect: a web application signs in, refreshes, signs out', crate, async () => {
  const steps = await run('web', {
    redirect_uris: [CALLBACK],
    post_logout_redirect_uris: [BYE],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  deepEqual(namesOf(steps), ['sign-in', 'userinfo', 'refresh', 'logout']);
});

test('openidconnect: a device signs in and refreshes', crate, async () => {
  const steps = await run('device', {
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: [DEVICE, 'refresh_token'],
    response_types: [],
    redirect_uris: [],
  });
  deepEqual(namesOf(steps), ['sign-in', 'refresh']);
});
