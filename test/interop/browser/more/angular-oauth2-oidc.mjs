// Angular without a component: what an application's injector gives.
import '@angular/compiler';
import { provideHttpClient } from '@angular/common/http';
import { provideZonelessChangeDetection } from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { OAuthService, provideOAuthClient } from 'angular-oauth2-oidc';

const { issuer, clientId } = globalThis.registered;
let state = 'loading';

const application = await createApplication({
  providers: [provideZonelessChangeDetection(), provideHttpClient(), provideOAuthClient()],
});
const oauth = application.injector.get(OAuthService);

globalThis.client = {
  state: () => state,
  token: () => oauth.getAccessToken(),
  email: async () => (await oauth.loadUserProfile()).info.email,
  signIn: () => oauth.initCodeFlow(),
  refresh: () => oauth.refreshToken(),
  signOut: () => oauth.revokeTokenAndLogout(),
};

oauth.configure({
  issuer,
  clientId,
  redirectUri: `${location.origin}/callback`,
  postLogoutRedirectUri: `${location.origin}/`,
  responseType: 'code',
  scope: 'openid profile email offline_access',
});
await oauth.loadDiscoveryDocumentAndTryLogin().then(
  () => {
    state = oauth.hasValidAccessToken() ? 'user' : 'nobody';
  },
  (error) => {
    state = String(error.message ?? JSON.stringify(error));
  },
);
