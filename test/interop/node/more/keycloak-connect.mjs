import express from 'express';
import session from 'express-session';
import Keycloak from 'keycloak-connect';
import { origin, port, see, visit } from './web.mjs';
import { ask, baseUrl, clientId, clientSecret, done, expect, step } from './wire.mjs';

const store = new session.MemoryStore();
const keycloak = new Keycloak(
  // Without `roles` no token names any: Keycloak sends them unasked.
  { store, scope: 'profile email roles' },
  {
    realm: 'main',
    'auth-server-url': baseUrl,
    'ssl-required': 'external',
    resource: clientId,
    credentials: { secret: clientSecret },
    'confidential-port': 0,
  },
);
const app = express();
app.use(session({ secret: 'of a test', saveUninitialized: true, resave: false, store }));
app.use(keycloak.middleware());
app.get('/', keycloak.checkSso(), (request, response) =>
  response.send(request.kauth.grant ? 'somebody' : 'nobody'),
);
app.get('/me', keycloak.protect('realm:user'), (request, response) =>
  response.send(`hello ${request.kauth.grant.id_token.content.email}`),
);
app.get('/admin', keycloak.protect('realm:admin'), (_request, response) => response.send('administration'));
app.get('/person', keycloak.protect(), async (request, response) =>
  response.json(await keycloak.grantManager.userInfo(request.kauth.grant.access_token)),
);
app.get('/refresh', keycloak.protect(), async (request, response) => {
  const { grant } = request.kauth;
  grant.access_token.content.exp = 0;
  const renewed = await keycloak.grantManager.ensureFreshness(grant);
  response.send(`renewed ${renewed.access_token.token !== grant.access_token.token}`);
});
await new Promise((resolve) => app.listen(Number(port), 'localhost', resolve));

see(await visit('/'), 'nobody');
see(await visit('/me'), 'hello grace@example.com');
see(await visit('/'), 'somebody');
step('sign-in');
const refused = await visit('/admin');
expect(refused.status === 403, 'no role of an administrator', refused);
step('roles');
see(await visit('/person'), 'grace@example.com');
step('userinfo');
see(await visit('/refresh'), 'renewed true');
step('refresh');
const { callback } = await ask({ logout: `${origin}/logout` });
expect(callback.startsWith(origin), 'back at the client', callback);
see(await visit('/'), 'nobody');
step('logout');
done();
