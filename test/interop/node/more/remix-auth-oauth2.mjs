import { OAuth2Strategy } from 'remix-auth-oauth2';
import { ask, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const strategy = await OAuth2Strategy.discover(
  issuer,
  { clientId, clientSecret, redirectURI: redirectUri, scopes: ['openid', 'email', 'offline_access'] },
  ({ tokens }) => Promise.resolve(tokens),
);
const redirect = await strategy.authenticate(new Request('http://localhost/login')).then(
  () => undefined,
  (thrown) => thrown,
);
expect(redirect instanceof Response, 'a redirect', String(redirect));
const { callback } = await ask({ authorize: redirect.headers.get('location') });
const cookie = redirect.headers
  .getSetCookie()
  .map((line) => line.split(';')[0])
  .join('; ');
const tokens = await strategy.authenticate(new Request(callback, { headers: { cookie } }));
step('sign-in');
const renewed = await strategy.refreshToken(tokens.refreshToken());
expect(renewed.accessToken() !== tokens.accessToken(), 'a new access token', null);
step('refresh');
await strategy.revokeToken(renewed.accessToken());
step('revoke');
done();
