// An MCP client whose server has the provider as its authorization server, found at the root as clients of the first
// specification do; registered by an administrator.
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { ask, baseUrl, clientId, clientSecret, done, expect, redirectUri, step } from './wire.mjs';

let asked;
let saved;
let verifier;
const provider = {
  redirectUrl: redirectUri,
  clientMetadata: { client_name: 'MCP', redirect_uris: [redirectUri] },
  clientInformation: () => ({ client_id: clientId, client_secret: clientSecret }),
  tokens: () => saved,
  saveTokens: (tokens) => {
    saved = tokens;
  },
  redirectToAuthorization: (url) => {
    asked = url.href;
  },
  saveCodeVerifier: (value) => {
    verifier = value;
  },
  codeVerifier: () => verifier,
};
expect((await auth(provider, { serverUrl: baseUrl })) === 'REDIRECT', 'asks for a sign-in', null);
const { callback } = await ask({ authorize: asked });
const authorizationCode = new URL(callback).searchParams.get('code');
expect((await auth(provider, { serverUrl: baseUrl, authorizationCode })) === 'AUTHORIZED', 'tokens', saved);
step('sign-in');
const first = saved.access_token;
expect((await auth(provider, { serverUrl: baseUrl })) === 'AUTHORIZED', 'refresh', saved);
expect(saved.access_token !== first, 'a new access token', null);
step('refresh');
done();
