// goth's openidConnect provider, with which Gitea and Forgejo sign in.
import { deepEqual } from 'node:assert/strict';
import test, { after } from 'node:test';
import { runClient } from '../support/client.ts';
import { PERSON, startIssuer } from '../support/issuer.ts';
import { built } from './build.ts';

const CALLBACK = 'https://git.example/user/oauth2/latchkey/callback';
const BYE = 'https://git.example/';

const client = await built('goth');
const issuer = await startIssuer();
after(() => issuer.close());

for (const scopes of ['', 'email profile'])
  test(`goth: sign-in, both refreshes and logout, scopes "${scopes}"`, client, async () => {
    const { client_id, client_secret } = await issuer.registerClient({
      redirect_uris: [CALLBACK],
      post_logout_redirect_uris: [BYE],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const env = {
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
      REDIRECT_URI: CALLBACK,
      POST_LOGOUT_REDIRECT_URI: BYE,
      SCOPES: scopes,
    };
    const steps = await runClient({ command: client.program, args: [], env }, issuer);
    const shown = scopes === '' ? { email: '', nick: '' } : { email: PERSON.email, nick: PERSON.username };
    deepEqual(steps, [
      { step: 'sign-in', ok: true, ...shown },
      { step: 'refresh', ok: true },
      { step: 'refresh-with-id-token', ok: true },
      { step: 'logout', ok: true },
    ]);
  });
