// A page that is a client of an MCP server, which is on the page's own site and names the provider (RFC 9728).
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';

const { issuer, clientId } = globalThis.registered;
const serverUrl = `${location.origin}/mcp`;
const read = (name) => JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined;
const write = (name, value) => localStorage.setItem(name, JSON.stringify(value));
let state = 'loading';

const provider = {
  redirectUrl: `${location.origin}/callback`,
  clientMetadata: {
    client_name: 'MCP',
    redirect_uris: [`${location.origin}/callback`],
    scope: 'openid email offline_access',
  },
  clientInformation: () => ({ client_id: clientId }),
  tokens: () => read('tokens'),
  saveTokens: (tokens) => write('tokens', tokens),
  redirectToAuthorization: (url) => location.assign(url),
  saveCodeVerifier: (verifier) => write('verifier', verifier),
  codeVerifier: () => read('verifier'),
  // No API is registered under the server's address, so it isn't named (RFC 8707).
  validateResourceURL: async () => undefined,
};

globalThis.client = {
  state: () => state,
  token: () => read('tokens').access_token,
  email: async () => {
    const { userinfo_endpoint } = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const headers = { authorization: `Bearer ${read('tokens').access_token}` };
    return (await (await fetch(userinfo_endpoint, { headers })).json()).email;
  },
  signIn: () => auth(provider, { serverUrl }),
  refresh: () => auth(provider, { serverUrl }),
  // MCP has none.
  signOut: () => {
    localStorage.clear();
    location.assign(`${issuer}/logout`);
  },
};

const authorizationCode = new URLSearchParams(location.search).get('code');
try {
  if (authorizationCode) await auth(provider, { serverUrl, authorizationCode });
  state = read('tokens') ? 'user' : 'nobody';
} catch (error) {
  state = String(error);
}
