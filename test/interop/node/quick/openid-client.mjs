import * as oidc from 'openid-client';
import { ask, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

// Plain http, which it only does when told to.
const config = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
  execute: [oidc.allowInsecureRequests],
});
// With DPOP its tokens are bound to a key; nonces it handles by itself.
const options = process.env.DPOP
  ? { DPoP: oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair()) }
  : undefined;
const state = oidc.randomState();
const url = oidc.buildAuthorizationUrl(config, {
  redirect_uri: redirectUri,
  scope: 'openid profile email offline_access',
  state,
});
const { callback } = await ask({ authorize: url.href });
const tokens = await oidc.authorizationCodeGrant(
  config,
  new URL(callback),
  { expectedState: state },
  undefined,
  options,
);
expect(tokens.token_type === (options ? 'dpop' : 'bearer'), 'token_type', tokens.token_type);
step('sign-in');
const { sub } = tokens.claims();
const person = await oidc.fetchUserInfo(config, tokens.access_token, sub, options);
expect(person.email === 'grace@example.com', 'userinfo', person);
step('userinfo');
const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token, undefined, options);
expect(renewed.refresh_token, 'a new refresh token', Object.keys(renewed));
step('refresh', { scope: renewed.scope });
await oidc.tokenRevocation(config, renewed.refresh_token);
await oidc.refreshTokenGrant(config, renewed.refresh_token, undefined, options).then(
  () => expect(false, 'refresh after revocation'),
  ({ error }) => expect(error === 'invalid_grant', 'refresh after revocation', error),
);
step('revoke');
const end = oidc.buildEndSessionUrl(config, {
  id_token_hint: renewed.id_token,
  post_logout_redirect_uri: redirectUri,
});
const { callback: back } = await ask({ logout: end.href });
expect(back.startsWith(redirectUri), 'back at the client', back);
step('logout');
done();
