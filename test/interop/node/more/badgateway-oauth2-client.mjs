import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';
import { ask, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const client = new OAuth2Client({
  server: issuer,
  // By itself it looks below the root, /.well-known/oauth-authorization-server.
  clientId,
  clientSecret,
});
const codeVerifier = await generateCodeVerifier();
const asked = { redirectUri, state: 'st', codeVerifier };
const url = await client.authorizationCode.getAuthorizeUri({
  ...asked,
  scope: ['openid', 'email', 'offline_access'],
});
const { callback } = await ask({ authorize: url });
let token = await client.authorizationCode.getTokenFromCodeRedirect(callback, asked);
expect(token.idToken, 'an ID token', Object.keys(token));
step('sign-in');

const first = token.accessToken;
const api = new OAuth2Fetch({
  client,
  getNewToken: () => token,
  storeToken: (stored) => {
    token = stored;
  },
  scheduleRefresh: false,
});
const person = await (await api.fetch(`${issuer}/userinfo`)).json();
expect(person.email === 'grace@example.com', 'userinfo', person);
step('userinfo');
token = await client.refreshToken(token);
expect(token.refreshToken && token.accessToken !== first, 'a new access token', Object.keys(token));
step('refresh');
const { active } = await client.introspect(token);
expect(active, 'introspection', active);
step('introspect');
await client.revoke(token, 'refresh_token');
expect(!(await client.introspect(token)).active, 'introspection after revocation', null);
step('revoke');
done();
