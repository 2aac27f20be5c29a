// The editor's sign-in by a strategy of Passport, as "Securing Node-RED" has it; the strategy is passport-openidconnect.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import RED from 'node-red';
import { Strategy } from 'passport-openidconnect';
import { origin, port, visit } from './web.mjs';
import { clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const userDir = mkdtempSync(join(tmpdir(), 'latchkey-node-red-'));
const app = express();
const server = createServer(app);
RED.init(server, {
  httpAdminRoot: '/',
  httpNodeRoot: '/api',
  userDir,
  adminAuth: {
    type: 'strategy',
    strategy: {
      name: 'openidconnect',
      label: 'Sign in with Latchkey',
      icon: 'fa-key',
      strategy: Strategy,
      options: {
        issuer,
        authorizationURL: `${issuer}/authorize`,
        tokenURL: `${issuer}/token`,
        userInfoURL: `${issuer}/userinfo`,
        clientID: clientId,
        clientSecret,
        callbackURL: redirectUri,
        scope: ['profile', 'email'],
      },
    },
    users: [{ username: 'grace', permissions: ['*'] }],
  },
});
app.use('/', RED.httpAdmin);
await new Promise((resolve) => server.listen(Number(port), 'localhost', resolve));
await RED.start();

const page = await visit('/auth/strategy');
// As its editor reads it: the code is base64 that nobody escaped.
const [, code] = /[?&]code=(.*?)(?:$|&)/.exec(page.url) ?? [];
expect(page.status === 200 && code, 'the editor', page.url);
const answer = await fetch(`${origin}/auth/token`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ code }),
});
const { accessToken } = await answer.json();
expect(accessToken, 'a token of the editor', answer.status);
step('sign-in');
const settings = await fetch(`${origin}/settings`, { headers: { authorization: `Bearer ${accessToken}` } });
const { user } = await settings.json();
expect(user?.username === 'grace', 'who is signed in', user);
step('userinfo');
await RED.stop();
rmSync(userDir, { recursive: true });
done();
