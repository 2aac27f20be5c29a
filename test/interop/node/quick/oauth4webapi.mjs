import * as oauth from 'oauth4webapi';
import { ask, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const loose = { [oauth.allowInsecureRequests]: true };
const at = new URL(issuer);
const server = await oauth.processDiscoveryResponse(at, await oauth.discoveryRequest(at, loose));
const client = { client_id: clientId };
const secret = oauth.ClientSecretPost(clientSecret);

const verifier = oauth.generateRandomCodeVerifier();
const url = new URL(server.authorization_endpoint);
url.search = new URLSearchParams({
  client_id: clientId,
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid email',
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
}).toString();
const { callback } = await ask({ authorize: url.href });
const parameters = oauth.validateAuthResponse(server, client, new URL(callback), oauth.expectNoState);
const response = await oauth.authorizationCodeGrantRequest(
  server,
  client,
  secret,
  parameters,
  redirectUri,
  verifier,
  loose,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
const { sub } = oauth.getValidatedIdTokenClaims(tokens);
await oauth.validateApplicationLevelSignature(server, response, loose);
step('sign-in');
const info = await oauth.userInfoRequest(server, client, tokens.access_token, loose);
const person = await oauth.processUserInfoResponse(server, client, sub, info);
expect(person.email === 'grace@example.com', 'userinfo', person);
step('userinfo');
const refreshed = await oauth.refreshTokenGrantRequest(server, client, secret, tokens.refresh_token, loose);
const renewed = await oauth.processRefreshTokenResponse(server, client, refreshed);
step('refresh');
const introspected = await oauth.introspectionRequest(server, client, secret, renewed.access_token, loose);
const { active } = await oauth.processIntrospectionResponse(server, client, introspected);
expect(active, 'introspection', active);
step('introspect');
await oauth.processRevocationResponse(
  await oauth.revocationRequest(server, client, secret, renewed.refresh_token, loose),
);
step('revoke');
done();
