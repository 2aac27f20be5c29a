import { AuthorizationCode } from 'simple-oauth2';
import { ask, baseUrl, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const client = new AuthorizationCode({
  client: { id: clientId, secret: clientSecret },
  auth: {
    tokenHost: baseUrl,
    tokenPath: '/oauth2/token',
    revokePath: '/oauth2/revoke',
    authorizePath: '/oauth2/authorize',
  },
});
const url = client.authorizeURL({ redirect_uri: redirectUri, scope: 'openid offline_access', state: 'st' });
const { callback } = await ask({ authorize: url });
const code = new URL(callback).searchParams.get('code');
const token = await client.getToken({ code, redirect_uri: redirectUri });
expect(token.token.access_token && !token.expired(), 'a token', Object.keys(token.token));
step('sign-in');
const info = await fetch(`${issuer}/userinfo`, {
  headers: { authorization: `Bearer ${token.token.access_token}` },
});
expect(info.status === 200, 'userinfo', info.status);
step('userinfo');
const renewed = await token.refresh({ scope: 'openid offline_access' });
expect(renewed.token.access_token !== token.token.access_token, 'a new access token', null);
step('refresh');
// It parses the empty answer of the revocation endpoint (RFC 7009 §2.2) as JSON: docs/clients.md. The token is revoked all the same.
const complaint = await renewed.revoke('refresh_token').then(
  () => 'none',
  (error) => String(error),
);
await renewed.refresh().then(
  () => expect(false, 'refresh after revocation', complaint),
  (error) =>
    expect(error.data?.payload?.error === 'invalid_grant', 'refresh after revocation', String(error)),
);
step('revoke', { complaint });
done();
