import express from 'express';
import session from 'express-session';
import grant from 'grant';
import { origin, port, see, visit } from './web.mjs';
import { clientId, clientSecret, done, issuer, step } from './wire.mjs';

const app = express();
app.use(session({ secret: 'of a test', saveUninitialized: true, resave: false }));
app.use(
  grant.express({
    defaults: { origin, transport: 'session', state: true },
    latchkey: {
      oauth: 2,
      authorize_url: `${issuer}/authorize`,
      access_url: `${issuer}/token`,
      profile_url: `${issuer}/userinfo`,
      key: clientId,
      secret: clientSecret,
      scope: ['openid', 'profile', 'email'],
      scope_delimiter: ' ',
      nonce: true,
      response: ['tokens', 'profile'],
      callback: '/done',
    },
  }),
);
app.get('/done', (request, response) => response.json(request.session.grant.response));
await new Promise((resolve) => app.listen(Number(port), 'localhost', resolve));

const page = await visit('/connect/latchkey');
see(page, 'access_token');
step('sign-in');
see(page, 'grace@example.com');
step('userinfo');
done();
