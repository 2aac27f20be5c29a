import { ProtocolMode, PublicClientApplication } from '@azure/msal-browser';

const { issuer, clientId } = globalThis.registered;
const scopes = ['openid', 'profile', 'email', 'offline_access'];
let state = 'loading';
let result;

const application = new PublicClientApplication({
  auth: {
    clientId,
    authority: issuer,
    knownAuthorities: [new URL(issuer).host],
    redirectUri: `${location.origin}/callback`,
    postLogoutRedirectUri: `${location.origin}/`,
  },
  system: { protocolMode: ProtocolMode.OIDC },
});
const account = () => application.getAllAccounts()[0];

globalThis.client = {
  state: () => state,
  token: () => result.accessToken,
  email: () => result.idTokenClaims.email,
  signIn: () => application.loginRedirect({ scopes }),
  refresh: async () => {
    result = await application.acquireTokenSilent({ scopes, account: account(), forceRefresh: true });
  },
  signOut: () => application.logoutRedirect({ account: account() }),
};

try {
  await application.initialize();
  result = await application.handleRedirectPromise();
  state = account() ? 'user' : 'nobody';
} catch (error) {
  state = String(error);
}
