import express from 'express';
import openidConnect from 'express-openid-connect';
import { origin, port, see, visit } from './web.mjs';
import { ask, clientId, clientSecret, done, expect, issuer, step } from './wire.mjs';

const app = express();
app.use(
  openidConnect.auth({
    issuerBaseURL: issuer,
    baseURL: origin,
    clientID: clientId,
    clientSecret,
    secret: 'of a test that is long enough for everyone',
    // Its default is `id_token`, the implicit flow, which is not served.
    authorizationParams: { response_type: 'code', scope: 'openid profile email offline_access' },
    idpLogout: true,
  }),
);
app.get('/', (request, response) => response.send(`hello ${request.oidc.user?.email}`));
app.get('/person', async (request, response) => response.json(await request.oidc.fetchUserInfo()));
app.get('/refresh', async (request, response) => {
  const before = request.oidc.accessToken.access_token;
  const after = await request.oidc.accessToken.refresh();
  response.send(`renewed ${after.access_token !== before}`);
});
await new Promise((resolve) => app.listen(Number(port), 'localhost', resolve));

see(await visit('/'), 'hello grace@example.com');
step('sign-in');
see(await visit('/person'), 'grace@example.com');
step('userinfo');
see(await visit('/refresh'), 'renewed true');
step('refresh');
const { callback } = await ask({ logout: `${origin}/logout` });
expect(callback.startsWith(origin), 'back at the client', callback);
step('logout');
done();
