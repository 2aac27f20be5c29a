import { getAuth, oidcAuthMiddleware, processOAuthCallback, revokeSession } from '@hono/oidc-auth';
import { Hono } from 'hono';
import { see, serve, visit } from './web.mjs';
import { clientId, clientSecret, done, issuer, redirectUri, step } from './wire.mjs';

Object.assign(process.env, {
  OIDC_AUTH_SECRET: 'of a test that is long enough for everyone',
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
  OIDC_REDIRECT_URI: redirectUri,
});
const app = new Hono();
app.get('/callback', (context) => processOAuthCallback(context));
app.get('/out', async (context) => {
  await revokeSession(context);
  return context.text('signed out');
});
app.use('*', oidcAuthMiddleware());
app.get('/', async (context) => context.text(`hello ${(await getAuth(context))?.email}`));
await serve((request) => app.fetch(request));

see(await visit('/'), 'hello grace@example.com');
step('sign-in');
see(await visit('/out'), 'signed out');
step('revoke');
done();
